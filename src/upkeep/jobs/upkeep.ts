/**
 * Runs the upkeep jobs of the active instance, one batch per round and one job at a time: beside the line, never in it.
 * A job that fails is tried again later and keeps neither the other jobs nor any station from their work.
 */
import { failpoint } from '#failpoint';
import { LostLease, Outage, messageOf } from '../../runtime/outage.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { restUntil, type Round } from '../../runtime/station.ts';
import {
  beginJob,
  endJob,
  failJob,
  progressJob,
  selectJobs,
  selectLineLoad,
} from '../../store/upkeep-job.ts';
import { flightRun, messageRun } from './archives.ts';
import { JOBS, type JobContext, type JobName, type Run } from './job.ts';
import { eventRun, requestRun, textRun, traceRun } from './retentions.ts';
import { BUSY, INTERVAL_MS, isBusy, LATER_MS, nextRun, nextTry, restAfter } from './schedule.ts';

/** Pause before the line is looked at again, where it is behind, ms. */
const YIELD_MS = 1_000;

const RUNS: Readonly<Record<JobName, (context: JobContext) => Run>> = {
  flights: flightRun,
  messages: messageRun,
  texts: textRun,
  events: eventRun,
  'snap-log': traceRun,
  requests: requestRun,
};

export interface UpkeepOptions extends JobContext {
  readonly metrics: Metrics;
  /** Between two runs of a job, ms. Default: an hour. */
  readonly intervalMs?: number;
}

interface Underway {
  readonly job: JobName;
  readonly run: Run;
  seconds: number;
}

export class Upkeep {
  readonly #options: UpkeepOptions;
  readonly #nextAt = new Map<JobName, number>();
  readonly #failures = new Map<JobName, number>();
  #known = false;
  #underway: Underway | null = null;

  constructor(options: UpkeepOptions) {
    this.#options = options;
  }

  /** One batch of the job whose turn it is, or nothing. Throws Outage and LostLease. */
  async round(): Promise<Round> {
    const { database, clock } = this.#options;
    if (!this.#known) await this.#remember();
    const now = clock.now();
    const job = this.#underway?.job ?? this.#due(now);
    if (job === null) return restUntil(Math.min(...JOBS.map((name) => this.#nextAt.get(name) ?? now)));
    if (isBusy(await selectLineLoad(database, BUSY.backlog, now), now)) return restUntil(now + YIELD_MS);
    const at = performance.now();
    try {
      await this.#work(job);
    } catch (error) {
      if (error instanceof Outage || error instanceof LostLease) throw error;
      await this.#fail(job, error);
    }
    return restUntil(clock.now() + restAfter(performance.now() - at));
  }

  async #remember(): Promise<void> {
    for (const row of await selectJobs(this.#options.database)) {
      const job = JOBS.find((name) => name === row.job);
      if (job === undefined) continue;
      this.#nextAt.set(job, row.nextAt);
      this.#failures.set(job, row.failures);
    }
    this.#known = true;
  }

  /** The job that has waited longest; one that never ran is due. */
  #due(now: number): JobName | null {
    const due = JOBS.filter((job) => (this.#nextAt.get(job) ?? 0) <= now);
    return due.sort((a, b) => (this.#nextAt.get(a) ?? 0) - (this.#nextAt.get(b) ?? 0))[0] ?? null;
  }

  async #work(job: JobName): Promise<void> {
    const { database, fence, clock, metrics, log, intervalMs } = this.#options;
    const started = performance.now();
    if (this.#underway === null) {
      await database.transaction((tx) => beginJob(tx, job, clock.now()), { fence });
      failpoint('upkeep.begun');
      this.#underway = { job, run: RUNS[job](this.#options), seconds: 0 };
    }
    const underway = this.#underway;
    const { rows, end } = await underway.run.batch(async (tx, rows) => {
      await progressJob(tx, job, rows);
      failpoint('upkeep.written');
    });
    failpoint('upkeep.committed');
    metrics.jobRows.inc({ job }, rows);
    if ((this.#failures.get(job) ?? 0) > 0) log.info({ job }, 'upkeep job goes on');
    this.#failures.set(job, 0);
    if (end !== null) {
      const now = clock.now();
      const interval = nextRun(now, intervalMs ?? INTERVAL_MS);
      const nextAt = end === 'for-now' ? Math.min(now + LATER_MS, interval) : interval;
      await database.transaction((tx) => endJob(tx, job, now, nextAt), { fence });
      failpoint('upkeep.ended');
      this.#nextAt.set(job, nextAt);
      this.#underway = null;
    }
    underway.seconds += (performance.now() - started) / 1000;
    if (end !== null) metrics.jobSeconds.observe({ job }, underway.seconds);
  }

  async #fail(job: JobName, error: unknown): Promise<void> {
    const { database, fence, clock, log, intervalMs } = this.#options;
    const failures = (this.#failures.get(job) ?? 0) + 1;
    const now = clock.now();
    const nextAt = nextTry(now, failures, intervalMs ?? INTERVAL_MS);
    this.#underway = null;
    this.#failures.set(job, failures);
    this.#nextAt.set(job, nextAt);
    log.error({ job, failures, err: error }, 'upkeep job failed: it is tried again');
    const failure = { now, nextAt, error: messageOf(error) };
    await database.transaction((tx) => failJob(tx, job, failure), { fence });
  }
}
