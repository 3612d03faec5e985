/**
 * From a head to something that can be decided: its text, decoded (seed §5.2 steps 1 and 2). Texts come from
 * our own database; a message without one is looked up in the mailbox once more.
 */
import type { DecodeOutcome, DecodedMessage, Fault, Header } from '../domain/message.ts';
import type { JsonObject } from '../domain/json.ts';
import { decodePausing } from '../dialect/steps.ts';
import { Outage, messageOf } from '../runtime/outage.ts';
import type { Head } from '../store/proc-state.ts';
import { insertTexts, packLength, packText, selectTexts, textOf } from '../store/raw-message.ts';
import { breather } from './breather.ts';
import type { PumpContext } from './context.ts';

/** A head and what its text says. */
export type Candidate =
  /** Understood: goes on to identity and decision. */
  | { readonly kind: 'message'; readonly head: Head; readonly message: DecodedMessage }
  /** Ends DEAD(MALFORMED); its identity is never bound. */
  | {
      readonly kind: 'malformed';
      readonly head: Head;
      readonly header: Partial<Header> | null;
      readonly reason: string;
      readonly detail: JsonObject | null;
      /** Of a schedule: the scheduled times that could be read. */
      readonly scheduledTimes?: readonly string[];
    }
  /** Not terminal: retried as CODEC_ERROR; its identity is not bound either. */
  | {
      readonly kind: 'codec-error';
      readonly head: Head;
      readonly header: Partial<Header> | null;
      readonly reason: string;
      readonly detail: JsonObject | null;
      /** Of a schedule: the scheduled times that could be read. */
      readonly scheduledTimes?: readonly string[];
    };

/** Reads and decodes the texts of a batch, in order. Throws Outage where the first head needs a mailbox that is away. */
export async function readCandidates(
  context: PumpContext,
  heads: readonly Head[],
): Promise<readonly Candidate[]> {
  const handed = new Map<bigint, string>();
  for (const { msgId } of heads) {
    const text = context.recentTexts?.take(msgId);
    if (text !== undefined) handed.set(msgId, text);
  }
  const apart = heads.flatMap(({ msgId, kept }) => (kept === null && !handed.has(msgId) ? [msgId] : []));
  const texts = await selectTexts(context.database, apart);
  const missing = apart.filter((id) => !texts.has(id));
  const second =
    missing.length === 0
      ? new Map<bigint, string | null>()
      : await lookAgain(context, missing, heads[0]?.msgId);
  const candidates: Candidate[] = [];
  const breathe = breather();
  for (const head of heads) {
    const text = handed.get(head.msgId) ?? null;
    const kept =
      text !== null
        ? { text }
        : head.kept === null
          ? texts.get(head.msgId)
          : { text: await textOf(head.kept) };
    if (kept === undefined && second === null) break;
    const candidate =
      kept === undefined
        ? await judge(context, head, second?.get(head.msgId) ?? '', breathe)
        : kept.text === null
          ? tooLarge(head)
          : await judge(context, head, kept.text, breathe);
    candidates.push(candidate);
    if (!isTerminal(candidate)) break;
    await breathe();
  }
  return candidates;
}

/** Whether a message ends at its first attempt; nothing behind one that does not is decoded before it has ended. */
function isTerminal(candidate: Candidate): boolean {
  return (
    candidate.kind === 'malformed' ||
    (candidate.kind === 'message' && candidate.message.body.kind !== 'unsupported')
  );
}

/** The messages that end together, from the first. */
export function endingOf(
  candidates: readonly Candidate[],
): readonly Exclude<Candidate, { kind: 'codec-error' }>[] {
  const others = candidates.findIndex((candidate) => !isTerminal(candidate));
  const ending = others === -1 ? candidates : candidates.slice(0, others);
  return ending.flatMap((candidate) => (candidate.kind === 'codec-error' ? [] : [candidate]));
}

/** Second look at rows without a text; null where the mailbox is away and the head of line does not need it. */
async function lookAgain(
  context: PumpContext,
  ids: readonly bigint[],
  head: bigint | undefined,
): Promise<ReadonlyMap<bigint, string | null> | null> {
  const { mailbox, database, fence, clock, maxMessageBytes } = context;
  try {
    const found = await mailbox.texts(ids);
    const kept = await Promise.all(
      [...found].flatMap(([id, text]) => {
        if (text === null || text === '') return [];
        const bytes = Buffer.byteLength(text);
        return [
          bytes > maxMessageBytes
            ? Promise.resolve({ id, packed: packLength(bytes) })
            : packText(text).then((packed) => ({ id, packed })),
        ];
      }),
    );
    if (kept.length > 0) {
      await database.transaction((tx) => insertTexts(tx, kept, clock.now()), { fence });
    }
    return found;
  } catch (error) {
    if (
      error instanceof Outage &&
      error.dependency === 'mailbox' &&
      head !== undefined &&
      !ids.includes(head)
    ) {
      return null;
    }
    throw error;
  }
}

async function judge(
  context: PumpContext,
  head: Head,
  text: string,
  breathe: () => Promise<void>,
): Promise<Candidate> {
  if (text === '') return { kind: 'malformed', head, header: null, reason: 'raw-missing', detail: null };
  const outcome = await decode(context, text, breathe);
  switch (outcome.outcome) {
    case 'decoded':
      return { kind: 'message', head, message: outcome.message };
    case 'malformed':
    case 'codec-error':
      return {
        kind: outcome.outcome,
        head,
        header: outcome.header,
        reason: outcome.reason,
        detail: detailOf(outcome.faults),
        ...(outcome.scheduledTimes === undefined ? {} : { scheduledTimes: outcome.scheduledTimes }),
      };
  }
}

/** A dialect is total by contract; a module that breaks it is a reader that failed, which its correction repairs. */
async function decode(
  { dialect }: PumpContext,
  text: string,
  breathe: () => Promise<void>,
): Promise<DecodeOutcome> {
  try {
    return await decodePausing(dialect, text, breathe);
  } catch (error) {
    const fault = { reason: 'codec:reader', message: messageOf(error), line: null, column: null };
    return { outcome: 'codec-error', reason: fault.reason, faults: [fault], header: null };
  }
}

function tooLarge(head: Head): Candidate {
  return { kind: 'malformed', head, header: null, reason: 'too-large', detail: { bytes: head.bytes } };
}

/** Every fault with its place; the first one is the reason. */
function detailOf(faults: readonly Fault[]): JsonObject {
  return {
    faults: faults
      .slice(0, 100)
      .map(({ reason, message, line, column }) => ({ reason, message, line, column })),
  };
}
