/** The META-XML family as a dialect: a profile and the airport's options make one. */
import { DialectLoadError } from '../load-error.ts';
import type { Dialect, DialectOptions } from '../port.ts';
import { atOnce } from '../steps.ts';
import { toText } from './charset.ts';
import { Decoder } from './decode.ts';
import { Encoder } from './encode.ts';
import { LocalTimes } from './local-time.ts';
import type { Profile } from './profile-schema.ts';
import { profileHash, rulesOf } from './profile.ts';
import { compileTimeFormat } from './time-format.ts';
import { ValueReader } from './values.ts';

/**
 * A dialect from a checked profile.
 *
 * @throws DialectLoadError where the options do not fit: an unknown zone, a reference type that is another kind
 */
export function createMetaXmlDialect(profile: Profile, options: DialectOptions): Dialect {
  const rules = rulesOf(profile, options);
  const times = localTimes(options.timeZone);
  const { schedule, operation, deletion } = profile.kinds;
  const clash = rules.reference.filter((type) =>
    [schedule.type, operation.type, deletion.type].includes(type),
  );
  if (clash.length > 0) {
    throw new DialectLoadError(
      `dialect ${profile.name} cannot take these as reference types`,
      clash.map((type) => `${type}: already another kind of message`),
    );
  }
  const formats = profile.times.formats.map(compileTimeFormat).filter((format) => typeof format !== 'string');
  const decoder = new Decoder(profile, rules, new ValueReader(formats, times), options);
  const encoder = new Encoder(profile, times);
  return {
    name: profile.name,
    profileHash: profileHash(profile, options),
    referenceTypes: rules.reference,
    mailbox: profile.mailbox,
    names: profile.names,
    decode: (text) => atOnce(decoder.decode(text)),
    decodeInSteps: (text) => decoder.decode(text),
    toText,
    encode: (header, message) => encoder.encode(header, message),
  };
}

function localTimes(zone: string): LocalTimes {
  try {
    return new LocalTimes(zone);
  } catch {
    throw new DialectLoadError('the time zone is not known', [zone]);
  }
}
