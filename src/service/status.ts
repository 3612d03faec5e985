/**
 * The status of a pipeline: role, watermark, holes, head of line and why it waits, counts, outbox, backfill,
 * pauses, last times (contract, "msgx status"). One document for the CLI, the API and the live stream.
 */
import type { Config } from '../config/schema.ts';
import type { Mailbox } from '../mailbox/port.ts';
import type { StationName } from '../runtime/station.ts';
import { STATIONS } from '../runtime/station.ts';
import type { Database } from '../store/database.ts';
import { readCursor } from '../store/inbox-cursor.ts';
import { selectOpenHoles } from '../store/inbox-hole.ts';
import { countReports } from '../store/error-report.ts';
import { databaseNow, selectLease } from '../store/lease.ts';
import { countRequests, type RequestState } from '../store/req-track.ts';
import { selectJobs, type JobRow } from '../store/upkeep-job.ts';
import {
  countDeadSchedules,
  countDelivered,
  countDone,
  countHoles,
  countMarks,
  countOutbox,
  countUnfinished,
  selectHead,
  selectLastTimes,
  selectPauses,
  type DoneCount,
  type HeadRow,
  type MessageCount,
} from '../store/status.ts';
import { toMillis, toMillisOrNull, toTimestamp } from '../store/time.ts';
import { JOBS } from '../upkeep/jobs/job.ts';
import { VERSION } from './version.ts';

/** How a station stands. */
export interface StationStatus {
  readonly name: StationName;
  readonly state: 'running' | 'paused' | 'outage' | 'stopped';
  readonly by: string | null;
  readonly reason: string | null;
  readonly since: string | null;
  readonly perMinute: number;
}

/** A hole above the watermark. */
export interface HoleStatus {
  readonly from: string;
  readonly to: string;
  readonly ids: string;
  readonly firstSeenAt: string;
  /** When it may be released by the clock; a living writer can hold it longer. */
  readonly releasesAt: string;
  /** Whether that time has passed and a writer still holds it. */
  readonly held: boolean;
}

/** The head of line and why it waits. */
export interface HeadStatus {
  readonly msgId: string;
  readonly type: string | null;
  readonly styp: string | null;
  readonly state: 'PENDING' | 'FAILED';
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly errorClass: string | null;
  readonly lastError: string | null;
  readonly nextAttemptAt: string | null;
  readonly enqueuedAt: string;
  readonly why: string;
}

/** An upkeep job: its last run, the next one, and what keeps it from working. */
export interface JobStatus {
  readonly job: string;
  /** `due` also where it has not run yet. */
  readonly state: 'running' | 'waiting' | 'due' | 'failing';
  readonly startedAt: string | null;
  /** End of the last run that came to its end. */
  readonly endedAt: string | null;
  /** Null: at once. */
  readonly nextAt: string | null;
  /** Rows of the run underway or of the last one, and of all. */
  readonly rows: number;
  readonly rowsTotal: number;
  readonly failures: number;
  readonly error: string | null;
}

export interface StatusDocument {
  readonly airport: string;
  readonly timeZone: string;
  readonly version: string;
  /** This instance, or for the CLI: active where some instance holds the lease. */
  readonly role: 'active' | 'standby' | 'none';
  readonly now: string;
  readonly shadow: boolean;
  readonly stations: readonly StationStatus[];
  readonly inbox: {
    readonly watermark: string;
    readonly seed: string;
    readonly seeded: boolean;
    readonly highest: string | null;
    readonly lag: number;
    readonly holeSince: string | null;
    readonly holes: readonly HoleStatus[];
    readonly permanentHoles: number;
    readonly lateArrivals: number;
    readonly readAt: string | null;
  };
  readonly head: HeadStatus | null;
  readonly counts: {
    readonly byState: Readonly<Record<string, number>>;
    readonly byClass: Readonly<Record<string, number>>;
    readonly deadSchedules: number;
  };
  readonly outbox: readonly {
    readonly target: string;
    readonly pending: number;
    readonly oldestSeconds: number;
    /** Events sent and still kept; for schd, flights whose newest state is told. */
    readonly sent: number;
    readonly dead: number;
  }[];
  readonly backfill: {
    readonly owed: number;
    readonly confirmed: number;
    readonly abandoned: Readonly<Record<'MISSING_ROW' | 'TRANSIENT_DEADLINE', number>>;
  };
  readonly requests: {
    readonly byState: Readonly<Record<RequestState, number>>;
    /** Error reports: queued, and in COUTMSGS. */
    readonly reports: { readonly waiting: number; readonly sent: number };
  };
  readonly jobs: readonly JobStatus[];
  readonly last: {
    readonly enqueuedAt: string | null;
    readonly processedAt: string | null;
    readonly sentAt: string | null;
    readonly markedAt: string | null;
  };
}

/** What only the running service knows. */
export interface LiveView {
  readonly role: 'active' | 'standby';
  stations(): readonly StationStatus[];
}

/** Most holes listed; the rest are counted by their release times anyway. */
const HOLES_SHOWN = 50;
/** Age up to which counts of finished messages may be old, ms: they cost a scan. */
const DONE_CACHE_MS = 5_000;

/** The costly counts and when they were taken, monotonic ms. */
interface Done {
  readonly at: number;
  readonly messages: readonly MessageCount[];
  readonly delivered: DoneCount;
}

/** Gathers the status; keeps the costly counts for some seconds. */
export class StatusReader {
  readonly #config: Config;
  readonly #database: Database;
  readonly #mailbox: Mailbox;
  readonly #live: LiveView | null;
  #done: Done | null = null;

  constructor(config: Config, database: Database, mailbox: Mailbox, live: LiveView | null) {
    this.#config = config;
    this.#database = database;
    this.#mailbox = mailbox;
    this.#live = live;
  }

  /** Throws Outage where our own database is not available; the mailbox may be away. */
  async read(): Promise<StatusDocument> {
    const db = this.#database;
    const [
      now,
      lease,
      cursor,
      holes,
      holeCounts,
      head,
      unfinished,
      done,
      deadSchedules,
      outbox,
      marks,
      requests,
      reports,
      last,
      pauses,
      jobs,
    ] = await Promise.all([
      databaseNow(db),
      selectLease(db),
      readCursor(db),
      selectOpenHoles(db),
      countHoles(db),
      selectHead(db),
      countUnfinished(db),
      this.#countDone(),
      countDeadSchedules(db),
      countOutbox(db),
      countMarks(db),
      countRequests(db),
      countReports(db),
      selectLastTimes(db),
      selectPauses(db),
      selectJobs(db),
    ]);
    const highest = await this.#mailbox.bounds().then(
      (bounds) => bounds?.max ?? null,
      () => null,
    );
    const counts = [...unfinished, ...done.messages];
    const held = !lease.expired;
    return {
      airport: this.#config.airport,
      timeZone: this.#config.timeZone,
      version: VERSION,
      role: this.#live?.role ?? (held ? 'active' : 'none'),
      now: toTimestamp(now),
      shadow: this.#config.pipeline.shadow,
      stations:
        this.#live?.stations() ??
        STATIONS.map((name) => {
          const pause = pauses.find(({ station }) => station === name);
          return {
            name,
            state: pause !== undefined ? 'paused' : held ? 'running' : 'stopped',
            by: pause?.by ?? null,
            reason: pause?.reason ?? (held ? null : 'no instance is running'),
            since: pause === undefined ? null : iso(pause.since),
            perMinute: 0,
          };
        }),
      inbox: {
        watermark: cursor.watermark.toString(),
        seed: cursor.seed.toString(),
        seeded: cursor.seededAt !== null,
        highest: highest?.toString() ?? null,
        lag: highest === null || highest <= cursor.watermark ? 0 : Number(highest - cursor.watermark),
        holeSince: cursor.holeSince === null ? null : toTimestamp(cursor.holeSince),
        holes: holes.slice(0, HOLES_SHOWN).map((hole) => {
          const releasesAt = hole.firstSeenAt + this.#config.pipeline.maxCommitDelayMs;
          return {
            from: hole.from.toString(),
            to: hole.to.toString(),
            ids: (hole.to - hole.from + 1n).toString(),
            firstSeenAt: toTimestamp(hole.firstSeenAt),
            releasesAt: toTimestamp(releasesAt),
            held: releasesAt + 2 * this.#config.pipeline.pollIntervalMs < now,
          };
        }),
        permanentHoles: Number(holeCounts.permanentIds),
        lateArrivals: holeCounts.lateArrivals,
        readAt: cursor.polledAt === null ? null : toTimestamp(cursor.polledAt),
      },
      head: head === null ? null : this.#head(head, cursor.watermark, now, pauses),
      counts: {
        byState: tally(counts, ({ state }) => state, {
          PENDING: 0,
          FAILED: 0,
          SUCCEEDED: 0,
          SKIPPED: 0,
          DEAD: 0,
        }),
        byClass: tally(
          counts.filter(({ state }) => state === 'DEAD'),
          ({ errorClass }) => errorClass ?? 'UNKNOWN',
          {},
        ),
        deadSchedules,
      },
      outbox: outbox.map(({ target, pending, dead, oldest }) => {
        const since = toMillisOrNull(oldest);
        const sent = target === 'KAFKA:msg' ? done.delivered.sentMsg : done.delivered.sentSchd;
        return {
          target,
          pending,
          sent,
          dead,
          oldestSeconds: since === null ? 0 : Math.max(0, (now - since) / 1000),
        };
      }),
      backfill: {
        owed: marks.owed,
        confirmed: done.delivered.confirmedMarks,
        abandoned: { MISSING_ROW: marks.missingRow, TRANSIENT_DEADLINE: marks.transientDeadline },
      },
      requests: { byState: requests, reports },
      jobs: JOBS.map((job) => jobStatus(job, jobs.find((row) => row.job === job) ?? null, now)),
      last: {
        enqueuedAt: isoOrNull(last.enqueuedAt),
        processedAt: isoOrNull(last.processedAt),
        sentAt: isoOrNull(last.sentAt),
        markedAt: isoOrNull(last.markedAt),
      },
    };
  }

  async #countDone(): Promise<Done> {
    if (this.#done !== null && performance.now() - this.#done.at < DONE_CACHE_MS) return this.#done;
    const messages = await countDone(this.#database);
    const delivered = await countDelivered(this.#database);
    this.#done = { at: performance.now(), messages, delivered };
    return this.#done;
  }

  #head(
    head: HeadRow,
    watermark: bigint,
    now: number,
    pauses: readonly { readonly station: string; readonly by: string; readonly reason: string }[],
  ): HeadStatus {
    const nextAttemptAt = toMillisOrNull(head.nextAttemptAt);
    return {
      msgId: head.msgId.toString(),
      type: head.type,
      styp: head.styp,
      state: head.state,
      attempts: head.attempts,
      maxAttempts: this.#config.pipeline.retry.maxAttempts,
      errorClass: head.errorClass,
      lastError: head.lastError,
      nextAttemptAt: nextAttemptAt === null ? null : toTimestamp(nextAttemptAt),
      enqueuedAt: iso(head.enqueuedAt),
      why: why(
        head,
        nextAttemptAt,
        watermark,
        now,
        pauses.find(({ station }) => station === 'pump'),
      ),
    };
  }
}

function jobStatus(job: string, row: JobRow | null, now: number): JobStatus {
  const [startedAt, endedAt] = [row?.startedAt ?? null, row?.endedAt ?? null];
  const failing = row !== null && row.failures > 0;
  const underway = startedAt !== null && (endedAt === null || endedAt < startedAt);
  const due = row === null || row.nextAt <= now;
  return {
    job,
    state: failing ? 'failing' : underway ? 'running' : due ? 'due' : 'waiting',
    startedAt: startedAt === null ? null : toTimestamp(startedAt),
    endedAt: endedAt === null ? null : toTimestamp(endedAt),
    nextAt: row === null || (underway && !failing) ? null : toTimestamp(row.nextAt),
    rows: row?.rowsRun ?? 0,
    rowsTotal: row?.rowsTotal ?? 0,
    failures: row?.failures ?? 0,
    error: row?.error ?? null,
  };
}

/** Why the head of line waits, in one line. */
function why(
  head: HeadRow,
  nextAttemptAt: number | null,
  watermark: bigint,
  now: number,
  pause: { readonly by: string; readonly reason: string } | undefined,
): string {
  if (pause !== undefined) return `the pump is paused by ${pause.by}: ${pause.reason}`;
  if (head.msgId > watermark) {
    return `it is above the watermark ${watermark.toString()}: smaller IDs have not been read in yet`;
  }
  if (head.state === 'FAILED' && nextAttemptAt !== null && nextAttemptAt > now) {
    const seconds = Math.ceil((nextAttemptAt - now) / 1000);
    return `attempt ${String(head.attempts)} failed (${head.lastError ?? 'unknown'}); next in ${String(seconds)} s`;
  }
  return 'it is next';
}

function tally(
  counts: readonly MessageCount[],
  keyOf: (count: MessageCount) => string,
  start: Readonly<Record<string, number>>,
): Record<string, number> {
  const totals: Record<string, number> = { ...start };
  for (const count of counts) totals[keyOf(count)] = (totals[keyOf(count)] ?? 0) + count.messages;
  return totals;
}

function iso(timestamp: string): string {
  return toTimestamp(toMillis(timestamp));
}

function isoOrNull(timestamp: string | null): string | null {
  return timestamp === null ? null : iso(timestamp);
}
