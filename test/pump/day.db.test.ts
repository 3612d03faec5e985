/** The example day (dialect.md) through the dialect and the pump: every message ends as expected.json says. */
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadDialect } from '../../src/dialect/registry.ts';
import { intake } from '../kit/intake.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';
import { createPump } from '../kit/pump.ts';
import { readOutcome, type Outcome } from '../kit/rows.ts';

interface Expected {
  readonly messages: readonly {
    readonly id: number;
    readonly file: string;
    readonly state: string;
    readonly errorClass?: string;
    readonly reason?: string;
    readonly attempts?: number;
    readonly events?: readonly { readonly flid: string; readonly version: number; readonly type: string }[];
  }[];
  readonly flights: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly absentFlights: readonly string[];
  readonly reference: Readonly<
    Record<string, { readonly active: readonly string[]; readonly inactive: readonly string[] }>
  >;
}

const DAY = new URL('../fixtures/day/', import.meta.url);

describe.skipIf(postgresMissing !== null).each([1, 500])(
  'the example day in batches of %i',
  (commitBatch) => {
    let db: TestDatabase;
    let expected: Expected;
    let outcome: Outcome;
    beforeAll(async () => {
      db = await createTestDatabase();
      expected = JSON.parse(await readFile(new URL('expected.json', DAY), 'utf8')) as Expected;
      const texts = await Promise.all(
        expected.messages.map(async ({ file }) => readFile(new URL(file, DAY), 'utf8')),
      );
      for (const [index, { id }] of expected.messages.entries()) {
        await intake(db, [texts[index] ?? null], { from: BigInt(id) });
      }
      const dialect = await loadDialect('sis', {
        timeZone: 'Asia/Shanghai',
        operationDayCutoff: '00:00',
        maxMessageBytes: 8 << 20,
        maxDepth: 64,
        ignore: null,
        reference: null,
      });
      await createPump(db, { dialect, commitBatch }).drain();
      outcome = await readOutcome(db);
    });

    it('ends every message as expected', () => {
      for (const { id, state, errorClass, reason, attempts } of expected.messages) {
        const row = outcome.messages.find((message) => message['msg_id'] === String(id));
        expect(row, `message ${String(id)}`).toMatchObject({
          state,
          error_class: errorClass ?? null,
          ...(attempts === undefined ? {} : { attempts }),
        });
        const found = row?.[state === 'DEAD' ? 'last_error' : 'reason'];
        if (reason !== undefined) expect(found, `message ${String(id)}`).toMatch(new RegExp(`^${reason}`));
      }
    });

    it('makes exactly the expected events, in order', () => {
      const wanted = expected.messages.flatMap(({ id, events }) =>
        (events ?? []).map(({ flid, version, type }) => ({
          partition_key: flid,
          event_type: type,
          state_version: version,
          msg_id: String(id),
        })),
      );
      expect(outcome.events).toHaveLength(wanted.length);
      expect(outcome.events).toMatchObject(wanted);
    });

    it('leaves the expected flights and reference rows', () => {
      for (const [flid, { version, operationDay, deleted, ...state }] of Object.entries(expected.flights)) {
        const row = outcome.flights.find((flight) => flight['flid'] === flid);
        expect(row, flid).toMatchObject({ version, deleted: deleted ?? false, state });
        const event = outcome.events.findLast((found) => found['partition_key'] === flid);
        expect(event, flid).toMatchObject({ body: { operationDay } });
      }
      const flids = outcome.flights.map((flight) => flight['flid']);
      for (const flid of expected.absentFlights) expect(flids).not.toContain(flid);
      for (const [rtype, { active, inactive }] of Object.entries(expected.reference)) {
        const keys = (wanted: boolean) =>
          outcome.reference
            .filter((row) => row['rtype'] === rtype && row['active'] === wanted)
            .map((row) => row['rkey']);
        expect([keys(true), keys(false)]).toEqual([active, inactive]);
      }
    });
  },
);
