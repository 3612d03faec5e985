/**
 * Binds identities and tells duplicates (seed §2, §5.2 step 3; decisions.md, "Identities"): one statement for a
 * whole batch, committed asynchronously on a connection of its own; the business commit that follows flushes it.
 */
import { identityOf } from '../domain/identity.ts';
import type { DecodedMessage } from '../domain/message.ts';
import { duplicateOf } from '../domain/reasons.ts';
import { bindIdentities, type IdentityOwner } from '../store/message-identity.ts';
import { selectTexts } from '../store/raw-message.ts';
import type { Candidate } from './candidate.ts';
import type { PumpContext } from './context.ts';

/** What became of a message's identity. */
export interface Bound {
  readonly identity: string;
  /** `duplicate-of:…` where another message owns it; null where it is ours. */
  readonly duplicate: { readonly reason: string; readonly original: bigint } | null;
}

/** Binds the identities of all messages of a batch; malformed ones have none. */
export async function bindBatch(
  context: PumpContext,
  candidates: readonly Candidate[],
): Promise<ReadonlyMap<bigint, Bound>> {
  const claims = candidates.flatMap((candidate) =>
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
  if (claims.length === 0) return new Map();
  const { database, fence } = context;
  const owners = await database.transaction((tx) => bindIdentities(tx, claims), {
    fence,
    asynchronous: true,
  });
  const bound = new Map<bigint, Bound>();
  for (const { msgId, identity, contentHash, message } of claims) {
    const owner = owners.get(identity);
    if (owner === undefined || owner.msgId === msgId) {
      bound.set(msgId, { identity, duplicate: null });
      continue;
    }
    const differs = owner.contentHash !== contentHash;
    bound.set(msgId, {
      identity,
      duplicate: { reason: duplicateOf(owner.msgId, differs), original: owner.msgId },
    });
    if (differs) await reportDifference(context, msgId, message, owner);
    if (owner.state === 'DEAD') reportDead(context, msgId, owner);
  }
  return bound;
}

/** A duplicate whose original is DEAD may be the resend that should have replaced it: an operator must look. */
function reportDead(context: PumpContext, msgId: bigint, owner: IdentityOwner): void {
  context.metrics.duplicateOfDead.inc();
  context.log.warn({ msgId, original: owner.msgId }, 'duplicate of a dead message');
}

async function reportDifference(
  context: PumpContext,
  msgId: bigint,
  message: DecodedMessage,
  owner: IdentityOwner,
): Promise<void> {
  context.metrics.duplicateMismatch.inc();
  context.log.warn(
    { msgId, original: owner.msgId, identity: owner.identity },
    'duplicate with other content',
  );
  const text = (await selectTexts(context.database, [owner.msgId])).get(owner.msgId)?.text ?? null;
  const original = text === null ? null : context.dialect.decode(text);
  if (original?.outcome !== 'decoded') return;
  if (Date.parse(message.header.dttm) <= Date.parse(original.message.header.dttm)) return;
  context.metrics.seqnReset.inc();
  context.log.warn(
    { msgId, original: owner.msgId, identity: owner.identity },
    'SEQN reset suspected: a newer message with other content under a used identity',
  );
}
