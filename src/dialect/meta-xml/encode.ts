/** Outgoing messages from the profile's templates (dialect.md, "Outbound, into COUTMSGS"). */
import type { OutboundHeader, OutboundMessage } from '../port.ts';
import type { LocalTimes } from './local-time.ts';
import type { Profile } from './profile-schema.ts';
import { compileTimeFormat, type TimeFormat } from './time-format.ts';

/** What a template becomes. */
interface Filled {
  readonly type: string;
  readonly subtype: string;
  readonly payload: string;
  readonly elements: readonly (readonly [element: string, value: string])[];
}

/** Encodes messages of one profile. */
export class Encoder {
  readonly #profile: Profile;
  readonly #times: LocalTimes;
  readonly #headerTime: TimeFormat;
  readonly #requestTime: TimeFormat;

  /** @throws Error where a time format does not compile: the profile was not checked */
  constructor(profile: Profile, times: LocalTimes) {
    this.#profile = profile;
    this.#times = times;
    this.#headerTime = checkedFormat(profile.outbound['header-time']);
    this.#requestTime = checkedFormat(profile.outbound['schedule-request'].time);
  }

  /**
   * A message as XML text.
   *
   * @throws RangeError where a time is not ISO 8601 with offset
   */
  encode(header: OutboundHeader, message: OutboundMessage): string {
    const { envelope } = this.#profile;
    const { type, subtype, payload, elements } = this.#fill(message);
    const meta = [
      [envelope.sender, header.sender],
      [envelope.sequence, header.sequence],
      [envelope.time, this.#time(header.dttm, this.#headerTime)],
      [envelope.type, type],
      [envelope.subtype, subtype],
    ] as const;
    return [
      '<?xml version="1.0" encoding="UTF-8"?>',
      `<${envelope.root}>`,
      `<${envelope.meta}>${meta.map(leaf).join('')}</${envelope.meta}>`,
      `<${payload}>${elements.map(leaf).join('')}</${payload}>`,
      `</${envelope.root}>`,
    ].join('\n');
  }

  #fill(message: OutboundMessage): Filled {
    const { outbound } = this.#profile;
    switch (message.kind) {
      case 'schedule-request': {
        const template = outbound['schedule-request'];
        const values = {
          '{from}': this.#time(message.from, this.#requestTime),
          '{until}': this.#time(message.until, this.#requestTime),
        };
        return { ...template, elements: filled(template.elements, values) };
      }
      case 'reference-request': {
        const template = outbound['reference-request'];
        const subtype = template.subtype === '{rtype}' ? message.rtype : template.subtype;
        return { ...template, subtype, elements: filled(template.elements, { '{rtype}': message.rtype }) };
      }
      case 'error-report': {
        const template = outbound['error-report'];
        const ofMessage = message.type === '' ? template['subtype-unknown'] : message.type;
        const subtype = template.subtype === '{type}' ? ofMessage : template.subtype;
        const values = {
          '{sequence}': message.sequence,
          '{type}': message.type,
          '{subtype}': message.subtype,
          '{errorClass}': message.errorClass,
          '{description}': message.description,
        };
        return { ...template, subtype, elements: filled(template.elements, values) };
      }
    }
  }

  #time(iso: string, format: TimeFormat): string {
    return format.print(this.#times.fromIso(iso));
  }
}

function filled<V extends string>(
  elements: Readonly<Record<string, V>>,
  values: Readonly<Record<V, string>>,
): readonly (readonly [string, string])[] {
  return Object.entries<V>(elements).map(([element, value]) => [element, values[value]] as const);
}

function leaf([element, value]: readonly [string, string]): string {
  return `<${element}>${escapeText(value)}</${element}>`;
}

/** One line of legal XML 1.0 text. */
function escapeText(value: string): string {
  return (
    value
      .toWellFormed()
      // XML 1.0 has no way to write control characters; line breaks would make two lines of one.
      .replace(/[\p{Cc}\uFFFE\uFFFF]+/gu, ' ')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
  );
}

function checkedFormat(pattern: string): TimeFormat {
  const format = compileTimeFormat(pattern);
  if (typeof format === 'string') throw new Error(`time format ${pattern}: ${format}`);
  return format;
}
