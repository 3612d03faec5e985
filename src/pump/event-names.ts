/**
 * Puts names into the events of a batch (contract, `events.names`). Each event sees reference data as its own message
 * met it: with the changes of earlier messages of the batch and without those of later ones.
 */
import type { FlightState } from '../domain/flight.ts';
import type { JsonObject } from '../domain/json.ts';
import { codesOf, namesOf, type NameRules, type ReferenceCode } from '../domain/names.ts';
import type { ReferenceType } from '../domain/reference.ts';
import type { Queryable } from '../store/statement.ts';
import type { NewMessageEvent } from '../store/msg-event.ts';
import { selectRecords } from '../store/reference-names.ts';

/** A flight as an event tells it, and the records of its codes that the batch has in hand. */
interface Noted {
  readonly state: FlightState;
  readonly records: ReadonlyMap<string, JsonObject>;
}

export class EventNames {
  readonly #rules: NameRules;
  readonly #reference: (rtype: string) => ReferenceType;
  readonly #noted: (Noted | null)[] = [];
  readonly #unread = new Map<string, ReferenceCode>();

  constructor(rules: NameRules, reference: (rtype: string) => ReferenceType) {
    this.#rules = rules;
    this.#reference = reference;
  }

  /** Notes the flight of the next event; null where it tells none. */
  note(state: FlightState | null): void {
    if (state === null) {
      this.#noted.push(null);
      return;
    }
    const records = new Map<string, JsonObject>();
    for (const code of codesOf(state, this.#rules)) {
      const row = this.#reference(code.rtype).rows.get(code.rkey);
      // What the batch has not in hand it has not changed so far; the database has it as it was before the batch.
      if (row === undefined) this.#unread.set(keyOf(code), code);
      else records.set(keyOf(code), row.body);
    }
    this.#noted.push({ state, records });
  }

  /** The events with their names. One statement, which belongs before the batch writes its reference rows. */
  async into(tx: Queryable, events: readonly NewMessageEvent[]): Promise<readonly NewMessageEvent[]> {
    const stored = await selectRecords(tx, [...this.#unread.values()]);
    return events.map((event, index) => {
      const noted = this.#noted[index] ?? null;
      const names =
        noted === null
          ? {}
          : namesOf(noted.state, this.#rules, (code) => noted.records.get(keyOf(code)) ?? stored(code));
      return { ...event, body: `${event.body.slice(0, -1)},"names":${JSON.stringify(names)}}` };
    });
  }
}

function keyOf({ rtype, rkey }: ReferenceCode): string {
  return `${rtype} ${rkey}`;
}
