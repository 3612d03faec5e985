/** The messages: none lost, none applied twice, in the order of their IDs, each marked and none too early. */
import { readMessage } from '../../model/message.ts';
import type { Facts, Finding, MessageRow } from './facts.ts';

const ENDED = new Set(['SUCCEEDED', 'SKIPPED', 'DEAD']);
/** Marks are in whole seconds, and the clocks of two servers are compared. */
const CLOCK_SLACK_MS = 1_000;

/** Every row of the mailbox was taken in and has ended, and nothing else was. */
export function* checkIntake(facts: Facts): Generator<Finding> {
  const there = new Set(facts.mailbox.map(({ id }) => id));
  const known = new Map(facts.messages.map((message) => [message.id, message]));
  for (const id of facts.acknowledged) {
    if (!there.has(id)) yield about('lost', id, 'the mailbox said that it is committed, and has it no more');
  }
  for (const { id } of facts.mailbox) {
    const message = known.get(id);
    if (message === undefined) yield about('lost', id, 'in the mailbox, not in proc_state');
    else if (!ENDED.has(message.state)) yield about('lost', id, `still ${message.state}`);
  }
  for (const { id } of facts.messages) {
    if (!there.has(id)) yield about('invented', id, 'in proc_state, not in the mailbox');
  }
}

/** Messages ended in the order of their IDs, but for those that came late into a hole that had been passed. */
export function* checkOrder(facts: Facts): Generator<Finding> {
  let highest = 0n;
  for (const { id, late } of inOrderOfEnd(facts.messages)) {
    if (!late) {
      if (id < highest) yield about('reordered', id, `ended after ${String(highest)}`);
    } else if (!facts.released.some(({ from, to }) => from <= id && id <= to)) {
      yield about('reordered', id, 'called late, and its ID was never passed as empty');
    }
    if (id > highest) highest = id;
  }
}

/** Each message that has ended is marked, and was not before. */
export function* checkMarks(facts: Facts): Generator<Finding> {
  const known = new Map(facts.messages.map((message) => [message.id, message]));
  const early = new Set(facts.seenMarkedEarly);
  for (const { id, markedAt } of facts.mailbox) {
    const endedAt = known.get(id)?.terminalAt ?? null;
    if (markedAt === null) {
      if (endedAt !== null) yield about('unmarked', id, 'it has ended and is not marked');
    } else if (early.has(id)) {
      yield about('marked-early', id, 'was seen marked before it had ended');
    } else if (endedAt === null) {
      yield about('marked-early', id, 'is marked and has not ended');
    } else if (markedAt + CLOCK_SLACK_MS < endedAt) {
      yield about('marked-early', id, `marked ${String(endedAt - markedAt)} ms before it ended`);
    }
  }
}

/**
 * Who owns each identity: the one of its messages that is not called a duplicate. Findings where it is none, more than
 * one, or not the first that came.
 */
export function checkIdentities(facts: Facts): {
  readonly owners: ReadonlyMap<string, bigint>;
  readonly findings: readonly Finding[];
} {
  const known = new Map(facts.messages.map((message) => [message.id, message]));
  const same = new Map<string, MessageRow[]>();
  for (const { id, text } of facts.mailbox) {
    const message = known.get(id);
    const reading = readMessage(text ?? '', facts.timeZone);
    if (message === undefined || !reading.ok) continue;
    const list = same.get(reading.identity);
    if (list === undefined) same.set(reading.identity, [message]);
    else list.push(message);
  }
  const owners = new Map<string, bigint>();
  const findings: Finding[] = [];
  for (const [identity, messages] of same) {
    const [owner, ...more] = messages.filter(({ reason }) => reason?.startsWith('duplicate-of:') !== true);
    const [first] = messages;
    if (owner === undefined) {
      if (first !== undefined)
        findings.push(about('lost', first.id, `every message of ${identity} is a duplicate`));
      continue;
    }
    owners.set(identity, owner.id);
    for (const { id } of more)
      findings.push(about('duplicated', id, `${identity} is applied by ${String(owner.id)} too`));
    const passedOver = messages.find(({ id, late }) => id < owner.id && !late);
    if (more.length === 0 && passedOver !== undefined) {
      findings.push(about('reordered', owner.id, `${identity} came first as ${String(passedOver.id)}`));
    }
  }
  return { owners, findings };
}

/** Messages that have ended, in the order in which they did. */
export function inOrderOfEnd(messages: readonly MessageRow[]): readonly MessageRow[] {
  return messages
    .filter(({ terminalSeq }) => terminalSeq !== null)
    .toSorted((left, right) => ((left.terminalSeq ?? 0n) < (right.terminalSeq ?? 0n) ? -1 : 1));
}

function about(kind: Finding['kind'], id: bigint, detail: string): Finding {
  return { kind, subject: `message ${String(id)}`, detail };
}
