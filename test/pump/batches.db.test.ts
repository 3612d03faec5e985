/**
 * Batches are one path (decisions.md): whatever comes in, batches of 1, of 7 and of 500 leave equal rows and
 * equal events.
 */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Write } from '../../src/domain/message.ts';
import {
  breaking,
  deletion,
  ignored,
  MALFORMED,
  operation,
  record,
  reference,
  scalar,
  schedule,
  say,
  SODT,
  unreadable,
  unsupported,
} from '../kit/json-dialect.ts';
import { emptyTables, intake, type IntakeText } from '../kit/intake.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';
import { createPump, metricValue } from '../kit/pump.ts';
import { readOutcome, type Outcome } from '../kit/rows.ts';

const FLIDS = ['700001', '700002', '700003'] as const;
const flid = fc.constantFrom(...FLIDS);
// Few sequence numbers, so that identities repeat with equal and with other content.
const sequence = fc.integer({ min: 1, max: 60 });

const write: fc.Arbitrary<Write> = fc.oneof(
  fc.record({
    kind: fc.constant('scalar' as const),
    field: fc.constantFrom('terminal' as const, 'remark' as const, 'registration' as const),
    value: fc.constantFrom('T1', 'T2', null),
  }),
  fc.record({
    kind: fc.constant('list' as const),
    field: fc.constant('stands' as const),
    entries: fc.array(
      fc.record({ seq: fc.integer({ min: 1, max: 3 }), code: fc.constantFrom('401', '402') }),
      { maxLength: 2 },
    ),
  }),
  fc.record({
    kind: fc.constant('push' as const),
    stand: fc.constantFrom('401', '402'),
    value: fc.constantFrom({ time: SODT, indicator: 'OUT' }, null),
  }),
  fc.record({
    kind: fc.constant('delay' as const),
    code: fc.constantFrom('81', '93'),
    value: fc.record({
      start: fc.constant(null),
      minutes: fc.integer({ min: 0, max: 2 }),
      remark: fc.constant(null),
    }),
  }),
  fc.constant({ kind: 'delays-cleared' as const }),
);
const writes = fc.array(write, { maxLength: 3 });
const keys = fc.uniqueArray(fc.constantFrom('A', 'B', 'C'), { maxLength: 3 });

const text: fc.Arbitrary<IntakeText> = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(sequence, flid, writes).map(([n, id, w]) => operation(n, id, w)) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(sequence, fc.subarray([...FLIDS]), writes, fc.constantFrom('DNLD' as const, 'ADFT' as const))
      .map(([n, ids, w, subtype]) =>
        schedule(
          n,
          ids.map((id) => record(id, ...w)),
          subtype,
        ),
      ),
  },
  { weight: 2, arbitrary: fc.tuple(sequence, flid).map(([n, id]) => deletion(n, id)) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        sequence,
        fc.constantFrom('DNLD' as const, 'ADD' as const, 'UPD' as const, 'DEL' as const),
        keys,
        fc.constantFrom('x', 'y'),
      )
      .map(([n, op, k, t]) => reference(n, op, k, t)),
  },
  // Two flights in one message, one of them perhaps unknown or deleted.
  {
    weight: 1,
    arbitrary: fc.tuple(sequence, writes).map(([n, w]) =>
      say({
        header: { sequence: String(n) },
        body: {
          kind: 'operation',
          subtype: 'TRML',
          records: [...FLIDS, '799999'].map((id) => ({ ...record(id), writes: w })),
        },
      }),
    ),
  },
  // PROTOCOL: a wrong count, another operation day.
  { weight: 1, arbitrary: sequence.map((n) => schedule(n, [record('700001')], 'DNLD', '7')) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(sequence, flid)
      .map(([n, id]) => schedule(n, [record(id, scalar('scheduledTime', '2026-03-15T09:00:00+08:00'))])),
  },
  // Answers: of the day, with another's and with a request's SEQN, refused, of reference data.
  {
    weight: 3,
    arbitrary: fc
      .tuple(sequence, fc.constantFrom(null, '41', '42', '43'), fc.constantFrom('1', '9'), writes)
      .map(([n, echo, declared, w]) =>
        say({
          header: { sequence: String(n), type: 'SCHD', subtype: 'RESP', echo },
          body: { kind: 'schedule', subtype: 'RESP', declared, records: [record('700001', ...w)] },
        }),
      ),
  },
  { weight: 2, arbitrary: fc.tuple(sequence, keys).map(([n, k]) => reference(n, 'RESP', k)) },
  { weight: 1, arbitrary: sequence.map(ignored) },
  { weight: 1, arbitrary: sequence.map(unsupported) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<IntakeText>(unreadable(), breaking(), MALFORMED, null, 9_000_000),
  },
  // Breaks the transaction of its batch where its flight is known.
  {
    weight: 1,
    arbitrary: fc
      .tuple(sequence, flid)
      .map(([n, id]) => operation(n, id, [scalar('remark', `nul ${String(n)} \u0000`)])),
  },
);

/** A schedule request that was sent, one of reference data that was being written, one that was not begun. */
const REQUESTS = `insert into req_track (rtype, operation_day, sender, state, requested_at, requested_by, seqn,
    remembered_id, sent_at, look_at, out_id, expires_at)
  values ('SCHD', '2026-03-14', 'MSGX', 'SENT', '2026-03-13T21:00Z', 'test', 41, 0, '2026-03-13T21:59Z', null, 1,
      '2026-03-13T22:04Z'),
    ('ABDG', null, 'MSGX', 'PENDING', '2026-03-13T21:00Z', 'test', 42, 1, '2026-03-13T21:59Z', '2026-03-13T22:00Z',
      null, null),
    ('SCHD', '2026-03-15', 'MSGX', 'PENDING', '2026-03-13T21:00Z', 'test', null, null, null, null, null, null)`;

describe.skipIf(postgresMissing !== null)('batches', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });

  async function outcomeOf(
    texts: readonly IntakeText[],
    commitBatch: number,
  ): Promise<Outcome & { counted: readonly number[] }> {
    await emptyTables(db);
    await intake(db, texts);
    await db.client.query(REQUESTS);
    const pump = createPump(db, {
      commitBatch,
      requests: { sender: 'MSGX', clockSkewMs: 30_000, errorReports: true, onDeadSchedule: true },
    });
    await pump.drain();
    const { messages, duplicateMismatch, duplicateOfDead, seqnReset, unmatchedStand } = pump.metrics;
    return {
      ...(await readOutcome(db)),
      counted: await Promise.all(
        [messages, duplicateMismatch, duplicateOfDead, seqnReset, unmatchedStand].map((counter) =>
          metricValue(counter),
        ),
      ),
    };
  }

  it('of 1, 7 and 500 leave equal rows and events over random streams', async () => {
    const seen = new Set<string>();
    const requested = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 15, maxLength: 60 }), async (texts) => {
        // A first schedule, so that most flights exist.
        const stream = [
          schedule(
            1_000,
            FLIDS.map((id) => record(id)),
          ),
          ...texts,
        ];
        const one = await outcomeOf(stream, 1);
        for (const commitBatch of [7, 500]) expect(await outcomeOf(stream, commitBatch)).toEqual(one);
        for (const { state, error_class: errorClass, reason, last_error: lastError } of one.messages) {
          const text = typeof reason === 'string' ? reason : typeof lastError === 'string' ? lastError : '';
          seen.add([state, errorClass, text.split(/[: ]/)[0]].join(' '));
        }
        for (const { rtype, requested_by: by, state, matched } of one.requests) {
          requested.add([rtype, by, state, matched ?? ''].join(' ').trim());
        }
        // Versions of a flight ascend by one, in event order.
        const versions = new Map<unknown, number>();
        for (const { partition_key: key, state_version: version } of one.events) {
          expect(version).toBe((versions.get(key) ?? 0) + 1);
          versions.set(key, Number(version));
        }
        for (const { flid: id, version } of one.flights) expect(versions.get(id)).toBe(version);
        expect(one.messages.map(({ place }) => place)).toEqual(
          one.messages.map((_, index) => String(index + 1)),
        );
      }),
      { numRuns: Number(process.env['MSGX_TEST_RUNS'] ?? 15), seed: 20260314 },
    );
    // The streams are worth something only if they meet every outcome.
    expect([...seen].sort()).toEqual(
      expect.arrayContaining([
        'DEAD EXHAUSTED codec',
        'DEAD EXHAUSTED unknown-format',
        'DEAD EXHAUSTED unsupported',
        'DEAD MALFORMED not-well-formed',
        'DEAD MALFORMED raw-missing',
        'DEAD MALFORMED too-large',
        'DEAD PROTOCOL empty-reference',
        'DEAD PROTOCOL operation-day-conflict',
        'DEAD PROTOCOL recs-mismatch',
        'SKIPPED  duplicate-of',
        'SKIPPED  ignored',
        'SKIPPED  no-match',
        'SKIPPED  no-open-request',
        'SUCCEEDED  ',
        'SUCCEEDED  no-match',
        'SUCCEEDED  unchanged',
      ]),
    );
    expect([...requested].sort()).toEqual([
      'ABDG test DONE downgraded',
      'ABDG test PENDING',
      'SCHD msgx:on-dead-schedule PENDING',
      'SCHD test DONE downgraded',
      'SCHD test DONE exact',
      'SCHD test PENDING',
      'SCHD test SENT',
    ]);
  }, 300_000);
});
