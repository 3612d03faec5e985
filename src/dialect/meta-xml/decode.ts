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

/**
 * Bytes of a text for each element or attribute allowed. A value in an element of four letters takes at least 14,
 * so that messages of any legal size that say something stay below; at 8 MiB so many elements take some 70 MB.
 */
const BYTES_PER_NODE = 16;
/** UTF-16 code units whose line ends are replaced in a step. */
const LINE_ENDS_STEP = 512 * 1024;
/** Allowed in any text. */
const LEAST_NODES = 100_000;

/** Decodes messages of one profile. */
export class Decoder {
  readonly #profile: Profile;
  readonly #kinds: KindTable;
  readonly #bodies: BodyReader;
  readonly #values: ValueReader;
  readonly #limits: TextLimits;
  readonly #maxNodes: number;

  constructor(profile: Profile, rules: Rules, values: ValueReader, limits: TextLimits) {
    this.#profile = profile;
    this.#kinds = new KindTable(profile.kinds, rules);
    this.#bodies = new BodyReader(profile, compileVocabulary(profile.flight));
    this.#values = values;
    this.#limits = limits;
    this.#maxNodes = Math.max(LEAST_NODES, Math.floor(limits.maxMessageBytes / BYTES_PER_NODE));
  }

  /**
   * Total: every text ends in a named outcome; what nobody expected is `codec:reader`. It yields where others may
   * have the thread, in a text of 64 Ki characters and more.
   */
  *decode(text: string): Generator<undefined, DecodeOutcome> {
    try {
      return yield* this.#judge(text);
    } catch {
      const message = 'the reader failed unexpectedly';
      return singleFault(text, { reason: reason('codec', 'reader'), message, offset: null });
    }
  }

  *#judge(raw: string): Generator<undefined, DecodeOutcome> {
    if (raw.trim() === '') {
      return singleFault(raw, { reason: 'raw-missing', message: 'the text is empty', offset: null });
    }
    if (isLongerThan(raw, this.#limits.maxMessageBytes)) {
      const message = `longer than ${this.#limits.maxMessageBytes} bytes`;
      return singleFault(raw, { reason: 'too-large', message, offset: null });
    }
    const text = yield* withPlainLineEnds(raw);
    const { envelope } = this.#profile;
    const read = yield* readXml(text, this.#limits.maxDepth, this.#maxNodes);
    if (!read.ok) return singleFault(text, read, readPartialHeader(read.partial, envelope, this.#values));

    yield;
    const faults = new FaultLog(text);
    const leaves = new LeafReader(faults, this.#values);
    const header = readHeader(read.root, envelope, leaves);
    if (header === null) return faults.outcome(readPartialHeader(read.root, envelope, this.#values));

    yield;
    const kind = this.#kinds.kindOf(header);
    const { body, unmatchedStands } = this.#bodies.read(read.root, header, kind, leaves);
    yield;
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

/**
 * Lines that end as XML reads them, so that places are those of the lines and columns of the original. The parser
 * would do it itself, but of each CR it makes a string of its own: a text of nothing else took 250 MB.
 */
function* withPlainLineEnds(text: string): Generator<undefined, string> {
  if (!text.includes('\r')) return text;
  const parts: string[] = [];
  for (let from = 0; from < text.length; from += LINE_ENDS_STEP) {
    if (from > 0) yield;
    const to = from + LINE_ENDS_STEP;
    // A CR whose LF is in the next part is left out here.
    const end = text[to - 1] === '\r' && text[to] === '\n' ? to - 1 : to;
    // `replace` would give a text made of as many pieces as there are lines, and keep them all.
    parts.push(text.slice(from, end).split('\r\n').join('\n').split('\r').join('\n'));
  }
  return parts.join('');
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
