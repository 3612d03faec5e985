/** Text → outcome, in the order of judgement of decisions.md. */
import type { DecodeOutcome, FlightPatch } from '../../domain/message.ts';
import { reason } from '../../domain/reasons.ts';
import { BodyReader } from './body.ts';
import { contentHash } from './content.ts';
import { FaultLog, singleFault } from './faults.ts';
import { readHeader, readPartialHeader } from './header.ts';
import { KindTable } from './kinds.ts';
import { LeafReader } from './leaves.ts';
import type { Rules } from './profile.ts';
import type { Profile } from './profile-schema.ts';
import { readXml } from './reader.ts';
import type { ValueReader } from './values.ts';
import { compileVocabulary } from './vocabulary.ts';

/** Limits of a text (contract, `max-message-bytes` and `max-depth`). */
export interface TextLimits {
  /** In UTF-8 bytes. */
  readonly maxMessageBytes: number;
  /** The root is depth 1. */
  readonly maxDepth: number;
}

/** Decodes messages of one profile. */
export class Decoder {
  readonly #profile: Profile;
  readonly #kinds: KindTable;
  readonly #bodies: BodyReader;
  readonly #values: ValueReader;
  readonly #limits: TextLimits;

  constructor(profile: Profile, rules: Rules, values: ValueReader, limits: TextLimits) {
    this.#profile = profile;
    this.#kinds = new KindTable(profile.kinds, rules);
    this.#bodies = new BodyReader(profile, compileVocabulary(profile.flight));
    this.#values = values;
    this.#limits = limits;
  }

  /** Total: every text ends in a named outcome; what nobody expected is `codec:reader`. */
  decode(text: string): DecodeOutcome {
    try {
      return this.#judge(text);
    } catch {
      const message = 'the reader failed unexpectedly';
      return singleFault(text, { reason: reason('codec', 'reader'), message, offset: null });
    }
  }

  #judge(text: string): DecodeOutcome {
    if (text.trim() === '') {
      return singleFault(text, { reason: 'raw-missing', message: 'the text is empty', offset: null });
    }
    if (isLongerThan(text, this.#limits.maxMessageBytes)) {
      const message = `longer than ${this.#limits.maxMessageBytes} bytes`;
      return singleFault(text, { reason: 'too-large', message, offset: null });
    }
    const { envelope } = this.#profile;
    const read = readXml(text, this.#limits.maxDepth);
    if (!read.ok) return singleFault(text, read, readPartialHeader(read.partial, envelope, this.#values));

    const faults = new FaultLog(text);
    const leaves = new LeafReader(faults, this.#values);
    const header = readHeader(read.root, envelope, leaves);
    if (header === null) return faults.outcome(readPartialHeader(read.root, envelope, this.#values));

    const { body, unmatchedStands } = this.#bodies.read(
      read.root,
      header,
      this.#kinds.kindOf(header),
      leaves,
    );
    if (!faults.empty) {
      const outcome = faults.outcome(header);
      return body.kind === 'schedule' && outcome.outcome !== 'decoded'
        ? { ...outcome, scheduledTimes: scheduledTimes(body.records) }
        : outcome;
    }
    return {
      outcome: 'decoded',
      message: {
        header,
        body,
        contentHash: contentHash(read.root, envelope.meta),
        unknownElements: leaves.unknownElements,
        unmatchedStands,
      },
    };
  }
}

/** Each once. */
function scheduledTimes(records: readonly FlightPatch[]): readonly string[] {
  const times = new Set<string>();
  for (const { writes } of records) {
    for (const write of writes) {
      if (write.kind === 'scalar' && write.field === 'scheduledTime' && typeof write.value === 'string') {
        times.add(write.value);
      }
    }
  }
  return [...times];
}

/** Whether a text has more UTF-8 bytes than allowed; short texts are not measured. */
function isLongerThan(text: string, bytes: number): boolean {
  if (text.length * 3 <= bytes) return false;
  return text.length > bytes || Buffer.byteLength(text, 'utf8') > bytes;
}
