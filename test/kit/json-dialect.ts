/**
 * A dialect for tests of what comes after decoding: a text is the JSON of its own outcome. Texts that are no
 * JSON are malformed, so it is as total as a real one; `{"throws": …}` breaks that promise on purpose.
 */
import { createHash } from 'node:crypto';
import type { Dialect } from '../../src/dialect/port.ts';
import type { Flid } from '../../src/domain/ids.ts';
import type { Body, DecodeOutcome, FlightPatch, Header, Write } from '../../src/domain/message.ts';

/** Judges texts written by {@link say}. */
export const JSON_DIALECT: Dialect = {
  name: 'json',
  profileHash: 'json-1',
  referenceTypes: ['ABDG'],
  mailbox: {
    inbound: { table: 'i', id: 'i', text: 't', received: 'r', processed: 'p', status: 's' },
    outbound: { table: 'o', id: 'o', text: 't', inserted: 'i', routing: 'r' },
  },
  decode,
  toText: (bytes) => ({ text: Buffer.from(bytes).toString('utf8'), charset: 'utf-8' }),
  encode: (header, message) => JSON.stringify({ header, message }),
};

/** What a message says. */
export interface Said {
  readonly header?: Partial<Header>;
  readonly body: Body;
  readonly unknownElements?: readonly string[];
  readonly unmatchedStands?: number;
}

export const SODT = '2026-03-14T08:05:00+08:00';
const DTTM = '2026-03-14T06:00:00+08:00';

/** A text that decodes to this message. */
export function say(said: Said): string {
  return JSON.stringify(said);
}

/** A text that cannot be read under this profile. */
export function unreadable(reason = 'unknown-format:ESTM', header: Partial<Header> | null = null): string {
  return JSON.stringify({ codecError: reason, header });
}

/** A text at which the reader itself fails. */
export function breaking(): string {
  return JSON.stringify({ throws: 'reader broke' });
}

/** A text that is malformed. */
export const MALFORMED = 'no JSON';

/** A schedule record of a flight: the required fields and more writes. */
export function record(flid: string, ...writes: readonly Write[]): FlightPatch {
  return {
    flid: flid as Flid,
    writes: [
      scalar('flightNumber', `YY${flid.slice(-2)}`),
      scalar('movement', 'D'),
      scalar('scheduledTime', SODT),
      ...writes,
    ],
  };
}

export function scalar(field: Extract<Write, { kind: 'scalar' }>['field'], value: string | null): Write {
  return { kind: 'scalar', field, value };
}

export function schedule(
  sequence: number,
  records: readonly FlightPatch[],
  subtype: 'DNLD' | 'RESP' | 'ADFT' = 'DNLD',
  declared: string = String(records.length),
): string {
  return say({
    header: { sequence: String(sequence), type: 'SCHD', subtype },
    body: { kind: 'schedule', subtype, declared, records },
  });
}

export function operation(
  sequence: number,
  flid: string,
  writes: readonly Write[],
  header: Partial<Header> = {},
): string {
  return say({
    header: { sequence: String(sequence), type: 'FLOP', subtype: 'TRML', ...header },
    body: { kind: 'operation', subtype: 'TRML', records: [{ flid: flid as Flid, writes }] },
  });
}

export function deletion(sequence: number, flid: string): string {
  return say({
    header: { sequence: String(sequence), type: 'FLOP', subtype: 'FDEL' },
    body: { kind: 'deletion', flids: [flid as Flid] },
  });
}

export function reference(
  sequence: number,
  op: 'DNLD' | 'RESP' | 'ADD' | 'UPD' | 'DEL',
  keys: readonly string[],
  text = 'x',
): string {
  return say({
    header: { sequence: String(sequence), type: 'ABDG', subtype: op },
    body: {
      kind: 'reference',
      rtype: 'ABDG',
      operation: op,
      declared: String(keys.length),
      records: keys.map((key) => ({ key, body: { CODE: key, TEXT: text } })),
    },
  });
}

export function ignored(sequence: number): string {
  return say({
    header: { sequence: String(sequence), type: 'LDM', subtype: 'NONE' },
    body: { kind: 'ignored' },
  });
}

export function unsupported(sequence: number): string {
  return say({
    header: { sequence: String(sequence), type: 'SCHS', subtype: 'DNLD' },
    body: { kind: 'unsupported' },
  });
}

interface Text extends Partial<Said> {
  readonly codecError?: string;
  readonly throws?: string;
}

function decode(text: string): DecodeOutcome {
  let said: Text;
  try {
    said = JSON.parse(text) as Text;
  } catch {
    return refused('malformed', 'not-well-formed', null);
  }
  if (said.throws !== undefined) throw new Error(said.throws);
  if (said.codecError !== undefined) return refused('codec-error', said.codecError, said.header ?? null);
  if (said.body === undefined) return refused('malformed', 'payload-missing:FLOP', said.header ?? null);
  return {
    outcome: 'decoded',
    message: {
      header: {
        sender: 'AODB',
        sequence: '1',
        dttm: DTTM,
        type: 'FLOP',
        subtype: 'TRML',
        echo: null,
        ...said.header,
      },
      body: said.body,
      contentHash: createHash('sha256').update(JSON.stringify(said.body)).digest('hex'),
      unknownElements: said.unknownElements ?? [],
      unmatchedStands: said.unmatchedStands ?? 0,
    },
  };
}

function refused(
  outcome: 'malformed' | 'codec-error',
  reason: string,
  header: Partial<Header> | null,
): DecodeOutcome {
  return {
    outcome,
    reason,
    faults: [{ reason, message: `${reason} here`, line: 1, column: 2 }],
    header,
  };
}
