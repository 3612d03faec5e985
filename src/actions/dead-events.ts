/**
 * Dead events (seed §8.1): sending them again, or dropping them for good. Precheck, conditional update and audit in
 * transactions of a few rows. A retry below a version that was delivered already has to be forced, and names what was.
 */
import type { Database } from '../store/database.ts';
import { selectDeadEventIds, selectEvents, settleDeadEvents, type DeadEvent } from '../store/dead-event.ts';
import { insertAudits } from '../store/op-audit.ts';
import { lockLatestStates } from '../store/schd-event.ts';
import type { Counted, Operator } from './outcome.ts';
import { partsOf } from './parts.ts';

/** Rows of one transaction. */
const BATCH = 100;
/** Results that are told one by one; the rest is counted. */
const MOST_TOLD = 10_000;
/** Most versions that are named one by one. */
const MOST_NAMED = 20;

export interface DeadEventRequest {
  readonly change: 'retry' | 'drop';
  readonly eventIds: readonly bigint[] | 'all';
  /** Retries also below versions that were delivered. */
  readonly force: boolean;
  /** Says what would be done and does nothing. */
  readonly dryRun: boolean;
}

/** What became of one event, or would. */
export interface DeadEventResult {
  readonly eventId: string;
  /** Null where there is no such event. */
  readonly flid: string | null;
  readonly version: number | null;
  /** Later versions of the flight that were delivered, the first of them. */
  readonly laterDelivered: readonly number[];
  /** Null where it was changed, or would be. */
  readonly refused: string | null;
}

export interface DeadEventOutcome {
  readonly outcome: 'done' | 'planned' | 'refused';
  readonly message: string;
  readonly counted: Counted;
  /** The first of them. */
  readonly events: readonly DeadEventResult[];
}

/** Versions of the flight above the event's that have reached the target. A newest state is never behind one. */
export function laterDelivered({ target, version, flightVersion, unsent }: DeadEvent): readonly number[] {
  if (target === 'KAFKA:schd' || flightVersion === null) return [];
  const missing = new Set(unsent);
  return Array.from(
    { length: Math.max(0, flightVersion - version) },
    (_, index) => version + 1 + index,
  ).filter((later) => !missing.has(later));
}

/** Retries or drops dead events; `refused` where not one of them could be. Throws Outage. */
export async function settleEvents(
  database: Database,
  request: DeadEventRequest,
  operator: Operator,
): Promise<DeadEventOutcome> {
  const { change, dryRun } = request;
  const nextDead = (after: bigint, size: number) => selectDeadEventIds(database, after, size);
  const events: DeadEventResult[] = [];
  let all = 0;
  let done = 0;
  let first: string | null = null;
  for await (const part of partsOf(request.eventIds, BATCH, nextDead)) {
    const results = await settle(database, request, part, operator);
    events.push(...results.slice(0, MOST_TOLD - events.length));
    const refusals = results.flatMap(({ refused }) => (refused === null ? [] : [refused]));
    all += results.length;
    done += results.length - refusals.length;
    first ??= refusals[0] ?? null;
  }
  const counted = { all, changed: done };
  const count = `${String(done)} of ${String(all)} ${all === 1 ? 'event' : 'events'}`;
  const others = first === null ? '' : `; ${first}${all - done > 1 ? ', and others' : ''}`;
  if (done === 0) return { outcome: 'refused', message: first ?? 'there is no dead event', counted, events };
  return dryRun
    ? { outcome: 'planned', message: `would ${change} ${count}${others}`, counted, events }
    : {
        outcome: 'done',
        message: `${change === 'retry' ? 'retrying' : 'dropped'} ${count}${others}`,
        counted,
        events,
      };
}

async function settle(
  database: Database,
  { change, force, dryRun }: DeadEventRequest,
  eventIds: readonly bigint[],
  { who, reason, now }: Operator,
): Promise<readonly DeadEventResult[]> {
  return database.transaction(async (tx) => {
    if (!dryRun) await lockLatestStates(tx, eventIds);
    const found = new Map((await selectEvents(tx, eventIds)).map((event) => [event.eventId, event]));
    const obstacles = new Map(
      eventIds.map((id) => [id, obstacleTo(id, found.get(id), change === 'drop' || force)] as const),
    );
    const free = [...found.values()].filter(({ eventId }) => obstacles.get(eventId) === null);
    const changed = dryRun ? null : await settleDeadEvents(tx, change, free);
    if (changed !== null) {
      await insertAudits(
        tx,
        { at: now, who, action: change, reason },
        free
          .filter(({ eventId }) => changed.has(eventId))
          .map((event) => ({
            target: `event:${event.eventId.toString()}`,
            before: { state: 'DEAD', attempts: event.attempts, lastError: event.lastError },
            after:
              change === 'drop'
                ? { state: 'DROPPED' }
                : { state: 'PENDING', laterDelivered: laterDelivered(event).slice(0, MOST_NAMED) },
          })),
      );
    }
    return eventIds.map((id): DeadEventResult => {
      const event = found.get(id);
      const overtaken = changed !== null && obstacles.get(id) === null && !changed.has(id);
      return {
        eventId: id.toString(),
        flid: event?.flid ?? null,
        version: event?.version ?? null,
        laterDelivered: event === undefined ? [] : laterDelivered(event).slice(0, MOST_NAMED),
        refused: overtaken
          ? `event ${id.toString()} has changed meanwhile: look again`
          : (obstacles.get(id) ?? null),
      };
    });
  });
}

function obstacleTo(id: bigint, event: DeadEvent | undefined, force: boolean): string | null {
  const name = `event ${id.toString()}`;
  if (event === undefined) return `there is no ${name}`;
  if (event.state !== 'DEAD') return `${name} is not dead: ${event.state}`;
  const later = laterDelivered(event);
  if (later.length === 0 || force) return null;
  return `${name} is version ${String(event.version)} of flight ${event.flid}, ${named(later)} delivered already: force it, or drop it`;
}

function named(versions: readonly number[]): string {
  const more = versions.length - MOST_NAMED;
  const listed = versions.slice(0, MOST_NAMED).join(', ');
  return `${versions.length === 1 ? 'version' : 'versions'} ${listed}${more > 0 ? ` and ${String(more)} more` : ''} ${versions.length === 1 ? 'was' : 'were'}`;
}
