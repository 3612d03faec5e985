/**
 * The world a batch meets: flights and reference rows as read, with every change of earlier messages of the
 * batch applied. It collects what has to be written, each row once.
 */
import type { FlightChange, FlightRecord } from '../domain/flight.ts';
import type { Flid, MsgId } from '../domain/ids.ts';
import { EMPTY_REFERENCE } from '../domain/reference-fold.ts';
import type { ReferenceChange, ReferencePast, ReferenceRow, ReferenceType } from '../domain/reference.ts';
import type { ReadFlight } from '../store/flight.ts';
import type { LatestState } from '../store/schd-event.ts';

/** A reference type under change: the floor and rows of a batch, mutated in place. */
interface TypeDraft {
  floor: MsgId | null;
  readonly rows: Map<string, ReferenceRow>;
}

/** Of a batch that has nothing to do with reference data. */
export const NO_REFERENCE = { floors: new Map<string, MsgId>(), rows: [] } as const;

export class World {
  readonly #flights: Map<string, FlightRecord>;
  readonly #archived: Set<string>;
  readonly #written = new Map<string, FlightRecord>();
  readonly #latest = new Map<string, LatestState>();
  readonly #types = new Map<string, TypeDraft>();
  readonly #writtenRows = new Map<string, ReferenceRow>();
  readonly #writtenFloors = new Map<string, MsgId>();
  readonly #past: ReferencePast[] = [];

  constructor(
    flights: ReadonlyMap<string, ReadFlight>,
    reference: { readonly floors: ReadonlyMap<string, MsgId>; readonly rows: readonly ReferenceRow[] },
  ) {
    this.#flights = new Map([...flights].map(([flid, { record }]) => [flid, record]));
    this.#archived = new Set([...flights].filter(([, { archived }]) => archived).map(([flid]) => flid));
    for (const [rtype, floor] of reference.floors) this.#type(rtype).floor = floor;
    for (const row of reference.rows) this.#type(row.rtype).rows.set(row.rkey, row);
  }

  flight(flid: Flid): FlightRecord | null {
    return this.#flights.get(flid) ?? null;
  }

  reference(rtype: string): ReferenceType {
    return this.#types.get(rtype) ?? EMPTY_REFERENCE;
  }

  applyFlight(change: FlightChange, msgId: bigint): void {
    const { after, stored, event } = change;
    if (stored) {
      this.#flights.set(after.flid, after);
      this.#written.set(after.flid, after);
    }
    if (event !== null) {
      const { flid, version } = after;
      this.#latest.set(flid, { flid, eventType: event.type, stateVersion: version, msgId });
    }
  }

  applyReference(change: ReferenceChange): void {
    const type = this.#type(change.rtype);
    if (change.floor !== null && change.floor !== type.floor)
      this.#writtenFloors.set(change.rtype, change.floor);
    type.floor = change.floor;
    for (const past of change.past) this.#past.push(past);
    for (const row of change.rows) {
      type.rows.set(row.rkey, row);
      this.#writtenRows.set(`${row.rtype} ${row.rkey}`, row);
    }
  }

  /** Flights to be written, each in its last state. */
  get flightsWritten(): readonly FlightRecord[] {
    return [...this.#written.values()];
  }

  /** Those of them that were in the archive. */
  get unarchived(): readonly string[] {
    return [...this.#archived].filter((flid) => this.#written.has(flid));
  }

  /** The flights among these as they will stand when this batch has been written. */
  carried(flids: ReadonlySet<string>): readonly (readonly [string, ReadFlight])[] {
    return [...this.#flights].flatMap(([flid, record]) =>
      flids.has(flid)
        ? [[flid, { record, archived: this.#archived.has(flid) && !this.#written.has(flid) }] as const]
        : [],
    );
  }

  /** The newest state of each flight with a visible change. */
  get latestStates(): readonly LatestState[] {
    return [...this.#latest.values()];
  }

  get rowsWritten(): readonly ReferenceRow[] {
    return [...this.#writtenRows.values()];
  }

  get floorsWritten(): ReadonlyMap<string, MsgId> {
    return this.#writtenFloors;
  }

  /** What reference rows had been before each change, in the order of the changes. */
  get referencePast(): readonly ReferencePast[] {
    return this.#past;
  }

  #type(rtype: string): TypeDraft {
    let type = this.#types.get(rtype);
    if (type === undefined) {
      type = { floor: null, rows: new Map() };
      this.#types.set(rtype, type);
    }
    return type;
  }
}
