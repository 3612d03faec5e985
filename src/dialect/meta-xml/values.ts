/**
 * Text → value, by the type the catalogue or the envelope gives it (dialect.md, "Time"). Every function is
 * given trimmed, non-empty text; empty text means "clear" and is the caller's matter.
 */
import type { FieldType } from '../../domain/fields.ts';
import type { FieldValue } from '../../domain/message.ts';
import type { BadValueReason } from './faults.ts';
import type { LocalTimes } from './local-time.ts';
import type { TimeFormat } from './time-format.ts';

/** What a text is read as. duration: HHmm → minutes, hours up to 99. */
export type ValueType = FieldType | 'duration';

/** How a leaf of a record is read. */
export interface ValueRule {
  readonly type: ValueType;
  /** Closed set of values; null for any. */
  readonly values: readonly string[] | null;
}

/** A value, or why there is none; `message` never repeats the text, which may be personal. */
export type ValueOutcome<T extends FieldValue = FieldValue> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: BadValueReason; readonly message: string };

/** Digits a JavaScript number carries exactly. */
const EXACT_DIGITS = 15;
const WHOLE = /^\d{1,15}$/;
const FRACTION = /^(\d+)(?:\.(\d+))?$/;
const DURATION = /^(\d{2})(\d{2})$/;

/** Reads values for one airport. */
export class ValueReader {
  readonly #formats: readonly TimeFormat[];
  readonly #times: LocalTimes;

  constructor(formats: readonly TimeFormat[], times: LocalTimes) {
    this.#formats = formats;
    this.#times = times;
  }

  /** Reads a text by its rule. */
  read(text: string, rule: ValueRule): ValueOutcome {
    if (rule.values !== null && !rule.values.includes(text)) {
      return bad('unknown-value', `is none of ${rule.values.join(', ')}`);
    }
    switch (rule.type) {
      case 'text':
        return { ok: true, value: text };
      case 'time':
        return this.time(text);
      case 'count':
        return count(text);
      case 'quantity':
        return quantity(text);
      case 'duration':
        return duration(text);
    }
  }

  /** Reads a local time as ISO 8601 with the airport's offset. */
  time(text: string): ValueOutcome<string> {
    for (const format of this.#formats) {
      const written = format.parse(text);
      if (written === null) continue;
      const iso = this.#times.toIso(written);
      return iso === null
        ? bad('bad-value', `has the format ${format.pattern}, but there is no such local time`)
        : { ok: true, value: iso };
    }
    return bad(
      'unknown-format',
      `has none of the formats ${this.#formats.map((format) => format.pattern).join(', ')}`,
    );
  }
}

/** A whole number of ASCII digits; signs, exponents and longer numbers are of no known format. */
function count(text: string): ValueOutcome<number> {
  return WHOLE.test(text)
    ? { ok: true, value: Number(text) }
    : bad('unknown-format', `is no whole number of at most ${EXACT_DIGITS} digits`);
}

/** A number that may have a fraction, exact as a JavaScript number. */
function quantity(text: string): ValueOutcome<number> {
  const [, whole, fraction = ''] = FRACTION.exec(text) ?? [];
  return whole !== undefined && whole.length + fraction.length <= EXACT_DIGITS
    ? { ok: true, value: Number(text) }
    : bad('unknown-format', `is no number of at most ${EXACT_DIGITS} digits`);
}

/** HHmm → minutes; sixty minutes are impossible, other lengths are of no known format. */
function duration(text: string): ValueOutcome<number> {
  const [, hours, minutes] = DURATION.exec(text) ?? [];
  if (hours === undefined || minutes === undefined) return bad('unknown-format', 'is no duration HHmm');
  if (Number(minutes) > 59) return bad('bad-value', 'has more than 59 minutes in an hour');
  return { ok: true, value: Number(hours) * 60 + Number(minutes) };
}

function bad(why: BadValueReason, message: string): ValueOutcome<never> {
  return { ok: false, reason: why, message };
}
