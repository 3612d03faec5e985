/**
 * Finds rows that were committed after the watermark had passed them ([G1], decisions.md "Watermark
 * details"): in the holes released within the mailbox's retention and in a window below W. What neither
 * proc_state nor its archive knows is enqueued with `late = true`; nothing at or below the seed ever is.
 */
import { failpoint } from '#failpoint';
import type { Clock } from '../domain/clock.ts';
import { msgId } from '../domain/ids.ts';
import type { Mailbox, MailboxRow } from '../mailbox/port.ts';
import type { Log } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { AGAIN, restUntil, type Round } from '../runtime/station.ts';
import type { Database } from '../store/database.ts';
import type { Fence } from '../store/transaction.ts';
import { enqueueMessages, selectKnownIds } from '../store/enqueue.ts';
import { readCursor, recordScan } from '../store/inbox-cursor.ts';
import { deleteHoles, insertHoles, selectReleasedAt, selectReleasedHoles } from '../store/inbox-hole.ts';
import { foundInHoles } from './found-holes.ts';
import { fitting, readMessages, type IntakeBounds } from './intake.ts';
import { checkRestartedIds } from './restart-check.ts';
import type { Range } from './watermark.ts';

export interface LateScanOptions extends IntakeBounds {
  readonly intervalMs: number;
  /** IDs below W at the last scan that are looked at again. */
  readonly window: number;
  /** How long the mailbox keeps its rows (R_keep): released holes older than this are not looked at. */
  readonly retentionMs: number;
  readonly shadow: boolean;
}

export interface LateScanDependencies {
  readonly database: Database;
  readonly mailbox: Mailbox;
  readonly clock: Clock;
  readonly fence: () => Fence | null;
  readonly options: LateScanOptions;
  readonly logger: Log;
  readonly metrics: Metrics;
  /** Told after late messages were enqueued: the pump has work. */
  readonly onFound?: (messages: number) => void;
}

/** Rows read per round, and ranges asked for at once. */
const PAGE_ROWS = 5_000;
const PAGE_RANGES = 5_000;

/** A scan under way: what is still to be looked at, and W when it began. */
interface Scan {
  readonly watermark: bigint;
  todo: readonly Range[];
}

export class LateScan {
  readonly #on: LateScanDependencies;
  #scan: Scan | null = null;
  /** When the next scan is due; the stored time of the last one decides before the first round. */
  #dueAt = Number.NEGATIVE_INFINITY;

  constructor(dependencies: LateScanDependencies) {
    this.#on = dependencies;
  }

  /**
   * One bounded step of a scan, or nothing before the interval has passed. Throws InboxFault where the
   * mailbox's IDs have started again (the inbox must stop), Outage and LostLease like every station.
   */
  async round(): Promise<Round> {
    const { database, clock, fence, options } = this.#on;
    if (this.#scan === null && clock.now() < this.#dueAt) return restUntil(this.#dueAt);
    this.#scan ??= await this.#begin();
    const scan = this.#scan;
    if (scan === null) return restUntil(this.#dueAt);
    if (scan.todo.length > 0) {
      scan.todo = await this.#step(scan.todo);
      if (scan.todo.length > 0) return AGAIN;
    }
    this.#scan = null;
    const now = clock.now();
    await database.transaction((tx) => recordScan(tx, now, scan.watermark), { fence: fence() });
    failpoint('late.recorded');
    this.#dueAt = now + options.intervalMs;
    return restUntil(this.#dueAt);
  }

  async #begin(): Promise<Scan | null> {
    const { database, mailbox, clock, options } = this.#on;
    const cursor = await readCursor(database);
    const now = clock.now();
    this.#dueAt = (cursor.scannedAt ?? Number.NEGATIVE_INFINITY) + options.intervalMs;
    if (now < this.#dueAt) return null;
    await checkRestartedIds(database, mailbox, cursor.watermark);
    const holes = await selectReleasedHoles(database, now - options.retentionMs, cursor.seed);
    const windowFrom = highest(cursor.seed, cursor.scannedWatermark - BigInt(options.window)) + 1n;
    // Holes inside the window are looked at with it.
    const below = holes
      .filter(({ from }) => from < windowFrom)
      .map(({ from, to }) => ({
        from: highest(from, cursor.seed + 1n),
        to: to < windowFrom ? to : windowFrom - 1n,
      }));
    const window = windowFrom <= cursor.watermark ? [{ from: windowFrom, to: cursor.watermark }] : [];
    return { watermark: cursor.watermark, todo: [...below, ...window] };
  }

  /** Looks at the first ranges and gives what is left. */
  async #step(todo: readonly Range[]): Promise<readonly Range[]> {
    const { mailbox, options, database } = this.#on;
    const ranges = todo.slice(0, PAGE_RANGES);
    const rest = todo.slice(PAGE_RANGES);
    const rows = await mailbox.rowsIn(
      ranges.map(({ from, to }) => ({ from: msgId(from), to: msgId(to) })),
      PAGE_ROWS,
    );
    const known = await selectKnownIds(
      database,
      rows.map(({ id }) => id),
    );
    for (let late = rows.filter(({ id }) => !known.has(id)); late.length > 0;) {
      const count = fitting(late, options);
      await this.#enqueue(late.slice(0, count));
      late = late.slice(count);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) return rest;
    const left = ranges
      .filter(({ to }) => to > last.id)
      .map(({ from, to }) => ({ from: highest(from, last.id + 1n), to }));
    return [...left, ...rest];
  }

  async #enqueue(rows: readonly MailboxRow[]): Promise<void> {
    const { database, mailbox, clock, fence, options, logger, metrics, onFound } = this.#on;
    const messages = await readMessages(database, mailbox, rows, options);
    const now = clock.now();
    failpoint('late.texts-read');
    const enqueued = await database.transaction(
      async (tx) => {
        const ids = await enqueueMessages(tx, messages, { now, late: true, shadow: options.shadow });
        const holes = await selectReleasedAt(tx, ids);
        await deleteHoles(
          tx,
          holes.map(({ from }) => from),
        );
        await insertHoles(tx, foundInHoles(holes, [...ids].sort(ascending), now));
        failpoint('late.written');
        return ids;
      },
      { fence: fence() },
    );
    if (enqueued.length === 0) return;
    failpoint('late.committed');
    metrics.lateArrivals.inc(enqueued.length);
    logger.warn(
      { messages: enqueued.length, ids: enqueued.slice(0, 20) },
      'messages arrived after the watermark had passed them: enqueued late',
    );
    onFound?.(enqueued.length);
  }
}

function highest(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : 1;
}
