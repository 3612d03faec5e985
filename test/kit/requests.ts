/**
 * Coordinator, pump and a scripted upstream over one mailbox in PostgreSQL or MariaDB, driven step by step with a clock
 * moved by hand; and faults at every point of a send.
 */
import type { Dialect } from '../../src/dialect/port.ts';
import type { Mailbox, Outbound } from '../../src/mailbox/port.ts';
import { RequestCoordinator } from '../../src/requests/coordinator.ts';
import type { RequestsContext } from '../../src/requests/context.ts';
import { ManualClock } from '../../src/runtime/clock.ts';
import { Outage } from '../../src/runtime/outage.ts';
import { ScriptedUpstream, type Behaviour, type ReceivedRequest } from '../../src/simulator/upstream.ts';
import type { Database } from '../../src/store/database.ts';
import type { Queryable } from '../../src/store/statement.ts';
import type { TransactionOptions } from '../../src/store/transaction.ts';
import { registerRequest } from '../../src/store/req-track.ts';
import { emptyTables, intake } from './intake.ts';
import type { MailboxFixture, OutboundLine } from './mailbox.ts';
import { testDialect, TIME_ZONE } from './pipeline.ts';
import type { TestDatabase } from './postgres.ts';
import { createPump, START, TIERS } from './pump.ts';

export { START };

/** A process that dies at this point. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/** Where a send can be broken off. */
export const POINTS = [
  'before the lock',
  'with the lock, before anything is noted',
  'before the note is committed',
  'after the note, before the insert',
  'after the insert, before its commit',
  'after the commit of the insert, its answer lost',
  'before the confirmation is committed',
  'after the confirmation, its answer lost',
] as const;
export type Point = (typeof POINTS)[number];

export interface RequestRig {
  readonly db: TestDatabase;
  readonly box: MailboxFixture;
  readonly clock: ManualClock;
  readonly dialect: Dialect;
  readonly context: RequestsContext;
  /** Registers as an operator does. */
  register(rtype: string, day: string | null): Promise<bigint>;
  /** A round of a coordinator that knows nothing of the rounds before. */
  round(overrides?: Partial<RequestsContext>): Promise<void>;
  /** The same, dying at a point. */
  dieAt(point: Point): Promise<void>;
  upstream(behave: (request: ReceivedRequest) => Behaviour): ScriptedUpstream;
  /** Lets the pump end everything that is in the mailbox. */
  pump(): Promise<void>;
  /** Of flights, reference data and events, times and stamps included. */
  digest(): Promise<string>;
  /** State and what closed each request, in their order. */
  requests(): Promise<readonly string[]>;
  /** What was written into COUTMSGS since. */
  outbound(): Promise<readonly OutboundLine[]>;
  query<T extends object>(sql: string, values?: readonly unknown[]): Promise<readonly T[]>;
}

/** On an emptied database, beside whatever earlier tests have left in the mailbox. */
export async function createRequestRig(box: MailboxFixture, db: TestDatabase): Promise<RequestRig> {
  await emptyTables(db);
  await db.client.query('update outbound_counter set last = 0');
  const first = await box.mailbox.withOutbound((outbound) => outbound.highest());
  const clock = new ManualClock(START);
  const dialect = await testDialect();
  const context: RequestsContext = {
    database: db.database,
    mailbox: box.mailbox,
    dialect,
    fence: null,
    clock,
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    sender: 'MSGX',
    timeZone: TIME_ZONE,
    operationDayCutoff: '00:00',
    mailboxTimeoutMs: 10_000,
    timeoutMs: 300_000,
    onStart: [],
    dailyAt: null,
    routing: { schedule: 'AODB', reference: 'REF', errorReport: 'ERR' },
    shadow: false,
  };
  const pump = createPump(db, {
    dialect,
    clock,
    retry: TIERS,
    requests: { sender: 'MSGX', clockSkewMs: 30_000, errorReports: true, onDeadSchedule: false },
  });
  const query = async <T extends object>(sql: string, values: readonly unknown[] = []) =>
    (await db.client.query<T>(sql, [...values])).rows;
  let taken: bigint = (await box.mailbox.bounds())?.max ?? 0n;
  return {
    db,
    box,
    clock,
    dialect,
    context,
    query,
    outbound: async () => (await box.outboundRows()).filter(({ id }) => id > first),
    async register(rtype, operationDay) {
      const key = { rtype, operationDay, sender: 'MSGX' };
      const { reqId } = await db.database.transaction((tx) =>
        registerRequest(tx, key, { by: 'test', now: clock.now() }),
      );
      return reqId;
    },
    async round(overrides = {}) {
      await new RequestCoordinator({ ...context, ...overrides }).round();
    },
    async dieAt(point) {
      const dying = new RequestCoordinator({
        ...context,
        mailbox: dyingMailbox(box.mailbox, point),
        database: dyingDatabase(db.database, point),
      });
      await dying.round().then(
        () => {
          throw new Error(`nothing died ${point}`);
        },
        (error: unknown) => {
          if (!(error instanceof Outage && error.cause instanceof Crash)) throw error;
        },
      );
    },
    upstream: (behave) =>
      new ScriptedUpstream({
        ...{ mailbox: box.mailbox, clock, timeZone: TIME_ZONE, after: first, behave },
        schedule: (day) => [scheduleRecord('700001', day), scheduleRecord('700002', day)],
        reference: (rtype) => [`<${rtype}><CODE>A1</CODE><DESC>one</DESC></${rtype}>`],
      }),
    async pump() {
      const rows = await box.mailbox.rowsAfter(taken, 1_000);
      const texts = await box.mailbox.texts(rows.map(({ id }) => id));
      await intake(
        db,
        rows.map(({ id }) => texts.get(id) ?? null),
        { now: clock.now() },
      );
      taken = rows.at(-1)?.id ?? taken;
      for (let round = await pump.tick(); round.next === 'now';) round = await pump.tick();
    },
    digest: async () => {
      const [row] = await query<{ digest: string }>(DIGEST);
      return row?.digest ?? '';
    },
    async requests() {
      const rows = await query<{ told: string }>(
        `select concat_ws(' ', state, matched, expired_because, case when out_id is not null then 'in COUTMSGS' end)
           as told from req_track order by req_id`,
      );
      return rows.map(({ told }) => told);
    },
  };
}

/** Every flight with its stamps, every reference row and every event; the message that was skipped is none of them. */
const DIGEST = `select md5(concat(
  (select string_agg(f::text, chr(10) order by f.flid) from flight_schd f),
  (select string_agg(r::text, chr(10) order by r.rtype, r.rkey) from ref_master r),
  (select string_agg(e::text, chr(10) order by e.event_id) from msg_event e))) as digest`;

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];

/** A departure at noon of a day; flights of other days have other IDs. */
export function scheduleRecord(flid: string, day: string): string {
  const [year = '', month = '', date = ''] = day.split('-');
  const time = `${date}${MONTHS[Number(month) - 1] ?? ''}${year.slice(2)}1200`;
  return (
    `<FLTR><FLID>${flid}${date}</FLID><FLNO>XX${flid.slice(-3)}</FLNO><MVIN>D</MVIN>` +
    `<SODT>${time}</SODT></FLTR>`
  );
}

/** Crashes come as outages: no message is charged with them, as with a process that is gone. */
function crash(point: Point): never {
  throw new Outage('mailbox', new Crash(point));
}

function dyingMailbox(mailbox: Mailbox, point: Point): RequestsContext['mailbox'] {
  return {
    probe: () => mailbox.probe(),
    async withOutbound<T>(work: (outbound: Outbound) => Promise<T>): Promise<T> {
      if (point === 'before the lock') crash(point);
      const result = await mailbox.withOutbound(async (outbound) => {
        if (point === 'with the lock, before anything is noted') crash(point);
        return work({
          highest: () => outbound.highest(),
          rowsAfter: (after, limit) => outbound.rowsAfter(after, limit),
          async insert(text, routing) {
            if (point === 'after the note, before the insert') crash(point);
            const id = await outbound.insert(text, routing);
            if (point === 'after the insert, before its commit') crash(point);
            return id;
          },
        });
      });
      if (point === 'after the commit of the insert, its answer lost') crash(point);
      return result;
    },
  };
}

/** The first transaction of a send is its note, the second its confirmation. */
function dyingDatabase(database: Database, point: Point): Database {
  let number = 0;
  return new Proxy(database, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name !== 'transaction')
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      return async (work: (tx: Queryable) => Promise<unknown>, options?: TransactionOptions) => {
        number += 1;
        const [note, confirmation] = [number === 1, number === 2];
        const result = await target.transaction(async (tx) => {
          const worked = await work(tx);
          if (note && point === 'before the note is committed') crash(point);
          if (confirmation && point === 'before the confirmation is committed') crash(point);
          return worked;
        }, options);
        if (confirmation && point === 'after the confirmation, its answer lost') crash(point);
        return result;
      };
    },
  });
}
