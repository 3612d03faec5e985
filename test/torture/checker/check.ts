/**
 * The checker: everything that a run left behind against everything that its upstream wrote. It knows the promise and
 * not the pipeline: what a message does is restated in `test/model`, and nothing here comes from `src`.
 */
import { equal } from '../../model/equal.ts';
import { World, type Result } from '../../model/world.ts';
import type { Facts, Finding, MessageRow } from './facts.ts';
import { checkIdentities, checkIntake, checkMarks, checkOrder, inOrderOfEnd } from './messages.ts';
import { difference, lastStates, ToldChanges } from './told.ts';

/** Everything that is not as it was promised; nothing for a run that lost nothing. */
export function check(facts: Facts): readonly Finding[] {
  return [...findings(facts)];
}

function* findings(facts: Facts): Generator<Finding> {
  yield* checkIntake(facts);
  yield* checkOrder(facts);
  yield* checkMarks(facts);
  const { owners, findings: identities } = checkIdentities(facts);
  yield* identities;

  const told = new ToldChanges(facts);
  yield* told.check();
  const world = new World({ timeZone: facts.timeZone, owners });
  const texts = new Map(facts.mailbox.map(({ id, text }) => [id, text]));
  const expected = new Set<string>();
  for (const message of inOrderOfEnd(facts.messages)) {
    const text = texts.get(message.id);
    if (text === undefined) continue;
    const result = world.apply(message.id, text);
    yield* compareOutcome(message, result);
    for (const change of result.changes) {
      expected.add(`${change.flid} ${String(change.version)}`);
      yield* told.compare(change);
    }
  }
  for (const [name, { eventId }] of told.first) {
    if (!expected.has(name)) {
      yield {
        kind: 'invented',
        subject: `event ${eventId}`,
        detail: `no message makes the version of flight ${name}`,
      };
    }
  }
  yield* compareFlights(facts, world);
  yield* compareReference(facts, world);
}

function* compareOutcome(message: MessageRow, { verdict }: Result): Generator<Finding> {
  const { state, errorClass, reason } = verdict;
  const same =
    message.state === state &&
    message.errorClass === errorClass &&
    (message.reason ?? '').startsWith(reason ?? '');
  if (same) return;
  const end = (...parts: readonly (string | null)[]) => parts.filter((part) => part !== null).join(' ');
  yield {
    kind: 'wrong-outcome',
    subject: `message ${String(message.id)}`,
    detail: `${end(message.state, message.errorClass, message.reason)}, should be ${end(state, errorClass, reason)}`,
  };
}

function* compareFlights(facts: Facts, world: World): Generator<Finding> {
  const stored = new Map(facts.flights.map((flight) => [flight.flid, flight]));
  const versions = new Map<string, number[]>();
  for (const { flid, version } of facts.events) {
    const list = versions.get(flid);
    if (list === undefined) versions.set(flid, [version]);
    else list.push(version);
  }
  const { last, findings: order } = lastStates(facts);
  yield* order;
  for (const flid of new Set([...stored.keys(), ...world.flights.keys()])) {
    const subject = `flight ${flid}`;
    const row = stored.get(flid);
    const flight = world.flights.get(flid);
    if (row === undefined) yield { kind: 'lost', subject, detail: 'not stored' };
    if (flight === undefined) yield { kind: 'invented', subject, detail: 'stored, and no message names it' };
    if (row === undefined || flight === undefined) continue;

    const gap = gapOf(versions.get(flid) ?? [], row.version, flight.version);
    if (gap !== null) yield { kind: 'version-gap', subject, detail: gap };
    const state = flight.state();
    if (row.deleted !== flight.deleted || row.operationDay !== flight.operationDay) {
      const detail = `stored as ${row.deleted ? 'deleted' : 'there'} on ${row.operationDay}, should be ${flight.deleted ? 'deleted' : 'there'} on ${flight.operationDay}`;
      yield { kind: 'wrong-state', subject, detail };
    } else if (!equal(row.state, state)) {
      yield { kind: 'wrong-state', subject, detail: `stored: ${difference(row.state, state)}` };
    }

    const told = last.get(flid);
    const wanted = flight.deleted ? null : state;
    if (told === undefined) yield { kind: 'lost', subject, detail: 'nothing in the topic of states' };
    else if (!equal(told.value?.['flight'] ?? null, wanted)) {
      const detail = `told last: ${difference(told.value?.['flight'] ?? null, wanted)}`;
      yield { kind: 'wrong-state', subject, detail };
    } else if (told.value !== null && told.value['stateVersion'] !== flight.version) {
      const detail = `told last as version ${String(told.value['stateVersion'])}, should be ${String(flight.version)}`;
      yield { kind: 'wrong-state', subject, detail };
    }
  }
}

/** Versions of the stored events are 1, 2, 3 … to the stored version, which is as many as there were changes. */
function gapOf(versions: readonly number[], stored: number, changes: number): string | null {
  const sorted = versions.toSorted((left, right) => left - right);
  const odd = sorted.findIndex((version, index) => version !== index + 1);
  if (odd >= 0) return `event version ${String(sorted[odd])} where ${String(odd + 1)} is due`;
  if (sorted.length !== stored)
    return `stored version ${String(stored)}, events up to ${String(sorted.length)}`;
  return stored === changes ? null : `stored version ${String(stored)} after ${String(changes)} changes`;
}

function* compareReference(facts: Facts, world: World): Generator<Finding> {
  const stored = new Map(facts.reference.map((row) => [`${row.rtype} ${row.rkey}`, row]));
  for (const name of new Set([...stored.keys(), ...world.reference.keys()])) {
    const [row, wanted] = [stored.get(name), world.reference.get(name)];
    const left = row === undefined ? null : { active: row.active, body: row.body };
    const right = wanted === undefined ? null : { active: wanted.active, body: wanted.body };
    if (!equal(left, right)) {
      yield { kind: 'wrong-state', subject: `reference ${name}`, detail: difference(left, right) };
    }
  }
}
