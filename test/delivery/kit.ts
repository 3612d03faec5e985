/** Rows, sinks and stations for the tests of delivery. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import { Delivery, type DeliveryOptions } from '../../src/delivery/delivery.ts';
import type { SendOutcome, Sink, SinkRecord, Stream } from '../../src/delivery/port.ts';
import { JournalSink, journalFileName } from '../../src/delivery/sinks/journal.ts';
import { eventSchema } from '../../src/domain/event-schema.ts';
import { messageEventBody, schemaId } from '../../src/domain/event.ts';
import type { FlightRecord } from '../../src/domain/flight.ts';
import { flid, msgId } from '../../src/domain/ids.ts';
import { emptyState, withScalar } from '../../src/domain/state.ts';
import { ManualClock } from '../../src/runtime/clock.ts';
import { SILENT } from '../../src/runtime/log.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { Outage } from '../../src/runtime/outage.ts';
import type { Database } from '../../src/store/database.ts';
import { insertMessageEvents } from '../../src/store/msg-event.ts';
import { upsertLatestStates } from '../../src/store/schd-event.ts';
import { toTimestamp } from '../../src/store/time.ts';
import { createTestDatabase, type TestDatabase } from '../kit/postgres.ts';

export const START = Date.parse('2026-03-14T00:00:00Z');
const UPDATED = '2026-03-14T08:00:00+08:00';

/** The real journal behind a switch: refusals per key, outages before or after the write. */
export class SwitchedSink implements Sink {
  readonly kind = 'switched';
  readonly #inner: Sink;
  refuse: (record: SinkRecord) => boolean = () => false;
  /** lost: the batch arrives and the caller is not told. */
  outage: 'none' | 'down' | 'lost' = 'none';
  /** Throws what is neither a refusal nor an outage. */
  broken: Error | null = null;
  reachable = true;
  /** Called while a batch is on its way. */
  onSend: (records: readonly SinkRecord[]) => Promise<void> = async () => undefined;
  readonly batches: (readonly SinkRecord[])[] = [];

  constructor(inner: Sink) {
    this.#inner = inner;
  }

  async send(records: readonly SinkRecord[]): Promise<SendOutcome> {
    this.batches.push(records);
    await this.onSend(records);
    if (this.outage === 'down') throw new Outage('delivery', new Error('target down'));
    if (this.broken !== null) throw this.broken;
    if (records.some((record) => this.refuse(record))) return { outcome: 'refused', reason: 'not this one' };
    const outcome = await this.#inner.send(records);
    if (this.outage === 'lost') throw new Outage('delivery', new Error('connection lost'));
    return outcome;
  }

  async probe(): Promise<boolean> {
    return this.reachable && this.#inner.probe();
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }
}

export interface Line {
  readonly topic: string;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: Readonly<Record<string, unknown>> | null;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
const validators = {
  msg: ajv.compile(eventSchema('msg', 'strict')),
  schd: ajv.compile(eventSchema('schd', 'strict')),
};

export interface Bench {
  readonly db: TestDatabase;
  readonly database: Database;
  readonly clock: ManualClock;
  readonly sink: SwitchedSink;
  readonly delivery: Delivery;
  readonly metrics: ReturnType<typeof createMetrics>;
  /** A further station on the same rows and target, e.g. after a restart. */
  station(overrides?: Partial<DeliveryOptions>): Delivery;
  /** Inserts one KAFKA:msg event per entry, `FLID/VERSION`; `!` makes a TOMBSTONE. */
  events(...names: readonly string[]): Promise<void>;
  /** Writes flights with their versions and notes them for KAFKA:schd; `!` deletes. */
  flights(...names: readonly string[]): Promise<void>;
  /** The lines of a stream; each is checked against the strict schema. */
  lines(stream: Stream): Promise<readonly Line[]>;
  /** `FLID/VERSION` of the lines of a stream; `FLID/null` for a literal null. */
  told(stream: Stream): Promise<readonly string[]>;
  /** `FLID/VERSION STATE ATTEMPTS` of a target's rows in event order. */
  rows(target: 'KAFKA:msg' | 'KAFKA:schd'): Promise<readonly string[]>;
  /** Rounds until one rests. */
  drain(): Promise<void>;
  dispose(): Promise<void>;
}

export async function createBench(overrides: Partial<DeliveryOptions> = {}): Promise<Bench> {
  const db = await createTestDatabase();
  const { database, client } = db;
  const directory = await mkdtemp(join(tmpdir(), 'msgx-delivery-'));
  const topics = { msg: 'flight.msg', schd: 'flight.schd' };
  const sink = new SwitchedSink(new JournalSink({ directory, topics, timeoutMs: 10_000 }));
  const clock = new ManualClock(START);
  const metrics = createMetrics();
  const station = (more: Partial<DeliveryOptions> = {}) =>
    new Delivery({
      database,
      fence: null,
      sink,
      clock,
      log: SILENT,
      metrics,
      airport: 'XXX',
      timeZone: 'Asia/Shanghai',
      publication: { vipPersons: false },
      batch: 500,
      retry: { maxAttempts: 3, backoffMs: [1_000, 5_000] },
      flushLimit: 500,
      flushIntervalMs: 2_000,
      ...overrides,
      ...more,
    });
  const delivery = station();
  const lines = async (stream: Stream) => {
    const text = await readFile(join(directory, journalFileName(stream)), 'utf8').catch(() => '');
    const parsed = text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line);
    for (const line of parsed) checkLine(stream, line);
    return parsed;
  };
  return {
    db,
    database,
    clock,
    sink,
    delivery,
    metrics,
    station,
    lines,
    events: async (...names) => {
      const events = names.map((name) => {
        const record = recordOf(name);
        const event = {
          type: record.deleted ? ('TOMBSTONE' as const) : ('UPSERT' as const),
          changed: ['gates'],
        };
        const body = messageEventBody(record, event, null, { vipPersons: false });
        return {
          flid: record.flid,
          eventType: event.type,
          stateVersion: record.version,
          msgId: null,
          body: JSON.stringify(body),
        };
      });
      await insertMessageEvents(database, events, toTimestamp(clock.now()));
    },
    flights: async (...names) => {
      for (const name of names) {
        const record = recordOf(name);
        await database.transaction(async (tx) => {
          await tx.query({ name: 'test.flight', text: UPSERT_FLIGHT }, [
            record.flid,
            record.version,
            record.deleted,
            JSON.stringify(record.state),
          ]);
          const { flid: key, version } = record;
          const eventType = record.deleted ? 'TOMBSTONE' : 'UPSERT';
          const states = [{ flid: key, eventType, stateVersion: version, msgId: null } as const];
          await upsertLatestStates(tx, states, toTimestamp(clock.now()));
        });
      }
    },
    told: async (stream) =>
      (await lines(stream)).map(
        ({ key, value }) => `${key}/${JSON.stringify(value?.['stateVersion'] ?? null)}`,
      ),
    rows: async (target) => {
      const { rows } = await client.query<{ row: string }>(
        `select partition_key || '/' || state_version || ' ' || state || ' ' || attempts as row
         from msg_event where target = $1 order by event_id`,
        [target],
      );
      return rows.map(({ row }) => row);
    },
    drain: async () => {
      while ((await delivery.round()).next === 'now');
    },
    dispose: async () => {
      await sink.close();
      await db.drop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const UPSERT_FLIGHT = `insert into flight_schd
    (flid, version, operation_day, deleted, state, stamps, last_msg_id, updated_at)
  values ($1, $2, '2026-03-14', $3, $4, '{}', 1, '2026-03-14T00:00:00.7Z')
  on conflict (flid) do update set version = excluded.version, deleted = excluded.deleted, state = excluded.state`;

function recordOf(name: string): FlightRecord {
  const [, key = '', version = ''] = /^(\w+)\/(\d+)!?$/.exec(name) ?? [];
  const state = withScalar(emptyState(flid(key)), 'remark', `备注 ${version}`);
  return {
    flid: flid(key),
    version: Number(version),
    operationDay: '2026-03-14',
    deleted: name.endsWith('!'),
    state: { ...state, vips: [{ code: 'VIP-7', entourage: 2 }] },
    stamps: { fields: {}, deleted: '0', delays: { floor: null, codes: {} }, push: {}, tractor: {} },
    lastMsgId: msgId('1'),
    updatedAt: UPDATED,
  };
}

function checkLine(stream: Stream, { topic, key, headers, value }: Line): void {
  const validate = validators[stream];
  expect(validate(value), JSON.stringify(validate.errors)).toBe(true);
  const eventType = value?.['eventType'] ?? (value === null ? 'TOMBSTONE' : 'UPSERT');
  expect(topic).toBe(`flight.${stream}`);
  expect(headers).toEqual({
    ce_specversion: '1.0',
    ce_id: stream === 'msg' ? value?.['eventId'] : (expect.stringMatching(/^\d+$/) as string),
    ce_type: eventType === 'TOMBSTONE' ? 'msgx.flight.tombstone.v1' : 'msgx.flight.upsert.v1',
    ce_source: '/msgx/XXX',
    ce_subject: key,
    ce_time: UPDATED,
    ce_dataschema: schemaId(stream),
    'content-type': 'application/json',
  });
}
