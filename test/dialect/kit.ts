/** Messages in the `sis` dialect and shortcuts to what became of them. */
import { expect } from 'vitest';
import { createMetaXmlDialect } from '../../src/dialect/meta-xml/dialect.ts';
import { loadProfile } from '../../src/dialect/meta-xml/profile.ts';
import type { Dialect, DialectOptions } from '../../src/dialect/port.ts';
import type { DecodedMessage, DecodeOutcome, FlightPatch, Write } from '../../src/domain/message.ts';

export const OPTIONS: DialectOptions = {
  timeZone: 'Asia/Shanghai',
  operationDayCutoff: '00:00',
  maxMessageBytes: 8 * 1024 * 1024,
  maxDepth: 64,
  ignore: ['LDM', 'REGN', 'RSTA', 'EROR'],
  reference: null,
};

export const SIS = await loadProfile('sis');

/** The dialect `sis` with options of its own. */
export function sis(overrides: Partial<DialectOptions> = {}): Dialect {
  return createMetaXmlDialect(SIS, { ...OPTIONS, ...overrides });
}

export const dialect = sis();

export interface MetaFields {
  SNDR?: string;
  SEQN?: string;
  DTTM?: string;
  RSEQ?: string;
}

/** A message of one TYPE and STYP around a payload. */
export function message(type: string, styp: string, payload: string, meta: MetaFields = {}): string {
  const fields = { SNDR: 'AODB', SEQN: '000123', DTTM: '20260314060000', ...meta };
  const head = Object.entries(fields).map(([name, value]) => `<${name}>${value}</${name}>`);
  return `<MSG><META>${head.join('')}<TYPE>${type}</TYPE><STYP>${styp}</STYP></META>${payload}</MSG>`;
}

/** An operational update of one flight. */
export function flop(styp: string, content: string): string {
  return message('FLOP', styp, `<FLOP><FLID>700001</FLID>${content}</FLOP>`);
}

/** A schedule of records, their count declared. */
export function schedule(records: readonly string[], styp = 'DNLD'): string {
  const flights = records.map((record) => `<FLTR>${record}</FLTR>`).join('');
  return message('SCHD', styp, `<SCHD><RECS>${records.length}</RECS>${flights}</SCHD>`);
}

/** What a schedule record must carry. */
export const RECORD = '<FLID>700001</FLID><FLNO>XX1201</FLNO><MVIN>D</MVIN><SODT>14MAR260805</SODT>';

/** The message a text decodes to; anything else fails the test with what became of it. */
export function decoded(text: string, by: Dialect = dialect): DecodedMessage {
  const outcome = by.decode(text);
  if (outcome.outcome !== 'decoded') throw new Error(`${outcome.outcome} ${outcome.reason}`);
  return outcome.message;
}

/** The records of a schedule or an operational update. */
export function patches(text: string, by: Dialect = dialect): readonly FlightPatch[] {
  const { body } = decoded(text, by);
  if (body.kind !== 'schedule' && body.kind !== 'operation') throw new Error(`a body of kind ${body.kind}`);
  return body.records;
}

/** What the first record writes. */
export function writes(text: string, by: Dialect = dialect): readonly Write[] {
  const [first] = patches(text, by);
  if (first === undefined) throw new Error('no record');
  return first.writes;
}

/** `malformed payload-missing:SODT`, or `decoded`. */
export function verdict(text: string, by: Dialect = dialect): string {
  return verdictOf(by.decode(text));
}

/** The same of an outcome. */
export function verdictOf(outcome: DecodeOutcome): string {
  return outcome.outcome === 'decoded' ? 'decoded' : `${outcome.outcome} ${outcome.reason}`;
}

/** Every fault of a text, in order. */
export function faults(text: string, by: Dialect = dialect): readonly string[] {
  const outcome = by.decode(text);
  if (outcome.outcome === 'decoded') return [];
  expect(outcome.reason.startsWith(outcome.faults[0].reason)).toBe(true);
  return outcome.faults.map((fault) => fault.reason);
}
