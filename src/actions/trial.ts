/**
 * The trial run before a replay: texts decoded and decided against the state as it is, in transactions that are rolled
 * back and lock nothing. What the messages before would change is kept in memory, so that a schedule and the updates
 * behind it are judged together.
 */
import type { Dialect } from '../dialect/port.ts';
import { decodePausing } from '../dialect/steps.ts';
import { decideSteps, flightsNamed, isResponse, referenceNamed } from '../domain/decide/index.ts';
import type { FlightRecord } from '../domain/flight.ts';
import { identityOf } from '../domain/identity.ts';
import { msgId as msgIdOf, type MsgId } from '../domain/ids.ts';
import type { DecodedMessage } from '../domain/message.ts';
import type { Decision } from '../domain/outcome.ts';
import { duplicateOf, prefixOf } from '../domain/reasons.ts';
import type { ReferenceRow } from '../domain/reference.ts';
import { breather } from '../pump/breather.ts';
import { World } from '../pump/world.ts';
import { airportTime } from '../runtime/airport-time.ts';
import { messageOf } from '../runtime/outage.ts';
import { chunksOf } from '../store/chunks.ts';
import type { Database } from '../store/database.ts';
import type { Queryable } from '../store/statement.ts';
import { selectFlights, type ReadFlight } from '../store/flight.ts';
import { selectOwners } from '../store/message-identity.ts';
import { keepAlive } from '../store/proc-state.ts';
import { selectTexts } from '../store/raw-message.ts';
import { selectReference } from '../store/reference.ts';
import { selectAnswerable } from '../store/req-track.ts';
import { pacer } from './pace.ts';

/** What the decisions of the pump go by. */
export interface TrialContext {
  readonly database: Database;
  readonly dialect: Dialect;
  readonly timeZone: string;
  /** HH:mm. */
  readonly operationDayCutoff: string;
  readonly includeDayBoundary: boolean;
  readonly clockSkewMs: number;
}

/** Fields of a flight that a message would lose to newer messages. */
export interface Superseded {
  readonly flid: string;
  readonly fields: readonly string[];
}

export type Verdict =
  | { readonly passes: true; readonly becomes: string; readonly superseded: readonly Superseded[] }
  | { readonly passes: false; readonly reason: string };

/** Messages judged against one snapshot, and between two rests. */
const PAGE = 20;
/** Texts held at once: one can have megabytes. */
const TEXTS = 5;

interface Decoded {
  readonly msgId: bigint;
  readonly message: DecodedMessage;
  readonly identity: string;
}

/** What the messages judged so far would leave behind. */
class Aftermath {
  readonly flights = new Map<string, ReadFlight>();
  readonly rows = new Map<string, ReferenceRow>();
  readonly floors = new Map<string, MsgId>();
  readonly identities = new Map<string, bigint>();

  note(world: World): void {
    for (const record of world.flightsWritten) this.flights.set(record.flid, { record, archived: false });
    for (const row of world.rowsWritten) this.rows.set(`${row.rtype} ${row.rkey}`, row);
    for (const [rtype, floor] of world.floorsWritten) this.floors.set(rtype, floor);
  }
}

/** Says of each message whether it would pass now, in MSG_ID order. Throws Outage. */
export async function tryMessages(
  context: TrialContext,
  msgIds: readonly bigint[],
  now: number,
): Promise<ReadonlyMap<bigint, Verdict>> {
  const verdicts = new Map<bigint, Verdict>();
  const aftermath = new Aftermath();
  const rest = pacer(0);
  for (const page of chunksOf(msgIds, PAGE)) {
    const decoded = await decodePage(context, page, verdicts);
    if (decoded.length > 0)
      await context.database.trial((tx) => decidePage(context, tx, decoded, aftermath, now, verdicts));
    await rest();
  }
  return verdicts;
}

async function decodePage(
  { database, dialect, includeDayBoundary }: TrialContext,
  page: readonly bigint[],
  verdicts: Map<bigint, Verdict>,
): Promise<readonly Decoded[]> {
  const decoded: Decoded[] = [];
  const breathe = breather();
  for (const part of chunksOf(page, TEXTS)) {
    const texts = await selectTexts(database, part);
    for (const msgId of part) {
      const kept = texts.get(msgId);
      const judged =
        kept?.text == null
          ? kept === undefined
            ? 'raw-missing'
            : 'too-large'
          : await decode(dialect, kept.text, breathe);
      if (typeof judged === 'string') verdicts.set(msgId, { passes: false, reason: judged });
      else decoded.push({ msgId, message: judged, identity: identityOf(judged.header, includeDayBoundary) });
      await breathe();
    }
  }
  return decoded;
}

/** The message, or the reason why there is none. In steps, as the pump does: the lease may be renewed on this thread. */
async function decode(
  dialect: Dialect,
  text: string,
  breathe: () => Promise<void>,
): Promise<DecodedMessage | string> {
  try {
    const outcome = await decodePausing(dialect, text, breathe);
    return outcome.outcome === 'decoded' ? outcome.message : outcome.reason;
  } catch {
    // A dialect is total by contract; what breaks it is judged as the pump does.
    return 'codec:reader';
  }
}

async function decidePage(
  context: TrialContext,
  tx: Queryable,
  page: readonly Decoded[],
  aftermath: Aftermath,
  now: number,
  verdicts: Map<bigint, Verdict>,
): Promise<void> {
  const owners = await selectOwners(tx, page);
  const world = await readWorld(context, tx, page, aftermath);
  let open = page.some(({ message }) => isResponse(message.body)) ? await selectAnswerable(tx) : [];
  const facts = { now: airportTime(now, context.timeZone), cutoff: context.operationDayCutoff };
  const breathe = breather(() => keepAlive(tx));
  for (const { msgId, message, identity } of page) {
    const owner = owners.get(msgId)?.msgId ?? aftermath.identities.get(identity) ?? msgId;
    if (owner !== msgId) {
      verdicts.set(msgId, { passes: false, reason: duplicateOf(owner, false) });
      continue;
    }
    aftermath.identities.set(identity, msgId);
    const steps = decideSteps({
      ...{ msgId: msgIdOf(msgId), message, ...facts, openRequests: open, clockSkewMs: context.clockSkewMs },
      flight: (flid) => world.flight(flid),
      reference: (rtype) => world.reference(rtype),
      allowEmptyReference: false,
    });
    const decision = await runSteps(steps, breathe);
    if (typeof decision !== 'string' && decision.state === 'SUCCEEDED') {
      for (const change of decision.flights) world.applyFlight(change, msgId);
      if (decision.reference !== null) world.applyReference(decision.reference);
      const answered = decision.answer?.request.reqId;
      open = open.filter(({ reqId }) => reqId !== answered);
    }
    verdicts.set(msgId, verdictOf(decision));
  }
  aftermath.note(world);
}

/** The state as it is, with what the messages before would make of it. */
async function readWorld(
  { timeZone }: TrialContext,
  tx: Queryable,
  page: readonly Decoded[],
  aftermath: Aftermath,
): Promise<World> {
  const flids = new Set(page.flatMap(({ message }) => flightsNamed(message)));
  const flights = new Map(await selectFlights(tx, [...flids], timeZone));
  for (const flid of flids) {
    const changed = aftermath.flights.get(flid);
    if (changed !== undefined) flights.set(flid, changed);
  }
  const needs = page.flatMap(({ message }) => referenceNamed(message) ?? []);
  const { floors, rows } = await selectReference(tx, needs);
  return new World(flights, {
    floors: new Map([...floors, ...aftermath.floors]),
    rows: [...rows, ...aftermath.rows.values()],
  });
}

/** The decision, or what went wrong in it. */
async function runSteps(
  steps: Generator<void, Decision>,
  breathe: () => Promise<void>,
): Promise<Decision | string> {
  for (;;) {
    let step: IteratorResult<void, Decision>;
    try {
      step = steps.next();
    } catch (error) {
      return messageOf(error);
    }
    if (step.done === true) return step.value;
    await breathe();
  }
}

/** A message passes where it would be applied, or ignored: what is skipped for any other reason gains nothing. */
function verdictOf(decision: Decision | string): Verdict {
  if (typeof decision === 'string') return { passes: false, reason: decision };
  switch (decision.state) {
    case 'SUCCEEDED':
      return {
        passes: true,
        becomes: decision.reason === null ? 'SUCCEEDED' : `SUCCEEDED ${decision.reason}`,
        superseded: decision.flights.flatMap(({ after, superseded }) => supersededOf(after, superseded)),
      };
    case 'SKIPPED':
      return prefixOf(decision.reason) === 'ignored'
        ? { passes: true, becomes: `SKIPPED ${decision.reason}`, superseded: [] }
        : { passes: false, reason: decision.reason };
    case 'DEAD':
    case 'FAILED':
      return { passes: false, reason: decision.reason };
  }
}

function supersededOf({ flid }: FlightRecord, fields: readonly string[]): readonly Superseded[] {
  return fields.length === 0 ? [] : [{ flid, fields }];
}
