/** Looking things up among 100,000 messages and 5,000 flights: by indexes, and answered while somebody waits. */
import { beforeAll, describe, expect, it } from 'vitest';
import { MAX_ID } from '../../src/domain/ids.ts';
import { selectFlight, selectFlightHistory, selectFlightsOfDay } from '../../src/store/browse.ts';
import { searchFlights, selectFlidsOf, selectVersions } from '../../src/store/browse-flights.ts';
import {
  selectDuplicates,
  selectEventsOfMessage,
  selectFullMessage,
  selectTouchedFlights,
} from '../../src/store/browse-message.ts';
import { selectMessagePage, type MessageFilter } from '../../src/store/browse-messages.ts';
import type { Queryable, Row } from '../../src/store/statement.ts';
import { seedHistory } from '../kit/history.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';

const ALL: MessageFilter = {
  ...{ state: null, errorClass: null, type: null, styp: null },
  ...{ from: null, to: null, flids: null, attention: false },
};
/** Of the 70,000th message: one comes each second. */
const AT = Date.parse('2026-03-01T00:00:00Z') + 70_000_000;

describe.skipIf(postgresMissing !== null)('looking things up in a long history', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
    await seedHistory(db.client, { messages: 100_000, flights: 5_000, days: 30 });
  });

  /** Tables that the statements behind a look-up read from their beginning to their end, and what it found. */
  async function look<Found>(
    read: (on: Queryable) => Promise<Found>,
  ): Promise<{ found: Found; whole: string[] }> {
    const whole: string[] = [];
    const on: Queryable = {
      async query<T = Row>(statement: { name: string; text: string }, values: readonly unknown[] = []) {
        const explained = {
          name: `explain ${statement.name}`,
          text: `explain (format json) ${statement.text}`,
        };
        const [row] = await db.database.query<Record<string, unknown>>(explained, values);
        const scans = JSON.stringify(row).matchAll(/"Seq Scan".{0,80}?"Relation Name":"(\w+)"/g);
        for (const [, table] of scans) whole.push(String(table));
        return db.database.query<T>(statement, values);
      },
    };
    const found = await read(on);
    const times: number[] = [];
    for (let time = 0; time < 3; time += 1) {
      const since = performance.now();
      await read(db.database);
      times.push(performance.now() - since);
    }
    // The best of three: others use the machine too.
    expect(Math.min(...times)).toBeLessThan(300);
    return { found, whole };
  }

  it.each<[string, Partial<MessageFilter>, readonly number[]]>([
    ['everything', {}, [100_000, 99_999, 99_998]],
    ['the dead', { state: 'DEAD' }, [99_007, 98_007, 97_007]],
    ['the waiting', { state: 'PENDING' }, [100_000, 99_999, 99_998]],
    ['a class', { errorClass: 'MALFORMED' }, [99_007, 98_007, 97_007]],
    ['a class that there is not', { errorClass: 'INFRA' }, []],
    ['a rare type', { type: 'SCHD' }, [100_000, 99_500, 99_000]],
    ['a type that there is not', { type: 'LDM' }, []],
    ['a flight', { flids: ['700123'] }, [95_123, 90_123, 85_123]],
    ['a flight and a state', { flids: ['700007'], state: 'DEAD' }, [95_007, 90_007, 85_007]],
    ['a time', { from: AT, to: AT + 2_000 }, [70_001, 70_000]],
    ['a time and a type', { from: AT, type: 'SCHD' }, [100_000, 99_500, 99_000]],
    ['what needs somebody', { attention: true }, [99_007, 98_007, 97_007]],
  ])('finds %s among the messages', async (_, filter, expected) => {
    const { found, whole } = await look((on) => selectMessagePage(on, { ...ALL, ...filter }, MAX_ID, 50));
    expect(found.messages.slice(0, 3).map(({ msgId }) => Number(msgId))).toEqual(expected);
    expect(whole).toEqual([]);
  });

  it('finds one message with what belongs to it', async () => {
    const { found, whole } = await look(async (on) => ({
      row: await selectFullMessage(on, 50_002n),
      flights: await selectTouchedFlights(on, 50_002n, 200),
      events: await selectEventsOfMessage(on, 50_002n, ['700002'], 200),
      duplicates: await selectDuplicates(on, 50_002n, 200),
    }));
    expect(found).toMatchObject({
      row: { msgId: 50_002n },
      flights: [{ flid: '700002', flightNumber: 'XX0002' }],
      events: [{ version: 11 }],
      duplicates: [{ msgId: 50_003n }],
    });
    expect(whole).toEqual([]);
  });

  it('finds flights by number, FLID and day, and what became of one', async () => {
    const search = (text: string, day: string | null) => (on: Queryable) =>
      searchFlights(on, { text, day }, null, 50);
    const numbers = await look(search('xx 12', null));
    expect(numbers.found).toHaveLength(50);
    const one = await look(search('701234', '2026-03-05'));
    expect(one.found.map(({ flid }) => flid)).toEqual(['701234']);
    const history = await look(async (on) => [
      ...(await selectFlidsOf(on, 'XX0123', 60)),
      (await selectFlight(on, '700123'))?.flid,
      (await selectFlightHistory(on, '700123', 200)).length,
      (await selectVersions(on, '700123', MAX_ID, 21)).length,
      (await selectFlightsOfDay(on, '2026-03-05', { time: '', flid: '' }, 500)).length,
    ]);
    expect(history.found).toEqual(['700123', '700123', 20, 20, 167]);
    expect([...numbers.whole, ...one.whole, ...history.whole]).toEqual([]);
  });
});
