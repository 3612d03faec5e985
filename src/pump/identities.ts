/**
 * Binds identities and tells duplicates (seed §2, §5.2 step 3; decisions.md, "Identities"): one fenced
 * statement for a whole batch, committed asynchronously by itself; the business commit that follows flushes it.
 */
import { identityOf } from '../domain/identity.ts';
import { decodePausing } from '../dialect/steps.ts';
import type { DecodedMessage } from '../domain/message.ts';
import { duplicateOf } from '../domain/reasons.ts';
import { bindIdentities, type IdentityOwner } from '../store/message-identity.ts';
import { selectTexts } from '../store/raw-message.ts';
import { breather } from './breather.ts';
import type { Candidate } from './candidate.ts';
import type { PumpContext } from './context.ts';

/** What became of a message's identity. */
export interface Bound {
  readonly identity: string;
  /** Null where the identity is the message's own. */
  readonly duplicate: Duplicate | null;
}

/** That another message owns the identity. */
export interface Duplicate {
  /** `duplicate-of:…` */
  readonly reason: string;
  readonly original: bigint;
  readonly contentDiffers: boolean;
  /** Other content and a newer DTTM: the sender may have restarted its counter. */
  readonly resetSuspected: boolean;
}

/** A message and the identity that it would have. */
export interface Claim {
  readonly msgId: bigint;
  readonly identity: string;
  readonly contentHash: string;
  readonly message: DecodedMessage;
}

/** Binds the identities of all messages of a batch; malformed ones have none. */
export async function bindBatch(
  context: PumpContext,
  candidates: readonly Candidate[],
): Promise<ReadonlyMap<bigint, Bound>> {
  const { database, fence } = context;
  const claims = claimsOf(context, candidates);
  return boundBy(context, claims, await bindIdentities(database, claims, fence));
}

/** The identities that the messages of a batch claim; malformed ones claim none. */
export function claimsOf(context: PumpContext, candidates: readonly Candidate[]): readonly Claim[] {
  return candidates.flatMap((candidate): Claim[] =>
    candidate.kind === 'message'
      ? [
          {
            msgId: candidate.head.msgId,
            identity: identityOf(candidate.message.header, context.includeDayBoundary),
            contentHash: candidate.message.contentHash,
            message: candidate.message,
          },
        ]
      : [],
  );
}

/** What became of each claim, where those that were not free have these owners. */
export async function boundBy(
  context: PumpContext,
  claims: readonly Claim[],
  owners: ReadonlyMap<bigint, IdentityOwner>,
): Promise<ReadonlyMap<bigint, Bound>> {
  const times = await originalTimes(context, claims, owners);
  return new Map(claims.map((claim) => [claim.msgId, boundOf(claim, owners.get(claim.msgId), times)]));
}

function boundOf(claim: Claim, owner: IdentityOwner | undefined, times: ReadonlyMap<bigint, string>): Bound {
  const { msgId, identity, message } = claim;
  if (owner === undefined) return { identity, duplicate: null };
  if (owner.msgId === msgId) return { identity: owner.identity, duplicate: null };
  const contentDiffers = differs(claim, owner);
  const original = times.get(owner.msgId);
  return {
    identity,
    duplicate: {
      reason: duplicateOf(owner.msgId, contentDiffers),
      original: owner.msgId,
      contentDiffers,
      resetSuspected:
        contentDiffers && original !== undefined && Date.parse(message.header.dttm) > Date.parse(original),
    },
  };
}

function differs({ msgId, contentHash }: Claim, owner: IdentityOwner): boolean {
  return owner.msgId !== msgId && owner.contentHash !== contentHash;
}

/** DTTM of the originals of duplicates with other content: from this batch, else from their kept texts. */
async function originalTimes(
  { database, dialect }: PumpContext,
  claims: readonly Claim[],
  owners: ReadonlyMap<bigint, IdentityOwner>,
): Promise<ReadonlyMap<bigint, string>> {
  const wanted = new Set<bigint>();
  for (const claim of claims) {
    const owner = owners.get(claim.msgId);
    if (owner !== undefined && differs(claim, owner)) wanted.add(owner.msgId);
  }
  const times = new Map<bigint, string>();
  if (wanted.size === 0) return times;
  for (const { msgId, message } of claims) {
    if (wanted.delete(msgId)) times.set(msgId, message.header.dttm);
  }
  const breathe = breather();
  for (const [id, { text }] of await selectTexts(database, [...wanted])) {
    const original = text === null ? null : await decodePausing(dialect, text, breathe);
    if (original?.outcome === 'decoded') times.set(id, original.message.header.dttm);
  }
  return times;
}
