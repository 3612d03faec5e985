/**
 * Station 1: reads what is new in the mailbox, in ID order, and moves the watermark (seed §4.1). One round:
 * rows above W → look-ahead over IDs for holes → re-read of the holes that may be released → texts → one
 * fenced transaction. Whatever fails before it leaves W untouched.
 */
import { failpoint } from '#failpoint';
import type { Clock } from '../domain/clock.ts';
import { MAX_ID, msgId } from '../domain/ids.ts';
import type { Mailbox, MailboxRow } from '../mailbox/port.ts';
import type { Log } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { AGAIN, REST, restUntil, type Round } from '../runtime/station.ts';
import type { Database } from '../store/database.ts';
import type { Fence } from '../store/transaction.ts';
import { enqueueMessages } from '../store/enqueue.ts';
import { advanceCursor, readCursor, touchCursor, type Cursor } from '../store/inbox-cursor.ts';
import { deleteHoles, insertHoles, selectOpenHoles } from '../store/inbox-hole.ts';
import type { RecentTexts } from '../store/recent-texts.ts';
import { holeChanges } from './hole-changes.ts';
import { fitting, readMessages, type IntakeBounds, type ReadMessage } from './intake.ts';
import { LivingWriters } from './living-writers.ts';
import {
  cut,
  holeAbove,
  judge,
  observe,
  plan,
  reconcile,
  type Hole,
  type Observation,
  type Plan,
  type ReleaseRules,
} from './watermark.ts';

export interface InboxOptions extends IntakeBounds {
  readonly maxCommitDelayMs: number;
  readonly maxHoleHoldMs: number;
  readonly holeRelease: 'elapsed' | 'proved';
  readonly pollIntervalMs: number;
  /** Rows enqueued are marked as shadow rows: no mailbox mark is owed for them. */
  readonly shadow: boolean;
  /** Most IDs one look-ahead covers. Default 100,000. */
  readonly lookAhead?: number;
}

/** What one round has committed. */
export interface InboxProgress {
  /** Messages that are new in proc_state. */
  readonly enqueued: number;
  /** IDs released as permanently missing. */
  readonly released: bigint;
  readonly watermark: bigint;
}

export interface InboxDependencies {
  readonly database: Database;
  readonly mailbox: Mailbox;
  readonly clock: Clock;
  /** The fence of the active instance; null only where there is no lease (tests, one-shot commands). */
  readonly fence: () => Fence | null;
  readonly options: InboxOptions;
  readonly logger: Log;
  readonly metrics: Metrics;
  /** Where the texts that were enqueued are left for the pump. */
  readonly recentTexts?: RecentTexts;
  /** Told after every commit that moved W: the pump has work. */
  readonly onProgress?: (progress: InboxProgress) => void;
}

/** How often an idle poller notes that the mailbox answers, ms. */
const TOUCH_MS = 1_000;
const LOOK_AHEAD = 100_000;

/** What a round has found out before it writes. */
interface Findings {
  readonly plan: Plan<MailboxRow>;
  /** Open holes as stored before the round. */
  readonly known: readonly Hole[];
  /** Open holes now, those that the plan crosses included. */
  readonly holes: readonly Hole[];
  /** Holes to be released although a writer still lives, because max-hole-hold is over. */
  readonly forced: number;
}

export class InboxPoller {
  readonly #on: InboxDependencies;
  readonly #rules: ReleaseRules;
  readonly #writers: LivingWriters;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #touchedAt = Number.NEGATIVE_INFINITY;
  #readAt: number | null = null;
  /** Highest mailbox ID seen; a full batch alone would say less than the last look-ahead did. */
  #highest = 0n;

  constructor(dependencies: InboxDependencies) {
    this.#on = dependencies;
    const { maxCommitDelayMs, maxHoleHoldMs, holeRelease } = dependencies.options;
    this.#rules = { maxCommitDelayMs, maxHoleHoldMs, mode: holeRelease };
    this.#writers = new LivingWriters(dependencies.mailbox, dependencies.logger);
  }

  /** When this process last read the mailbox successfully, ms of the clock; null where it never did. */
  get readAt(): number | null {
    return this.#readAt;
  }

  /**
   * One round. AGAIN where there may be more at once. Throws Outage where the mailbox or our database is not
   * available and LostLease where the fence is no longer current; W is then untouched.
   */
  async round(): Promise<Round> {
    const { database, mailbox, clock, options } = this.#on;
    const cursor = await readCursor(database);
    const rows = await mailbox.rowsAfter(cursor.watermark, options.claimBatch);
    const full = rows.length >= options.claimBatch;
    const observations = await this.#observe(cursor.watermark, rows, full);
    const readAt = clock.now();
    this.#readAt = readAt;
    const through = observations.at(-1)?.through ?? cursor.watermark;
    if (through > this.#highest) this.#highest = through;
    if (rows.length === 0) {
      await this.#touch(readAt);
      this.#showHole(cursor.holeSince, readAt);
      this.#showWatermark(cursor.watermark);
      return REST;
    }
    const findings = await this.#judge(cursor.watermark, rows, observations, readAt);
    const fits = fitting(findings.plan.taken, options);
    const batch = cut(findings.plan, fits);
    const messages = await readMessages(database, mailbox, batch.taken, options);
    failpoint('inbox.texts-read');
    await this.#commit(cursor, { ...findings, plan: batch }, messages, readAt);
    const { stoppedBy } = findings.plan;
    if (batch !== findings.plan || (full && stoppedBy.length === 0)) return AGAIN;
    return stoppedBy.length === 0 ? REST : restUntil(this.#ripeAt(stoppedBy, readAt));
  }

  /**
   * What is missing above W: the batch shows it for the IDs it spans, and where the batch was full the
   * look-ahead for those above, at most once per poll interval.
   */
  async #observe(
    watermark: bigint,
    rows: readonly MailboxRow[],
    full: boolean,
  ): Promise<readonly Observation[]> {
    if (rows.length === 0) return [];
    const { mailbox, clock, options } = this.#on;
    const batch = observe(watermark, rows);
    const started = clock.now();
    if (!full || started - this.#lookedAt < options.pollIntervalMs) return [batch];
    const ahead = await mailbox.lookAhead(batch.through, options.lookAhead ?? LOOK_AHEAD);
    this.#lookedAt = started;
    if (ahead.through === null) return [batch];
    return [batch, { after: batch.through, through: ahead.through, gaps: ahead.gaps }];
  }

  /** Brings the holes up to date and finds how far W may go; asks for writers and re-reads before a release. */
  async #judge(
    watermark: bigint,
    rows: readonly MailboxRow[],
    observations: readonly Observation[],
    now: number,
  ): Promise<Findings> {
    const { database, mailbox, options } = this.#on;
    const through = observations.at(-1)?.through ?? watermark;
    // One beyond what was seen: a hole known there becomes the one at W + 1 if everything is taken.
    const known = await selectOpenHoles(database, through < MAX_ID ? through + 1n : through);
    const { kept, fresh } = reconcile(known, observations);
    // Writers are asked for after the gap was seen: who assigned a missing ID before that either still holds
    // the table now or has ended, and then the re-read sees what it committed.
    const living = await this.#writers.ask(fresh.length > 0 || this.#mayRelease(watermark, rows, kept, now));
    const writers = living === null ? null : [...living];
    const holes = [...kept, ...fresh.map((range) => ({ ...range, firstSeenAt: now, writers }))].sort(
      ascending,
    );
    const passable = (hole: Hole) => judge(hole, now, this.#rules, living).kind === 'release';
    const first = plan(watermark, rows, holes, passable);
    if (first.crossed.length === 0) return { plan: first, known, holes, forced: 0 };
    const ranges = first.crossed.map(({ from, to }) => ({ from: msgId(from), to: msgId(to) }));
    // One row more than a batch: a fuller answer would be cut after a batch anyway, before what it leaves out.
    const found = await mailbox.rowsIn(ranges, options.claimBatch + 1);
    failpoint('hole.reread');
    const forced = (crossed: readonly Hole[]) =>
      crossed.filter((hole) => {
        const verdict = judge(hole, now, this.#rules, living);
        return verdict.kind === 'release' && verdict.forced;
      }).length;
    if (found.length === 0) return { plan: first, known, holes, forced: forced(first.crossed) };
    const merged = [...rows, ...found].sort((a, b) => (a.id < b.id ? -1 : 1));
    const left = withoutRows(holes, found);
    const second = plan(watermark, merged, left, passable);
    return { plan: second, known, holes: left, forced: forced(second.crossed) };
  }

  /** Whether the clock alone would let W pass a hole, so that it is worth asking for living writers. */
  #mayRelease(watermark: bigint, rows: readonly MailboxRow[], holes: readonly Hole[], now: number): boolean {
    const byClock = (hole: Hole) => judge(hole, now, this.#rules, NOBODY).kind === 'release';
    return plan(watermark, rows, holes, byClock).crossed.length > 0;
  }

  async #commit(
    cursor: Cursor,
    findings: Findings,
    messages: readonly ReadMessage[],
    now: number,
  ): Promise<void> {
    const { database, fence, options, logger, metrics, onProgress, recentTexts } = this.#on;
    const { watermark, crossed } = findings.plan;
    const open = findings.holes.filter(({ from }) => from > watermark);
    const changes = holeChanges(findings.known, open, crossed, now);
    const holeSince = holeAbove(watermark, open)?.firstSeenAt ?? null;
    const moved = watermark !== cursor.watermark;
    if (!moved && holeSince === cursor.holeSince && changes.none) {
      await this.#touch(now);
    } else {
      const inserted = await database.transaction(
        async (tx) => {
          const ids = await enqueueMessages(tx, messages, { now, late: false, shadow: options.shadow });
          await deleteHoles(tx, changes.remove);
          await insertHoles(tx, changes.insert);
          await advanceCursor(tx, cursor.watermark, { watermark, holeSince, polledAt: now });
          failpoint('inbox.written');
          return new Set(ids);
        },
        { fence: fence() },
      );
      failpoint('inbox.committed');
      recentTexts?.hold(messages.filter(({ id }) => inserted.has(id)));
      if (open.length > 0) {
        failpoint('hole.waiting');
      }
      this.#touchedAt = now;
      const released = crossed.reduce((ids, { from, to }) => ids + (to - from + 1n), 0n);
      if (crossed.length > 0) {
        failpoint('hole.passed');
        logger.warn(
          {
            ids: released,
            holes: crossed.length,
            forced: findings.forced,
            from: crossed[0]?.from,
            to: crossed.at(-1)?.to,
          },
          'holes released as permanently missing',
        );
      }
      metrics.permanentHoles.inc(Number(released));
      if (moved) onProgress?.({ enqueued: inserted.size, released, watermark });
    }
    this.#showWatermark(watermark);
    this.#showHole(holeSince, now);
  }

  /** When the clock lets W pass the gap that stopped it. */
  #ripeAt(holes: readonly Hole[], now: number): number {
    const times = holes.map((hole) => {
      const verdict = judge(hole, now, this.#rules, NOBODY);
      return verdict.kind === 'wait' ? verdict.until : now + this.#on.options.pollIntervalMs;
    });
    return Math.max(...times);
  }

  async #touch(now: number): Promise<void> {
    if (now - this.#touchedAt < TOUCH_MS) return;
    await this.#on.database.transaction((tx) => touchCursor(tx, now), {
      fence: this.#on.fence(),
      asynchronous: true,
    });
    this.#touchedAt = now;
  }

  #showWatermark(watermark: bigint): void {
    const { metrics } = this.#on;
    metrics.watermark.set(Number(watermark));
    metrics.watermarkLag.set(this.#highest > watermark ? Number(this.#highest - watermark) : 0);
  }

  #showHole(since: number | null, now: number): void {
    this.#on.metrics.holeAge.set(since === null ? 0 : Math.max(0, now - since) / 1000);
  }
}

const NOBODY: ReadonlySet<string> = new Set();

function ascending(a: Hole, b: Hole): number {
  return a.from < b.from ? -1 : 1;
}

/** Holes less the rows found in them; the parts keep their first sight. */
function withoutRows(holes: readonly Hole[], rows: readonly MailboxRow[]): readonly Hole[] {
  return reconcile(
    holes,
    rows.map(({ id }) => ({ after: id - 1n, through: id, gaps: [] })),
  ).kept;
}
