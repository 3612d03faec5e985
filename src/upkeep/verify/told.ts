/** What a target has told, in as little memory as the comparison needs: a bit per event, a hash per flight. */
import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../../domain/json.ts';
import { isJsonArray, isJsonObject } from '../../domain/json.ts';
import type { TargetReader } from './target.ts';

const MOST_NOTES = 20;

/** Event IDs are numbered without large gaps: a bit each, in blocks. */
export class IdSet {
  readonly #blocks = new Map<bigint, Uint32Array>();

  /** Adds an ID; false where it was there already. */
  add(id: bigint): boolean {
    const at = id >> 10n;
    let block = this.#blocks.get(at);
    if (block === undefined) this.#blocks.set(at, (block = new Uint32Array(32)));
    const bit = Number(id & 1023n);
    const before = block[bit >> 5] ?? 0;
    const mask = 1 << (bit & 31);
    block[bit >> 5] = before | mask;
    return (before & mask) === 0;
  }

  has(id: bigint): boolean {
    const bit = Number(id & 1023n);
    return (((this.#blocks.get(id >> 10n)?.[bit >> 5] ?? 0) >>> (bit & 31)) & 1) === 1;
  }
}

/** What the stream of changes says. */
export interface ToldMessages {
  /** Events seen, at least once each. */
  readonly events: IdSet;
  /** Per partition its oldest event, null where it holds none, and whether older ones may be gone. */
  readonly oldest: readonly { readonly event: bigint | null; readonly trimmed: boolean }[];
  /** Flights named. */
  readonly flights: ReadonlySet<string>;
  /** First deliveries out of version order, the first of them. */
  readonly disorder: readonly string[];
  readonly records: number;
}

/**
 * Reads the stream of changes. May throw TargetUnreadable.
 *
 * @param retried events that an operator had sent again after they were dead: late on purpose, also behind newer ones
 */
export async function readMessages(
  reader: TargetReader,
  retried: ReadonlySet<bigint>,
): Promise<ToldMessages> {
  const events = new IdSet();
  const flights = new Set<string>();
  const disorder: string[] = [];
  const oldest: { event: bigint | null; trimmed: boolean }[] = [];
  let records = 0;
  for (const partition of reader.partitions('msg')) {
    // The order of a flight is that of its partition; between partitions there is none.
    const newest = new Map<string, number>();
    let first: bigint | null = null;
    for await (const { key, value } of partition.records()) {
      records += 1;
      const id = String(value?.['eventId']);
      if (!/^\d{1,19}$/.test(id)) {
        if (disorder.length < MOST_NOTES) disorder.push(`flight ${key}: a record without an event ID`);
        continue;
      }
      const event = BigInt(id);
      first ??= event;
      const version = Number(value?.['stateVersion']);
      flights.add(key);
      if (!events.add(event)) continue;
      const before = newest.get(key) ?? 0;
      if (version <= before && !retried.has(event) && disorder.length < MOST_NOTES) {
        disorder.push(`flight ${key}: version ${String(version)} first delivered after ${String(before)}`);
      }
      newest.set(key, Math.max(before, version));
    }
    oldest.push({ event: first, trimmed: partition.trimmed });
  }
  return { events, oldest, flights, disorder, records };
}

/** The last value of a flight in one partition; version and hash null for a tombstone. */
export interface ToldState {
  readonly version: number | null;
  readonly hash: string | null;
}

/** What the stream of newest states says. */
export interface ToldStates {
  /** Per FLID its last value, one for each partition that names it: more than one only where their number has changed. */
  readonly last: ReadonlyMap<string, readonly ToldState[]>;
  readonly records: number;
}

/** Reads the stream of newest states. May throw TargetUnreadable. */
export async function readStates(reader: TargetReader): Promise<ToldStates> {
  const last = new Map<string, ToldState[]>();
  let records = 0;
  for (const partition of reader.partitions('schd')) {
    const here = new Map<string, ToldState>();
    for await (const { key, value } of partition.records()) {
      records += 1;
      here.set(
        key,
        value === null
          ? { version: null, hash: null }
          : { version: Number(value['stateVersion']), hash: stateHash(value['flight'] as Json) },
      );
    }
    for (const [key, told] of here) {
      const elsewhere = last.get(key);
      if (elsewhere === undefined) last.set(key, [told]);
      else elsewhere.push(told);
    }
  }
  return { last, records };
}

/** A hash that is equal for the same JSON, whatever the order of its keys. */
export function stateHash(state: Json | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(state ?? null)))
    .digest('base64');
}

function sorted(value: Json): Json {
  if (isJsonArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const result: Record<string, Json> = {};
  for (const key of Object.keys(value).sort()) result[key] = sorted(value[key] ?? null);
  return result satisfies JsonObject;
}
