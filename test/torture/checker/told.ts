/** The topics: each change told at least once and in order, again only while nobody had recorded it. */
import type { Change } from '../../model/world.ts';
import { equal, isObject } from '../../model/equal.ts';
import type { EventRow, Facts, Finding, Told } from './facts.ts';

/** The clocks of the broker and of our database are compared. */
const CLOCK_SLACK_MS = 1_000;

/** First and further deliveries of the changes, by flight and version. */
export class ToldChanges {
  readonly first = new Map<string, Told>();
  /** Flights of which a change was told. */
  readonly #flids = new Map<string, Told[]>();
  readonly #events: ReadonlyMap<string, EventRow>;
  readonly #stored: ReadonlySet<string>;

  constructor({ changes, events }: Facts) {
    this.#events = new Map(events.map((event) => [event.eventId, event]));
    this.#stored = new Set(events.map(({ flid, version }) => nameOf(flid, version)));
    for (const told of changes) {
      const name = nameOf(told.key, versionOf(told));
      if (!this.first.has(name)) this.first.set(name, told);
      const list = this.#flids.get(told.key);
      if (list === undefined) this.#flids.set(told.key, [told]);
      else list.push(told);
    }
  }

  /** Order, duplicates, and what was recorded as sent and is not there. */
  *check(): Generator<Finding> {
    const ids = new Set<string>();
    for (const [flid, list] of this.#flids) {
      const order = disorder(list);
      if (order !== null) yield { kind: 'reordered', subject: `flight ${flid}`, detail: order };
      for (const told of list) {
        const again = ids.has(told.eventId);
        ids.add(told.eventId);
        yield* again ? this.#checkAgain(told) : this.#checkFirst(told);
      }
    }
    for (const { eventId, flid, version, state } of this.#events.values()) {
      if (state === 'SENT') {
        if (!ids.has(eventId))
          yield eventFinding('lost', eventId, `SENT, version ${version} of ${flid}, not in the topic`);
      } else {
        yield eventFinding('lost', eventId, `still ${state}, version ${version} of ${flid}`);
      }
    }
  }

  /** A change that the rules make, against what consumers were told of it. */
  *compare(change: Change): Generator<Finding> {
    const { flid, version, msgId, type, operationDay, flight } = change;
    const told = this.first.get(nameOf(flid, version));
    if (told === undefined) {
      const what = `version ${version}, by message ${String(msgId)}, was never told`;
      // Where there is an event of it, that one is named as lost.
      if (!this.#stored.has(nameOf(flid, version)))
        yield { kind: 'lost', subject: `flight ${flid}`, detail: what };
      return;
    }
    const value = told.value ?? {};
    const cause = value['cause'] as { readonly msgId?: unknown } | null;
    if (cause?.msgId !== String(msgId)) {
      yield eventFinding(
        'wrong-state',
        told.eventId,
        `version ${version} of ${flid} is not by message ${String(msgId)}`,
      );
    } else if (value['eventType'] !== type || value['operationDay'] !== operationDay) {
      yield eventFinding(
        'wrong-state',
        told.eventId,
        `version ${version} of ${flid} is no ${type} of ${operationDay}`,
      );
    } else if (!equal(value['flight'], flight)) {
      yield eventFinding(
        'wrong-state',
        told.eventId,
        `version ${version} of ${flid}: ${difference(value['flight'], flight)}`,
      );
    }
  }

  *#checkFirst(told: Told): Generator<Finding> {
    const version = versionOf(told);
    const first = this.first.get(nameOf(told.key, version));
    if (first !== told && first !== undefined) {
      yield eventFinding(
        'duplicated',
        told.eventId,
        `version ${version} of ${told.key} is told as ${first.eventId} too`,
      );
    }
  }

  *#checkAgain(told: Told): Generator<Finding> {
    const { eventId, key, at } = told;
    const first = this.first.get(nameOf(key, versionOf(told)));
    if (first !== undefined && !equal(first.value, told.value)) {
      yield eventFinding('wrong-state', eventId, 'told again with another value');
    }
    const sentAt = this.#events.get(eventId)?.sentAt ?? null;
    if (at !== null && sentAt !== null && at > sentAt + CLOCK_SLACK_MS) {
      yield eventFinding(
        'duplicated',
        eventId,
        `told again ${String(at - sentAt)} ms after it was recorded as SENT`,
      );
    }
  }
}

/** First deliveries ascend, and who keeps the last one keeps the newest. */
function disorder(list: readonly Told[]): string | null {
  let highest = 0;
  const seen = new Set<string>();
  for (const told of list) {
    const version = versionOf(told);
    if (!seen.has(told.eventId) && version < highest) {
      return `version ${version} was first told after version ${highest}`;
    }
    seen.add(told.eventId);
    highest = Math.max(highest, version);
  }
  const last = list.at(-1);
  return last !== undefined && versionOf(last) < highest
    ? `version ${versionOf(last)} was told last, version ${highest} before it`
    : null;
}

/** What the topic of states says last of each flight, and whether it ever went back. */
export function lastStates(facts: Facts): {
  readonly last: ReadonlyMap<string, Told>;
  readonly findings: readonly Finding[];
} {
  const last = new Map<string, Told>();
  const highest = new Map<string, number>();
  const findings = new Map<string, Finding>();
  for (const told of facts.states) {
    last.set(told.key, told);
    if (told.value === null) continue;
    const before = highest.get(told.key) ?? 0;
    const version = versionOf(told);
    if (version < before) {
      const detail = `the topic of states says version ${version} after version ${before}`;
      findings.set(told.key, { kind: 'reordered', subject: `flight ${told.key}`, detail });
    }
    highest.set(told.key, Math.max(before, version));
  }
  return { last, findings: [...findings.values()] };
}

/** The first place at which two values differ. */
export function difference(left: unknown, right: unknown, path = ''): string {
  if (isObject(left) && isObject(right)) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      if (!equal(left[key] ?? null, right[key] ?? null)) {
        return difference(left[key], right[key], path === '' ? key : `${path}.${key}`);
      }
    }
  }
  return `${path} is ${JSON.stringify(left ?? null)}, should be ${JSON.stringify(right ?? null)}`;
}

function versionOf({ value }: Told): number {
  return Number(value?.['stateVersion'] ?? 0);
}

function nameOf(flid: string, version: number): string {
  return `${flid} ${String(version)}`;
}

function eventFinding(kind: Finding['kind'], eventId: string, detail: string): Finding {
  return { kind, subject: `event ${eventId}`, detail };
}
