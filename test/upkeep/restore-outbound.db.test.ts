import { beforeAll, describe, expect, it } from 'vitest';
import type { Dialect } from '../../src/dialect/port.ts';
import { airportTime } from '../../src/runtime/airport-time.ts';
import { registerRequest } from '../../src/store/req-track.ts';
import { forgottenOutbound } from '../../src/upkeep/restore/outbound.ts';
import { createTestMailbox, type PostgresFixture } from '../kit/mailbox.ts';
import { testDialect, TIME_ZONE } from '../kit/pipeline.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';

const SEED = Date.parse('2026-03-14T06:00:00.400Z');
const SKEW_MS = 30_000;
const HOUR_MS = 3_600_000;

/** A row of COUTMSGS: its SEQN, and when it was written, ms after the seed. */
interface Sent {
  readonly sequence: number;
  readonly after?: number;
  readonly sender?: string;
}

describe.skipIf(postgresMissing !== null)('COUTMSGS after a restore', () => {
  let db: TestDatabase;
  let box: PostgresFixture;
  let dialect: Dialect;

  beforeAll(async () => {
    db = await createTestDatabase();
    box = await createTestMailbox((await createTestDatabase({ blank: true })).url);
    dialect = await testDialect();
  });

  /** What is forgotten of these rows, our counter standing at a SEQN. */
  const forgotten = async (last: number, rows: readonly Sent[], seededAt: number | null = SEED) => {
    await box.client.query('delete from coutmsgs');
    await db.client.query('delete from req_track');
    await db.client.query('update outbound_counter set last = $1', [last]);
    await db.client.query('update inbox_cursor set seeded_at = $1', [
      seededAt === null ? null : new Date(seededAt),
    ]);
    for (const row of rows) await write(row);
    return ask();
  };
  const write = ({ sequence, after = HOUR_MS, sender = 'MSGX' }: Sent) => {
    const header = { sender, sequence: String(sequence), dttm: airportTime(SEED + after, TIME_ZONE) };
    const text = dialect.encode(header, { kind: 'reference-request', rtype: 'ABDG' });
    return box.mailbox.withOutbound((outbound) => outbound.insert(text, null));
  };
  const ask = () =>
    forgottenOutbound(db.database, box.mailbox, { dialect, sender: 'MSGX', clockSkewMs: SKEW_MS });

  const NOTHING = { newest: null, messages: 0 };
  const cases: readonly {
    readonly name: string;
    readonly last: number;
    readonly rows: readonly Sent[];
    readonly expected: { readonly newest: number | null; readonly messages: number };
  }[] = [
    { name: 'nothing there', last: 7, rows: [], expected: NOTHING },
    {
      name: 'rows after the seed, ahead of the counter: forgotten',
      last: 7,
      rows: [{ sequence: 7 }, { sequence: 8 }, { sequence: 9 }],
      expected: { newest: 9, messages: 2 },
    },
    {
      name: 'the furthest counts, whatever the order of the rows',
      last: 0,
      rows: [{ sequence: 2 }, { sequence: 1 }],
      expected: { newest: 2, messages: 2 },
    },
    {
      name: 'rows from before the seed: a former system',
      last: 0,
      rows: [
        { sequence: 1, after: -HOUR_MS },
        { sequence: 500, after: -SKEW_MS - 2_000 },
      ],
      expected: NOTHING,
    },
    {
      name: 'a row from before the seed by no more than clocks may differ: forgotten',
      last: 0,
      rows: [{ sequence: 1, after: -SKEW_MS }],
      expected: { newest: 1, messages: 1 },
    },
    {
      name: 'another sender',
      last: 0,
      rows: [{ sequence: 1, sender: 'OTHER' }],
      expected: NOTHING,
    },
    {
      name: 'the counter has just wrapped: rows of its former round lie behind it',
      last: 2,
      rows: [{ sequence: 999_998 }, { sequence: 999_999 }, { sequence: 1 }, { sequence: 2 }],
      expected: NOTHING,
    },
    {
      name: 'the counter is about to wrap onto rows from before the seed',
      last: 999_999,
      rows: [
        { sequence: 1, after: -HOUR_MS },
        { sequence: 2, after: -HOUR_MS },
      ],
      expected: NOTHING,
    },
    {
      name: 'forgotten rows across the wrap',
      last: 999_997,
      rows: [{ sequence: 999_998 }, { sequence: 999_999 }, { sequence: 1 }, { sequence: 2 }],
      expected: { newest: 2, messages: 4 },
    },
    {
      name: 'forgotten rows up to the wrap',
      last: 999_997,
      rows: [{ sequence: 999_998 }, { sequence: 999_999 }],
      expected: { newest: 999_999, messages: 2 },
    },
    {
      name: 'half a round ahead is ahead, one more is behind',
      last: 10,
      rows: [{ sequence: 10 + 499_999 }, { sequence: 10 + 500_000 }],
      expected: { newest: 500_009, messages: 1 },
    },
  ];

  it.each(cases)('$name', async ({ last, rows, expected }) => {
    expect(await forgotten(last, rows)).toEqual({ known: last, ...expected });
  });

  it('before the seed nothing can have been forgotten', async () => {
    expect(await forgotten(0, [{ sequence: 1 }], null)).toEqual({ known: 0, ...NOTHING });
  });

  it('rows up to the highest one known are known, whatever their SEQN', async () => {
    await forgotten(0, []);
    const known = await write({ sequence: 5 });
    const key = { rtype: 'ABDG', operationDay: null, sender: 'MSGX' };
    await db.database.transaction((tx) => registerRequest(tx, key, { by: 'test', now: SEED }));
    await db.client.query(`update req_track set seqn = 5, remembered_id = 0, sent_at = now(), out_id = $1`, [
      known,
    ]);
    expect(await ask()).toEqual({ known: 0, ...NOTHING });
    await write({ sequence: 3 });
    expect(await ask()).toEqual({ known: 0, newest: 3, messages: 1 });
  });

  it('what is no message is nobody’s', async () => {
    await forgotten(0, []);
    for (const text of [null, '<MSG><META><SNDR>MSGX</SNDR>', 'text'])
      await box.client.query('insert into coutmsgs (coutmsgs_clob_msg) values ($1)', [text]);
    await write({ sequence: 1 });
    expect(await ask()).toEqual({ known: 0, newest: 1, messages: 1 });
  });
});
