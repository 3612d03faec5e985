/**
 * The business transaction (seed §5.3): one lock, one read of what the batch touches, the decisions in order,
 * a few set-based writes, one commit. The same code for one message and for five hundred.
 */
import { failpoint } from '#failpoint';
import { decideSteps, flightsNamed, referenceNamed, type DecisionInput } from '../domain/decide/index.ts';
import { causeOf, messageEventBody } from '../domain/event.ts';
import type { FlightChange } from '../domain/flight.ts';
import { msgId as msgIdOf } from '../domain/ids.ts';
import type { DecodedMessage } from '../domain/message.ts';
import type { Decision } from '../domain/outcome.ts';
import { airportTime } from '../runtime/airport-time.ts';
import { writeBatch } from '../store/batch.ts';
import type { Queryable } from '../store/database.ts';
import type { FlightMessage } from '../store/flight-message.ts';
import { selectFlights, unarchiveFlights } from '../store/flight.ts';
import type { NewMessageEvent } from '../store/msg-event.ts';
import { keepAlive, type Terminal } from '../store/proc-state.ts';
import { insertReferencePast } from '../store/reference-history.ts';
import { selectReference, upsertReference, type ReferenceNeed } from '../store/reference.ts';
import { toTimestamp } from '../store/time.ts';
import { breather } from './breather.ts';
import type { Candidate } from './candidate.ts';
import type { PumpContext } from './context.ts';
import { EventNames } from './event-names.ts';
import type { Bound } from './identities.ts';
import { RequestBook } from './request-book.ts';
import { World } from './world.ts';

/** A message that will end in this batch. */
export interface Ready {
  readonly candidate: Exclude<Candidate, { kind: 'codec-error' }>;
  /** Null for malformed messages. */
  readonly bound: Bound | null;
}

/** A message and how it ended. */
export interface Finished {
  readonly ready: Ready;
  readonly terminal: Terminal;
  /** The decision; null for malformed messages and duplicates. */
  readonly decision: Decision | null;
}

/** Somebody else has changed the heads since they were read: nothing was written, look again. */
export class StaleHeads extends Error {
  override readonly name = 'StaleHeads';
}

/**
 * Most characters of events in one transaction; one message always fits. A short message publishes all that its
 * flight has, so the bound on what is read says nothing of what is written.
 */
const EVENT_CHARACTERS = 64 << 20;

/**
 * Ends a batch in one fenced transaction. Gives those of its messages that were ended, from the first: the rest
 * waits where the events become too many. Throws StaleHeads, LostLease, Outage, or what went wrong.
 */
export async function commitBatch(
  context: PumpContext,
  batch: readonly Ready[],
): Promise<readonly Finished[]> {
  const { database, fence } = context;
  return database.transaction((tx) => endBatch(context, tx, batch), { fence, exclusive: true });
}

async function endBatch(
  context: PumpContext,
  tx: Queryable,
  batch: readonly Ready[],
): Promise<readonly Finished[]> {
  const { clock, timeZone, dialect } = context;
  // Each statement sees what was committed when it began: what the lock has waited for, too.
  const world = await readWorld(context, tx, batch);
  failpoint('pump.locked');
  const requests = await RequestBook.read(context, tx, batch);
  const now = clock.now();
  const facts = { now: airportTime(now, timeZone), cutoff: context.operationDayCutoff };
  const events: NewMessageEvent[] = [];
  const touched: FlightMessage[] = [];
  const { names: rules } = context.publication;
  const names = rules === undefined ? null : new EventNames(rules, (rtype) => world.reference(rtype));
  const breathe = breather(() => keepAlive(tx));
  const decideOne = async (ready: Ready): Promise<Finished> => {
    const { candidate, bound } = ready;
    const { msgId } = candidate.head;
    if (candidate.kind === 'malformed') {
      const { header, reason, detail } = candidate;
      const terminal = {
        msgId,
        identity: null,
        state: 'DEAD',
        errorClass: 'MALFORMED',
        reason,
        detail,
      } as const;
      return {
        ready,
        terminal: { ...terminal, type: header?.type ?? null, styp: header?.subtype ?? null },
        decision: null,
      };
    }
    const { message } = candidate;
    const { type, subtype: styp } = message.header;
    const identity = bound?.identity ?? null;
    const known = { msgId, type, styp, identity };
    if (bound?.duplicate != null) {
      const terminal = {
        ...known,
        state: 'SKIPPED',
        errorClass: null,
        reason: bound.duplicate.reason,
        detail: null,
      } as const;
      return { ready, terminal, decision: null };
    }
    const input: DecisionInput = {
      msgId: msgIdOf(msgId),
      message,
      flight: (flid) => world.flight(flid),
      reference: (rtype) => world.reference(rtype),
      ...facts,
      openRequests: requests.open,
      clockSkewMs: context.requests?.clockSkewMs ?? 0,
      allowEmptyReference: false,
    };
    const decision = await inSteps(decideSteps(input), breathe);
    if (decision.state === 'FAILED') throw new Error(`${decision.reason} reached a batch`);
    if (decision.state === 'SUCCEEDED') {
      for (const change of decision.flights) {
        applyFlight(context, world, message, identity ?? '', msgId, change, events, touched);
        if (change.event !== null) names?.note(change.event.type === 'TOMBSTONE' ? null : change.after.state);
        await breathe();
      }
      if (decision.reference !== null) world.applyReference(decision.reference);
    }
    return { ready, terminal: { ...known, ...outcomeOf(decision) }, decision };
  };
  const finished: Finished[] = [];
  let characters = 0;
  for (const ready of batch) {
    if (finished.length > 0 && characters > (context.eventCharacters ?? EVENT_CHARACTERS)) break;
    const before = events.length;
    const ended = await decideOne(ready);
    requests.note(ended);
    finished.push(ended);
    for (const { body } of events.slice(before)) characters += body.length;
    await breathe();
  }
  const at = toTimestamp(now);
  failpoint('pump.decided');
  // Before the batch's own changes of reference data are written: each message is told by the names that it met.
  const told = names === null ? events : await names.into(tx, events);
  await unarchiveFlights(tx, world.unarchived);
  await upsertReference(tx, world.rowsWritten, world.floorsWritten, now);
  await insertReferencePast(tx, world.referencePast, at);
  await requests.write(tx, now);
  const rows = {
    flights: world.flightsWritten,
    events: told,
    latestStates: world.latestStates,
    flightMessages: touched,
    terminals: finished.map(({ terminal }) => terminal),
  };
  const ended = await writeBatch(tx, rows, { at, profileHash: dialect.profileHash }, breathe);
  if (ended !== finished.length) throw new StaleHeads('heads changed while they were processed');
  failpoint('pump.ended');
  return finished;
}

async function readWorld(context: PumpContext, tx: Queryable, batch: readonly Ready[]): Promise<World> {
  const flids = new Set<string>();
  const needs: ReferenceNeed[] = [];
  for (const { candidate, bound } of batch) {
    if (candidate.kind !== 'message' || bound?.duplicate != null) continue;
    for (const flid of flightsNamed(candidate.message)) flids.add(flid);
    const need = referenceNamed(candidate.message);
    if (need !== null) needs.push(need);
  }
  const [flights, reference] = await Promise.all([
    selectFlights(tx, [...flids], context.timeZone),
    selectReference(tx, needs),
  ]);
  return new World(flights, reference);
}

/** Runs a decision to its end; pauses where the breather wants to, so that the size of a message does not matter. */
async function inSteps(steps: Generator<void, Decision>, breathe: () => Promise<void>): Promise<Decision> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await breathe();
  }
}

function applyFlight(
  context: PumpContext,
  world: World,
  message: DecodedMessage,
  identity: string,
  id: bigint,
  change: FlightChange,
  events: NewMessageEvent[],
  touched: FlightMessage[],
): void {
  world.applyFlight(change, id);
  const { after, event, superseded } = change;
  const { flid, version } = after;
  touched.push({
    flid,
    msgId: id,
    stateVersion: event === null ? null : version,
    changed: event?.changed ?? [],
    superseded,
  });
  if (event === null) return;
  const cause = causeOf(msgIdOf(id), identity, message.header);
  events.push({
    flid,
    eventType: event.type,
    stateVersion: version,
    msgId: id,
    body: storable(JSON.stringify(messageEventBody(after, event, cause, context.publication))),
  });
}

/** An unescaped `\\u0000` or lone surrogate in JSON text: what jsonb refuses. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i;

/**
 * Refuses a value that the flight's row could not hold. The row itself is written once per batch: without this,
 * a later message that overwrites the value would let its author pass, in a batch but not alone.
 */
function storable(body: string): string {
  if (body.includes('\\u') && UNSTORABLE.test(body)) {
    throw new Error('a value has a character that PostgreSQL cannot store');
  }
  return body;
}

function outcomeOf(
  decision: Exclude<Decision, { state: 'FAILED' }>,
): Pick<Terminal, 'state' | 'errorClass' | 'reason' | 'detail'> {
  const { state, reason, detail } = decision;
  return { state, errorClass: state === 'DEAD' ? decision.errorClass : null, reason, detail };
}
