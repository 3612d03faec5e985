/** A mailbox table with faults, and rows of proc_state, for the tests of backfill. */
import type pg from 'pg';
import { Backfill, type BackfillOptions } from '../../src/backfill/backfill.ts';
import type { MarkResult } from '../../src/mailbox/port.ts';
import { ManualClock } from '../../src/runtime/clock.ts';
import type { Log } from '../../src/runtime/log.ts';
import { Outage } from '../../src/runtime/outage.ts';
import { toTimestamp } from '../../src/store/time.ts';
import { createTestDatabase, type TestDatabase } from '../kit/postgres.ts';

export const START = Date.parse('2026-03-14T00:00:00Z');
export const HOUR = 3_600_000;

/** Marks in a real table, as the seed's §6.2 tells the results apart; the rest is in the adapter's own tests. */
export class FaultyMailbox {
  readonly #client: pg.Client;
  down = false;
  reachable = true;
  /** IDs that the mailbox refuses, and with them every statement that names one. */
  readonly refused = new Set<bigint>();
  /** IDs whose rows somebody holds: every statement that names one gets no answer in time. */
  readonly held = new Set<bigint>();
  readonly calls: (readonly bigint[])[] = [];
  onMark: (ids: readonly bigint[]) => Promise<void> = async () => undefined;

  constructor(client: pg.Client) {
    this.#client = client;
  }

  async mark(ids: readonly bigint[]): Promise<ReadonlyMap<bigint, MarkResult>> {
    this.calls.push(ids);
    await this.onMark(ids);
    if (this.down) throw new Outage('mailbox', new Error('mailbox down'));
    if (ids.some((id) => this.held.has(id))) throw new Outage('mailbox', new Error('statement timeout'));
    if (ids.some((id) => this.refused.has(id))) throw new Error('row is locked');
    const results = new Map<bigint, MarkResult>();
    for (const id of ids) {
      const { rowCount } = await this.#client.query(
        'update test_mailbox set processed = now() where id = $1 and processed is null',
        [id],
      );
      const there = await this.#client.query('select from test_mailbox where id = $1', [id]);
      results.set(id, rowCount === 1 ? 'marked' : there.rowCount === 1 ? 'already-marked' : 'missing');
    }
    return results;
  }

  async probe(): Promise<boolean> {
    return this.reachable && !this.down;
  }
}

export interface Bench {
  readonly db: TestDatabase;
  readonly clock: ManualClock;
  readonly mailbox: FaultyMailbox;
  readonly warnings: { readonly message: string; readonly fields: object }[];
  readonly backfill: Backfill;
  readonly station: (overrides: Partial<BackfillOptions>) => Backfill;
  /** Inserts terminal rows, in proc_state and in the mailbox, enqueued now. */
  readonly owe: (...ids: readonly number[]) => Promise<void>;
  /** `ID FACT ATTEMPTS` by ID: owed, confirmed, or the reason of abandonment. */
  readonly facts: () => Promise<readonly string[]>;
  /** IDs that carry the mark in the mailbox. */
  readonly marked: () => Promise<readonly number[]>;
}

export async function createBench(overrides: Partial<BackfillOptions> = {}): Promise<Bench> {
  const db = await createTestDatabase();
  const { client, database } = db;
  await client.query('create table test_mailbox (id bigint primary key, processed timestamptz)');
  const clock = new ManualClock(START);
  const mailbox = new FaultyMailbox(client);
  const warnings: { message: string; fields: object }[] = [];
  const log: Log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (fields, message) => void warnings.push({ message, fields }),
    error: () => undefined,
  };
  const station = (more: Partial<BackfillOptions>) =>
    new Backfill({
      database,
      mailbox,
      fence: null,
      clock,
      log,
      batch: 500,
      deadlineMs: 24 * HOUR,
      alarmAttempts: 20,
      shadow: false,
      ...overrides,
      ...more,
    });
  return {
    db,
    clock,
    mailbox,
    warnings,
    backfill: station({}),
    station,
    owe: async (...ids) => {
      const now = toTimestamp(clock.now());
      await client.query(
        `insert into proc_state (msg_id, state, enqueued_at, terminal_at, terminal_seq, backfill_next_at)
         select id, 'SUCCEEDED', $2::timestamptz, $2, nextval('terminal_seq'), $2 from unnest($1::bigint[]) as id`,
        [ids, now],
      );
      await client.query('insert into test_mailbox select unnest($1::bigint[])', [ids]);
    },
    facts: async () => {
      const { rows } = await client.query<{ fact: string }>(
        `select msg_id || ' ' || case when backfill_at is not null then 'confirmed'
           else coalesce(backfill_abandoned_reason, 'owed') end || ' ' || backfill_attempts as fact
         from proc_state order by msg_id`,
      );
      return rows.map(({ fact }) => fact);
    },
    marked: async () => {
      const { rows } = await client.query<{ id: string }>(
        'select id from test_mailbox where processed is not null order by id',
      );
      return rows.map(({ id }) => Number(id));
    },
  };
}
