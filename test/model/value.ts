/** Values of elements (dialect.md, "Time"): what a text says, or which of the two classes of fault it is. */
import { Temporal } from 'temporal-polyfill';
import type { ValueType } from './elements.ts';

export type Value = string | number | null;

/** bad: a known format, but impossible. unknown: no known format. */
export type Fault = 'bad-value' | 'unknown-format' | 'unknown-value';

/** A text that is no value, and what it is instead. */
export class Unreadable extends Error {
  readonly fault: Fault;

  constructor(fault: Fault, text: string) {
    super(`${fault}: ${text}`);
    this.fault = fault;
  }
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];

/** Reads a value; empty text is null, that is cleared. Throws {@link Unreadable}. */
export function readValue(text: string, type: ValueType, timeZone: string): Value {
  if (text === '') return null;
  switch (type) {
    case 'text':
      return text;
    case 'time':
      return readTime(text, timeZone);
    case 'number':
      if (!/^\d+(\.\d+)?$/.test(text)) throw new Unreadable('unknown-format', text);
      return Number(text);
    case 'duration': {
      if (!/^\d{4}$/.test(text)) throw new Unreadable('unknown-format', text);
      if (text.slice(2) > '59') throw new Unreadable('bad-value', text);
      return Number(text.slice(0, 2)) * 60 + Number(text.slice(2));
    }
  }
}

/** ddMMMyyHHmm, yyyyMMddHHmmss or yyyyMMddHHmm of the airport as ISO 8601 with its offset. Throws {@link Unreadable}. */
export function readTime(text: string, timeZone: string): string {
  const month = MONTHS.indexOf(text.slice(2, 5).toUpperCase()) + 1;
  const spoken = /^(\d{2})[A-Za-z]{3}(\d{2})(\d{2})(\d{2})$/.exec(text);
  const digits = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})?$/.exec(text);
  let parts: readonly number[];
  if (spoken !== null && month > 0) {
    const [day = 0, year = 0, hour = 0, minute = 0] = spoken.slice(1).map(Number);
    parts = [year < 80 ? 2000 + year : 1900 + year, month, day, hour, minute, 0];
  } else if (digits !== null) {
    parts = digits.slice(1).map((part) => Number(part));
    parts = parts.map((part) => (Number.isNaN(part) ? 0 : part));
  } else {
    throw new Unreadable('unknown-format', text);
  }
  const [year = 0, monthOf = 0, day = 0, hour = 0, minute = 0, second = 0] = parts;
  try {
    const midnight = hour === 24 && minute === 0 && second === 0;
    const local = Temporal.PlainDateTime.from(
      { year, month: monthOf, day, hour: midnight ? 0 : hour, minute, second },
      { overflow: 'reject' },
    ).add({ days: midnight ? 1 : 0 });
    const zoned = local.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
    if (!zoned.toPlainDateTime().equals(local)) throw new RangeError('skipped by a clock change');
    return zoned.toString({ timeZoneName: 'never', smallestUnit: 'second' });
  } catch (error) {
    if (error instanceof RangeError) throw new Unreadable('bad-value', text);
    throw error;
  }
}
