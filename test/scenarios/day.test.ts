import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publishedFlight } from '../../src/domain/event.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { productionMissing, productionParts } from '../kit/production-parts.ts';
import { createPipeline, type PipelineOptions, type TestPipeline } from '../kit/service-pipeline.ts';
import { expectClean, expectTold, firstDeliveries, unmarked } from './checks.ts';

interface ExpectedEvent {
  readonly flid: string;
  readonly version: number;
  readonly type: string;
}

interface ExpectedMessage {
  readonly id: number;
  readonly file: string;
  readonly state: string;
  readonly errorClass?: string;
  readonly reason?: string;
  readonly attempts?: number;
  readonly events?: readonly ExpectedEvent[];
}

interface Expected {
  readonly timeZone: string;
  readonly messages: readonly ExpectedMessage[];
  readonly flights: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly absentFlights: readonly string[];
  readonly reference: Readonly<Record<string, { active: string[]; inactive: string[] }>>;
  readonly events: { readonly msg: number; readonly byFlid: Readonly<Record<string, number>> };
}

const FIXTURES = new URL('../fixtures/day/', import.meta.url);
const DELAY_MS = 400;

describe.skipIf(postgresMissing !== null)('the example day from PostgreSQL to the journal', () => {
  examine(async () => ({}));
});

describe.skipIf(productionMissing !== null)('the example day from MariaDB to Kafka', () => {
  examine(productionParts);
});

function examine(parts: () => Promise<PipelineOptions>): void {
  let pipeline: TestPipeline;
  let expected: Expected;

  beforeAll(async () => {
    expected = JSON.parse(await readFile(new URL('expected.json', FIXTURES), 'utf8')) as Expected;
    pipeline = await createPipeline({
      ...(await parts()),
      settings: { 'time-zone': expected.timeZone, pipeline: { 'max-commit-delay': `${String(DELAY_MS)}ms` } },
    });
    await pipeline.start();
    for (const { id, file } of expected.messages) {
      // ID 7 is an insert that its owner takes back.
      if (id === 8) await (await pipeline.mailbox.openInsert('<MSG/>')).rollback();
      expect(await pipeline.mailbox.insert(await readFile(new URL(file, FIXTURES), 'utf8'))).toBe(BigInt(id));
    }
    await pipeline.drained();
  });

  afterAll(() => pipeline.close());

  it('ends each message as expected', async () => {
    const rows = await pipeline.rows<{
      id: number;
      state: string;
      errorClass: string | null;
      attempts: number;
      text: string | null;
    }>(
      `select msg_id::int as id, state, error_class as "errorClass", attempts,
         case when state = 'DEAD' then last_error else reason end as text from proc_state order by msg_id`,
    );
    expect(rows.map(({ id }) => id)).toEqual(expected.messages.map(({ id }) => id));
    for (const [index, row] of rows.entries()) {
      const message = expected.messages[index]!;
      const { state, errorClass, attempts, text } = row;
      expect({ file: message.file, state, errorClass }).toEqual({
        file: message.file,
        state: message.state,
        errorClass: message.errorClass ?? null,
      });
      if (message.reason === undefined) expect(text, message.file).toBeNull();
      else expect(text?.startsWith(message.reason), `${message.file}: ${String(text)}`).toBe(true);
      if (message.attempts !== undefined) expect(attempts, message.file).toBe(message.attempts);
    }
  });

  it('tells each change in order, in the outbox and at the target', async () => {
    const wanted = expected.messages.flatMap(({ id, events }) =>
      (events ?? []).map(({ flid, version, type }) => ({ msgId: String(id), flid, version, type })),
    );
    const outbox = await pipeline.rows(
      `select msg_id::text as "msgId", partition_key as flid, state_version as version, event_type as type
       from msg_event where target = 'KAFKA:msg' order by event_id`,
    );
    expect(outbox).toHaveLength(expected.events.msg);
    const told = [...firstDeliveries(await pipeline.journal('msg')).values()]
      .flat()
      .map(({ key, value }) => ({
        msgId: (value?.['cause'] as { msgId: string }).msgId,
        flid: key,
        version: value?.['stateVersion'],
        type: value?.['eventType'],
      }));
    for (const [flid, count] of Object.entries(expected.events.byFlid)) {
      const ofFlight = <T extends { flid?: unknown }>(events: readonly T[]) =>
        events.filter((event) => event.flid === flid);
      expect(ofFlight(wanted)).toHaveLength(count);
      expect(ofFlight(outbox)).toEqual(ofFlight(wanted));
      expect(ofFlight(told)).toEqual(ofFlight(wanted));
    }
    // Per message: one event per flight, whatever their order among each other.
    const key = (event: { msgId?: string; flid?: string }) => `${event.msgId ?? ''} ${event.flid ?? ''}`;
    expect(outbox.map(key).sort()).toEqual(wanted.map(key).sort());
  });

  it('leaves the flights as expected, and no others', async () => {
    const rows = await pipeline.rows<{
      flid: string;
      version: number;
      operationDay: string;
      deleted: boolean;
      state: JsonObject;
    }>(
      `select flid, version, operation_day::text as "operationDay", deleted, state from flight_schd order by flid`,
    );
    expect(rows.map(({ flid }) => flid)).toEqual(Object.keys(expected.flights).sort());
    expect(rows.filter(({ flid }) => expected.absentFlights.includes(flid))).toEqual([]);
    for (const { flid, state, ...facts } of rows) {
      const flight = { ...publishedFlight(state, { vipPersons: true }), ...facts };
      expect(flight, flid).toMatchObject(expected.flights[flid]!);
    }
  });

  it('keeps the reference rows, active and inactive', async () => {
    for (const [rtype, { active, inactive }] of Object.entries(expected.reference)) {
      const rows = await pipeline.rows<{ rkey: string; active: boolean }>(
        'select rkey, active from ref_master where rtype = $1 order by rkey',
        [rtype],
      );
      expect(rows.filter((row) => row.active).map(({ rkey }) => rkey)).toEqual([...active].sort());
      expect(rows.filter((row) => !row.active).map(({ rkey }) => rkey)).toEqual([...inactive].sort());
    }
  });

  it('marks every row, and records ID 7 as a hole released after max-commit-delay', async () => {
    expect(await unmarked(pipeline)).toEqual([]);
    expect(await pipeline.mailboxSide.count()).toBe(expected.messages.length);
    const holes = await pipeline.rows<{ from: string; to: string; waited: number; found: boolean }>(
      `select from_id::text as from, to_id::text as to, found_at is not null as found,
         (extract(epoch from released_at - first_seen_at) * 1000)::int as waited from inbox_hole`,
    );
    expect(holes).toEqual([{ from: '7', to: '7', found: false, waited: expect.any(Number) as number }]);
    expect(holes[0]!.waited).toBeGreaterThanOrEqual(DELAY_MS);
  });

  it('passes the audit; the target holds valid values and the current states', async () => {
    await expectClean(pipeline);
    await expectTold(pipeline);
  });
}
