/** Reads the journal as a consumer would, for invariant 6: line by line, never the whole file at once. */
import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** What the journal says of the KAFKA:msg events. */
export interface MessageJournal {
  /** Event IDs seen, at least once each. */
  readonly events: ReadonlySet<string>;
  /** The event of the first line, null in an empty file: what was sent before is out of sight (rotation). */
  readonly oldest: bigint | null;
  /** Flights named. */
  readonly flights: ReadonlySet<string>;
  /** First deliveries out of version order, the first of them. */
  readonly disorder: readonly string[];
  readonly lines: number;
}

/** What the journal says of the newest states: per FLID the values as told, newest last (at most a few). */
export interface StateJournal {
  readonly last: ReadonlyMap<string, readonly ToldState[]>;
  readonly lines: number;
}

/** A state as told; null flight is a tombstone. */
export interface ToldState {
  readonly version: number | null;
  readonly flight: unknown;
}

/** How many of the newest values per flight are kept: what was sent after the snapshot has to be stepped over. */
const KEPT = 8;

/** Whether there is a journal in the folder. */
export async function hasJournal(directory: string): Promise<boolean> {
  return access(join(directory, 'msg.jsonl')).then(
    () => true,
    () => false,
  );
}

/** Reads `msg.jsonl`. */
export async function readMessageJournal(directory: string): Promise<MessageJournal> {
  const events = new Set<string>();
  const newest = new Map<string, number>();
  const disorder: string[] = [];
  let lines = 0;
  let oldest: bigint | null = null;
  for await (const { key, value } of records(join(directory, 'msg.jsonl'))) {
    lines += 1;
    const eventId = String(value?.['eventId']);
    if (/^\d{1,19}$/.test(eventId)) oldest ??= BigInt(eventId);
    const version = Number(value?.['stateVersion']);
    if (events.has(eventId)) continue;
    events.add(eventId);
    const before = newest.get(key) ?? 0;
    if (version <= before && disorder.length < 20) {
      disorder.push(`flight ${key}: version ${String(version)} first delivered after ${String(before)}`);
    }
    newest.set(key, Math.max(before, version));
  }
  return { events, oldest, flights: new Set(newest.keys()), disorder, lines };
}

/** Reads `schd.jsonl`. */
export async function readStateJournal(directory: string): Promise<StateJournal> {
  const last = new Map<string, ToldState[]>();
  let lines = 0;
  for await (const { key, value } of records(join(directory, 'schd.jsonl'))) {
    lines += 1;
    const told = last.get(key) ?? [];
    told.push(
      value === null
        ? { version: null, flight: null }
        : { version: Number(value['stateVersion']), flight: value['flight'] },
    );
    if (told.length > KEPT) told.shift();
    last.set(key, told);
  }
  return { last, lines };
}

interface JournalRecord {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>> | null;
}

/** Whole lines of a journal file; a missing file is empty, a torn last line is not a record yet. */
async function* records(file: string): AsyncGenerator<JournalRecord> {
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (!exists) return;
  for await (const line of createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity })) {
    const record = parse(line);
    if (record !== null) yield record;
  }
}

function parse(line: string): JournalRecord | null {
  try {
    const record: unknown = JSON.parse(line);
    return typeof record === 'object' && record !== null && 'key' in record && 'value' in record
      ? (record as JournalRecord)
      : null;
  } catch {
    return null;
  }
}
