/** Gauges that tell the state of the pipeline: read when they are scraped, from the same status as everybody sees. */
import type { ErrorClass } from '../domain/outcome.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { Outage } from '../runtime/outage.ts';
import type { StatusDocument, StatusReader } from './status.ts';

/** Classes in which a message ends DEAD. */
const DEAD_CLASSES: readonly ErrorClass[] = ['MALFORMED', 'PROTOCOL', 'EXHAUSTED'];

/** What only the running stations know; times in ms of the clock. */
export interface StationTimes {
  readonly now: number;
  readonly lastAckAt: number | null;
  readonly mailboxReadAt: number | null;
}

/** Sets every gauge; where our database is not available they stay as they are and the ages grow. */
export async function refreshGauges(
  metrics: Metrics,
  reader: StatusReader,
  times: StationTimes,
): Promise<void> {
  const age = (at: number | null) => (at === null ? 0 : Math.max(0, (times.now - at) / 1000));
  metrics.ackAge.set(age(times.lastAckAt));
  metrics.mailboxReadAge.set(age(times.mailboxReadAt));
  let status: StatusDocument;
  try {
    status = await reader.read();
  } catch (error) {
    if (error instanceof Outage) return;
    throw error;
  }
  const since = (iso: string | null) => age(iso === null ? null : Date.parse(iso));
  const { inbox, head, counts, outbox, backfill, last } = status;
  metrics.watermark.set(Number(inbox.watermark));
  metrics.watermarkLag.set(inbox.lag);
  metrics.holeAge.set(since(inbox.holeSince));
  metrics.oldestUnprocessed.set(since(head?.enqueuedAt ?? null));
  metrics.headBlocked.set(head?.state === 'FAILED' ? since(head.enqueuedAt) : 0);
  metrics.lastMessageAge.set(since(last.enqueuedAt));
  for (const { target, pending, oldestSeconds } of outbox) {
    metrics.outboxPending.set({ target }, pending);
    metrics.outboxOldest.set({ target }, oldestSeconds);
  }
  metrics.deadEvents.set(outbox.reduce((sum, { dead }) => sum + dead, 0));
  metrics.backfillOwed.set(backfill.owed);
  for (const [reason, marks] of Object.entries(backfill.abandoned))
    metrics.backfillAbandoned.set({ reason }, marks);
  for (const [state, requests] of Object.entries(status.requests.byState))
    metrics.requests.set({ state }, requests);
  for (const { job, failures, startedAt, endedAt } of status.jobs) {
    metrics.jobFailures.set({ job }, failures);
    // A first run that never comes to its end is as old as its beginning.
    metrics.jobAge.set({ job }, since(endedAt ?? startedAt));
  }
  // All of them from the start: an alarm on a rise would not see a series that begins at 1.
  for (const errorClass of DEAD_CLASSES)
    metrics.deadMessages.set({ class: errorClass }, counts.byClass[errorClass] ?? 0);
  metrics.deadSchedules.set(counts.deadSchedules);
  metrics.stationPaused.reset();
  for (const { name, state, by } of status.stations) {
    const paused = state === 'paused' || state === 'outage';
    metrics.stationPaused.set({ station: name, by: paused ? (by ?? 'operator') : 'none' }, paused ? 1 : 0);
  }
}
