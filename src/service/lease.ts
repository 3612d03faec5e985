/**
 * The lease of the one active instance (PRE-5; decisions.md, "One active instance, fenced"): acquired by
 * raising the epoch of an expired row, renewed each second, lost where it cannot be renewed in time.
 */
import { failpoint } from '#failpoint';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../runtime/log.ts';
import { messageOf } from '../runtime/outage.ts';
import type { Database } from '../store/database.ts';
import type { Fence } from '../store/transaction.ts';
import {
  databaseNow,
  raiseEpoch,
  releaseLease,
  renewLease,
  selectLease,
  serialiseTakeover,
  terminateSessions,
} from '../store/lease.ts';

/** Time to live, ms, by database time. */
export const LEASE_TTL_MS = 4_000;
const RENEW_EVERY_MS = 1_000;
const LOOK_EVERY_MS = 400;

export interface LeaseOptions {
  /** A database of its own with one short-lived deadline, so that renewals never queue behind stations. */
  readonly database: Database;
  /** Unique name of this instance; also the application name of the sessions that its stations use. */
  readonly holder: string;
  /** PIDs of the sessions that hold locks for the stations, kept in the lease for people to see. */
  readonly backendPids: () => readonly number[];
  readonly log: Log;
  /** Told why it waits for the lease, at each change. */
  readonly onWaiting?: (why: 'standby' | 'outage') => void;
}

/** A lease that is held. */
export interface HeldLease {
  readonly fence: Fence;
  /** Database time when it was acquired, ms: the clock is anchored to it. */
  readonly now: number;
  /** Resolves when the lease is lost; never rejects. */
  readonly lost: Promise<void>;
  /** Stops renewing and gives the lease back. */
  release(): Promise<void>;
}

/**
 * Waits as a standby until the lease is free and takes it. Returns null where the signal aborts first.
 * A database that cannot be reached is waited for, with one log line per change of state.
 */
export async function acquireLease(options: LeaseOptions, signal: AbortSignal): Promise<HeldLease | null> {
  let waiting: 'standby' | 'outage' | null = null;
  while (!signal.aborted) {
    try {
      const seen = await selectLease(options.database);
      const held = seen.expired ? await takeOver(options, seen.epoch) : null;
      if (held !== null) return held;
      if (waiting !== 'standby') {
        options.log.info({ holder: seen.holder }, 'standby: another instance is active');
        waiting = 'standby';
        options.onWaiting?.(waiting);
      }
    } catch (error) {
      if (waiting !== 'outage') {
        options.log.warn({ error: messageOf(error) }, 'standby: own database is not available, waiting');
        waiting = 'outage';
        options.onWaiting?.(waiting);
      }
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  return null;
}

async function takeOver(options: LeaseOptions, epoch: bigint): Promise<HeldLease | null> {
  const { database, holder, log } = options;
  const startedAt = performance.now();
  const raised = await database.transaction(async (tx) => {
    if (!(await serialiseTakeover(tx))) return null;
    const former = await selectLease(tx);
    if (!former.expired || former.epoch !== epoch) return null;
    if (former.holder !== null) await terminateSessions(tx, former.holder);
    return raiseEpoch(tx, epoch, holder, LEASE_TTL_MS);
  });
  if (raised === null) return null;
  failpoint('lease.raised');
  const now = await databaseNow(database);
  log.info({ epoch: raised.toString() }, 'active: lease acquired');
  return hold(options, { epoch: raised }, now, startedAt);
}

function hold(options: LeaseOptions, fence: Fence, now: number, startedAt: number): HeldLease {
  const { database, holder, log } = options;
  const stop = new AbortController();
  let tell: () => void = () => undefined;
  const lost = new Promise<void>((resolve) => {
    tell = resolve;
  });
  // Measured from before each renewal was asked for, by the monotonic timer: never later than the database's own.
  let deadline = startedAt + LEASE_TTL_MS;
  const renewing = (async () => {
    while (!stop.signal.aborted) {
      try {
        // Near the deadline the rest is shorter: what cannot be renewed by then is lost then, not a rest later.
        const left = Math.max(0, deadline - performance.now());
        await sleep(Math.min(RENEW_EVERY_MS, left), undefined, { signal: stop.signal });
      } catch {
        return;
      }
      const asked = performance.now();
      try {
        const renewal = renewLease(database, fence.epoch, holder, LEASE_TTL_MS, options.backendPids());
        // A silent connection answers nothing: the lease ends at its deadline, not at that of the statement.
        if (!(await within(renewal, deadline - asked))) {
          log.warn({}, 'lease lost: another instance is active');
          tell();
          return;
        }
        deadline = asked + LEASE_TTL_MS;
      } catch (error) {
        // Timers may fire a fraction of a millisecond early.
        if (deadline - performance.now() > 1) continue;
        log.warn({ error: messageOf(error) }, 'lease lost: it could not be renewed in time');
        tell();
        return;
      }
    }
  })();
  return {
    fence,
    now,
    lost,
    release: async () => {
      stop.abort();
      await renewing;
      failpoint('lease.releasing');
      await releaseLease(database, fence.epoch, holder).catch(() => undefined);
    },
  };
}

/**
 * The promise's result, or an error where it takes longer than that; a late rejection is nobody's business. Where the
 * time is over already (a negative time, of which Node would warn on stderr), nothing but an answer that is there counts.
 */
async function within<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  promise.catch(() => undefined);
  const timer = new AbortController();
  const late = sleep(Math.max(0, milliseconds), undefined, { signal: timer.signal }).then(() => {
    throw new Error('no answer before the lease ran out');
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    timer.abort();
  }
}
