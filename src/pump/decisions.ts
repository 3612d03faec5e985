/**
 * What becomes of the messages of a batch, in their order (seed §5.3): decided in memory, upon what was read of their
 * world before, and collected as the rows to be written.
 */
import { withPauses } from '../dialect/steps.ts';
import { decideSteps, type DecisionInput } from '../domain/decide/index.ts';
import { causeOf, messageEventBody } from '../domain/event.ts';
import type { FlightChange } from '../domain/flight.ts';
import { msgId as msgIdOf } from '../domain/ids.ts';
import type { DecodedMessage } from '../domain/message.ts';
import type { Decision } from '../domain/outcome.ts';
import { airportTime } from '../runtime/airport-time.ts';
import type { FlightMessage } from '../store/flight-message.ts';
import type { NewMessageEvent } from '../store/msg-event.ts';
import type { Terminal } from '../store/proc-state.ts';
import type { Candidate } from './candidate.ts';
import type { PumpContext } from './context.ts';
import { EventNames } from './event-names.ts';
import type { Bound } from './identities.ts';
import type { RequestBook } from './request-book.ts';
import type { World } from './world.ts';

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

/** A candidate that ends in its batch. */
export type Ending = Ready['candidate'];

/** The messages that end, from the first, and what they change beside the world and the requests. */
export interface Decided {
  readonly finished: readonly Finished[];
  readonly events: readonly NewMessageEvent[];
  readonly touched: readonly FlightMessage[];
  /** Whose names the events are to have; null where they have none. */
  readonly names: EventNames | null;
  /** When it was decided, ms. */
  readonly now: number;
}

/**
 * Most characters of events in one transaction; one message always fits. A short message publishes all that its
 * flight has, so the bound on what is read says nothing of what is written.
 */
const EVENT_CHARACTERS = 64 << 20;

/**
 * Decides a batch: changes are applied to `world` and noted in `requests` as they are decided. The rest of the batch
 * waits where the events become too many. Throws what went wrong with a message.
 *
 * @param breathe called between pieces of work
 */
export async function decideBatch(
  context: PumpContext,
  batch: readonly Ready[],
  world: World,
  requests: RequestBook,
  breathe: () => Promise<void>,
): Promise<Decided> {
  const { clock, timeZone } = context;
  const now = clock.now();
  const facts = {
    now: airportTime(now, timeZone),
    cutoff: context.operationDayCutoff,
    versionFloor: (flid: string) => context.versionFloors?.get(flid) ?? 0,
  };
  const events: NewMessageEvent[] = [];
  const touched: FlightMessage[] = [];
  const { names: rules } = context.publication;
  const names = rules === undefined ? null : new EventNames(rules, (rtype) => world.reference(rtype));
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
    const decision = await withPauses(decideSteps(input), breathe);
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
  return { finished, events, touched, names, now };
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
