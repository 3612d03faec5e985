/**
 * Sends current states again to the target of newest states: precheck, then the rows of the outbox made pending in
 * small transactions, so that the pump never waits long for one of them. Delivery tells them a flush at a time, behind
 * what has changed. To repeat it, also while it is underway, does no harm: what is pending stays as it is.
 */
import type { Database } from '../store/database.ts';
import type { Queryable } from '../store/statement.ts';
import { chunksOf } from '../store/chunks.ts';
import { insertAudit } from '../store/op-audit.ts';
import { replacePartitionCount, selectPartitionCounts } from '../store/partition-count.ts';
import {
  rearmLatestStates,
  selectRepublishCandidates,
  type RepublishCandidate,
  type RepublishScope,
} from '../store/republish.ts';
import { toTimestamp } from '../store/time.ts';
import type { ActionOutcome, Operator } from './outcome.ts';

/** Rows of one transaction. */
const BATCH = 500;

/** At which rate delivery tells them: a flush per interval. */
export interface RepublishRate {
  readonly flushLimit: number;
  readonly flushIntervalMs: number;
}

/** What a republish would do, or has done. */
export interface RepublishPlan {
  /** As in the audit: `flid:F`, `day:D` or `all`. */
  readonly target: string;
  readonly flights: number;
  /** Deleted ones among them: they get their tombstone again. */
  readonly deleted: number;
  /** Not told yet in any case. */
  readonly alreadyPending: number;
  /** About how long it takes to tell them, s. */
  readonly seconds: number;
}

export type RepublishOutcome =
  | { readonly outcome: 'planned'; readonly message: string; readonly plan: RepublishPlan }
  | { readonly outcome: 'done'; readonly message: string; readonly plan: RepublishPlan }
  | { readonly outcome: 'refused'; readonly message: string };

export interface RepublishRequest {
  readonly scope: RepublishScope;
  readonly rate: RepublishRate;
  /** Says what would be done and does nothing. */
  readonly dryRun: boolean;
}

/** Makes the current states of the flights in scope pending again. Throws Outage. */
export async function republish(
  database: Database,
  { scope, rate, dryRun }: RepublishRequest,
  { who, reason, now }: Operator,
): Promise<RepublishOutcome> {
  const chosen = await selectRepublishCandidates(database, scope);
  const target = targetOf(scope);
  if (chosen.length === 0) return { outcome: 'refused', message: nothingFor(scope) };
  const plan = planOf(chosen, target, rate);
  if (dryRun) return { outcome: 'planned', message: `would republish ${describe(plan, rate)}`, plan };
  const before = tally(chosen);
  let first = true;
  for (const part of chunksOf(chosen, BATCH)) {
    const flids = part.map(({ flid }) => flid);
    await database.transaction(async (tx) => {
      // With the first rows: should the rest fail, it is known who has begun it.
      if (first) {
        const after = { pending: chosen.length };
        await insertAudit(tx, { at: now, who, action: 'republish', target, reason, before, after });
      }
      await rearmLatestStates(tx, flids, toTimestamp(now));
    });
    first = false;
  }
  return { outcome: 'done', message: `republishing ${describe(plan, rate)}`, plan };
}

/**
 * Takes the numbers of partitions that the brokers report now in the place of the stored ones, so that delivery goes
 * on. What it means for consumers is in the runbook. Throws Outage.
 *
 * @param found by topic, as the brokers report them
 */
export async function acceptPartitions(
  database: Database,
  found: ReadonlyMap<string, number>,
  { who, reason, now }: Operator,
): Promise<ActionOutcome> {
  return database.transaction(async (tx): Promise<ActionOutcome> => {
    const changed = await changedCounts(tx, found);
    for (const { topic, from, to } of changed) {
      if (!(await replacePartitionCount(tx, topic, from, to))) continue;
      await insertAudit(tx, {
        ...{ at: now, who, action: 'accept-partitions', target: `topic:${topic}`, reason },
        ...{ before: { partitions: from }, after: { partitions: to } },
      });
    }
    return changed.length === 0
      ? { outcome: 'refused', message: 'no topic has another number of partitions than stored' }
      : {
          outcome: 'done',
          message: changed
            .map(
              ({ topic, from, to }) =>
                `topic ${topic}: ${String(to)} partitions accepted, ${String(from)} before`,
            )
            .join('; '),
        };
  });
}

async function changedCounts(
  tx: Queryable,
  found: ReadonlyMap<string, number>,
): Promise<readonly { readonly topic: string; readonly from: number; readonly to: number }[]> {
  const stored = await selectPartitionCounts(tx);
  return [...found].flatMap(([topic, to]) => {
    const from = stored.get(topic);
    return from === undefined || from === to ? [] : [{ topic, from, to }];
  });
}

function targetOf(scope: RepublishScope): string {
  switch (scope.kind) {
    case 'flight':
      return `flid:${scope.flid}`;
    case 'day':
      return `day:${scope.day}`;
    case 'all':
      return 'all';
  }
}

function nothingFor(scope: RepublishScope): string {
  switch (scope.kind) {
    case 'flight':
      return `there is no flight ${scope.flid}`;
    case 'day':
      return `there is no flight of ${scope.day}`;
    case 'all':
      return 'there is no flight yet';
  }
}

function planOf(chosen: readonly RepublishCandidate[], target: string, rate: RepublishRate): RepublishPlan {
  const flushes = Math.ceil(chosen.length / rate.flushLimit);
  return {
    target,
    flights: chosen.length,
    deleted: chosen.filter(({ deleted }) => deleted).length,
    alreadyPending: chosen.filter(({ state }) => state === 'PENDING').length,
    seconds: Math.ceil((flushes * rate.flushIntervalMs) / 1000),
  };
}

function describe(plan: RepublishPlan, { flushLimit, flushIntervalMs }: RepublishRate): string {
  const flights = plan.flights === 1 ? '1 flight' : `${String(plan.flights)} flights`;
  return (
    `${flights} (${String(plan.deleted)} deleted, ${String(plan.alreadyPending)} pending already): about ` +
    `${String(plan.seconds)} s at ${String(flushLimit)} per ${String(flushIntervalMs)} ms`
  );
}

function tally(chosen: readonly RepublishCandidate[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { state } of chosen) {
    const name = state === null ? 'none' : state.toLowerCase();
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
