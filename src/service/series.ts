/**
 * Throughput, latency and backlog of the last hours from our own database, without Prometheus. What is over does not
 * change: it is read once, and after that only the newest buckets; so a page that is open costs little.
 */
import type { Database } from '../store/database.ts';
import { databaseNow } from '../store/lease.ts';
import {
  countBacklog,
  selectEventBuckets,
  selectMessageBuckets,
  type EventBucket,
  type MessageBucket,
} from '../store/series.ts';

/** How far back, and in which steps, s. */
export const SPANS = {
  hour: { seconds: 3_600, bucketSeconds: 60 },
  day: { seconds: 86_400, bucketSeconds: 900 },
} as const;
export type SeriesSpan = keyof typeof SPANS;

/** Values per bucket, oldest first; the newest bucket is not over yet. */
export interface SeriesDocument {
  readonly span: SeriesSpan;
  readonly bucketSeconds: number;
  /** Begins of the buckets, s since 1970. */
  readonly at: readonly number[];
  /** Messages enqueued and ended, events of KAFKA:msg sent, in each bucket. */
  readonly enqueued: readonly number[];
  readonly finished: readonly number[];
  readonly sent: readonly number[];
  /** Messages that had not ended at the end of each bucket. */
  readonly backlog: readonly number[];
  /** Enqueued to ended, and event made to acknowledged, ms; null where there was none. */
  readonly process: { readonly p50: readonly (number | null)[]; readonly p99: readonly (number | null)[] };
  readonly deliver: { readonly p50: readonly (number | null)[]; readonly p99: readonly (number | null)[] };
}

/** What was read, by the begin of the bucket, and from which bucket on it is complete. */
interface Kept {
  readonly from: number;
  readonly messages: ReadonlyMap<number, MessageBucket>;
  readonly events: ReadonlyMap<number, EventBucket>;
}

/** An answer stands for so long, ms. */
const FRESH_MS = 5_000;
/** Everything is read anew after this, ms: replays and restores change what was over. */
const WHOLE_MS = 600_000;

/** Reads the series, many callers at once costing as much as one. */
export class SeriesReader {
  readonly #database: Database;
  readonly #kept = new Map<SeriesSpan, { readonly at: number; readonly kept: Kept }>();
  readonly #answers = new Map<
    SeriesSpan,
    { readonly at: number; readonly answer: Promise<SeriesDocument> }
  >();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Throws Outage where our own database is not available. */
  async read(span: SeriesSpan): Promise<SeriesDocument> {
    const known = this.#answers.get(span);
    if (known !== undefined && performance.now() - known.at < FRESH_MS) return known.answer;
    const answer = this.#read(span);
    this.#answers.set(span, { at: performance.now(), answer });
    // A failure is told to those who waited for it and is not kept.
    answer.catch(() => this.#answers.delete(span));
    return answer;
  }

  async #read(span: SeriesSpan): Promise<SeriesDocument> {
    const { seconds, bucketSeconds } = SPANS[span];
    const now = Math.floor((await databaseNow(this.#database)) / 1_000);
    const newest = now - (now % bucketSeconds);
    const first = newest - seconds + bucketSeconds;
    const before = this.#kept.get(span);
    const usable = before !== undefined && performance.now() - before.at < WHOLE_MS;
    // The bucket that was the newest then is read again, and the one before: transactions under way ended in it.
    const from = usable ? Math.max(first, before.kept.from - bucketSeconds) : first;
    const range = { from, bucketSeconds };
    const [messages, events, backlog] = await Promise.all([
      selectMessageBuckets(this.#database, range),
      selectEventBuckets(this.#database, range),
      countBacklog(this.#database),
    ]);
    const kept: Kept = {
      from: newest,
      messages: joined(usable ? before.kept.messages : null, messages, first, from),
      events: joined(usable ? before.kept.events : null, events, first, from),
    };
    this.#kept.set(span, { at: usable ? before.at : performance.now(), kept });
    return document(span, first, kept, backlog);
  }
}

/** Older buckets of the range, and the newly read ones. */
function joined<Bucket extends { readonly at: number }>(
  before: ReadonlyMap<number, Bucket> | null,
  read: readonly Bucket[],
  first: number,
  from: number,
): ReadonlyMap<number, Bucket> {
  const older = [...(before?.values() ?? [])].filter(({ at }) => at >= first && at < from);
  return new Map([...older, ...read].map((bucket) => [bucket.at, bucket]));
}

function document(
  span: SeriesSpan,
  first: number,
  { messages, events }: Kept,
  backlogNow: number,
): SeriesDocument {
  const { seconds, bucketSeconds } = SPANS[span];
  const at = Array.from({ length: seconds / bucketSeconds }, (_, index) => first + index * bucketSeconds);
  const rows = at.map((begin) => ({ message: messages.get(begin), event: events.get(begin) }));
  const enqueued = rows.map(({ message }) => message?.enqueued ?? 0);
  const finished = rows.map(({ message }) => message?.finished ?? 0);
  // What waits now is known; before each bucket it was less by what came in it, and more by what ended in it.
  let waiting = backlogNow;
  const backlog = at
    .map((_, index) => {
      const atEnd = waiting;
      const place = at.length - 1 - index;
      waiting = Math.max(0, waiting - (enqueued[place] ?? 0) + (finished[place] ?? 0));
      return atEnd;
    })
    .reverse();
  return {
    ...{ span, bucketSeconds, at, enqueued, finished, backlog },
    sent: rows.map(({ event }) => event?.sent ?? 0),
    process: {
      p50: rows.map(({ message }) => message?.p50 ?? null),
      p99: rows.map(({ message }) => message?.p99 ?? null),
    },
    deliver: {
      p50: rows.map(({ event }) => event?.p50 ?? null),
      p99: rows.map(({ event }) => event?.p99 ?? null),
    },
  };
}
