/** Business identities (seed §2; decisions.md, "Identities"). Never archived: one look decides. */
import { LostLease } from '../runtime/outage.ts';
import { bigintArray, textArray } from './arrays.ts';
import { statement, type Call, type Queryable, type Row } from './statement.ts';
import type { Fence } from './transaction.ts';

/** A message's claim to its identity. */
export interface IdentityClaim {
  readonly msgId: bigint;
  readonly identity: string;
  /** SHA-256 of the canonical payload, hex. */
  readonly contentHash: string;
}

/** A binding that was there before a claim. */
export interface IdentityOwner {
  readonly identity: string;
  readonly msgId: bigint;
  readonly contentHash: string;
}

const BIND = statement(
  'identity.bind',
  // Both unique indexes of message_identity: a message keeps the identity it once had, also where a corrected
  // profile now reads another. Smallest MSG_ID first: of two claims in one batch the earlier message wins. It is a
  // transaction of its own in one round trip: the fence and the asynchronous commit are parts of the statement, and
  // without the fence's row there is no row to insert.
  `with fence as (
     select from lease where epoch = $4 for key share
   ), mode as (
     select set_config('synchronous_commit', 'off', true) where $4::bigint is null or exists (select from fence)
   ), bound as (
     insert into message_identity (identity_key, msg_id, content_hash)
     select identity_key, msg_id, decode(content_hash, 'hex')
     from mode, (
       select unnest($1::text[]) as identity_key, unnest($2::bigint[]) as msg_id, unnest($3::text[]) as content_hash
     ) claims
     order by msg_id
     on conflict do nothing
     returning msg_id
   )
   select exists (select from mode) as held, array(select msg_id from bound) as bound`,
);

const OWNERS = statement(
  'identity.owners',
  // Primary key and unique index of message_identity.
  `select identity_key as identity, msg_id as "msgId", encode(content_hash, 'hex') as "contentHash"
   from message_identity where identity_key = any ($1::text[])
   union
   select identity_key, msg_id, encode(content_hash, 'hex') from message_identity where msg_id = any ($2::bigint[])`,
);

/**
 * Binds what is free and gives, by claimant, the binding that decides each of the other claims: the claimant's
 * own where it had bound before ("mine already": a retry is never its own duplicate), possibly under the identity
 * it had then, else that of the message it duplicates. Runs outside a transaction, before the business one: it is
 * committed when it returns, but not waited for on the disk; the next synchronous commit flushes it. Throws LostLease.
 */
export async function bindIdentities(
  db: Queryable,
  claims: readonly IdentityClaim[],
  fence: Fence | null,
): Promise<ReadonlyMap<bigint, IdentityOwner>> {
  if (claims.length === 0) return new Map();
  const { statement, values } = bindingOf(claims, fence);
  return ownersOf(db, claims, await db.query(statement, values));
}

/** The statement that binds, to be sent as a transaction of its own; {@link ownersOf} reads its answer. */
export function bindingOf(claims: readonly IdentityClaim[], fence: Fence | null): Call {
  return {
    statement: BIND,
    values: [
      textArray(claims.map(({ identity }) => identity)),
      bigintArray(claims.map(({ msgId }) => msgId)),
      textArray(claims.map(({ contentHash }) => contentHash)),
      fence === null ? null : fence.epoch,
    ],
  };
}

/** What {@link bindIdentities} gives, from the rows that the statement has given. Throws LostLease. */
export async function ownersOf(
  db: Queryable,
  claims: readonly IdentityClaim[],
  rows: readonly Row[],
): Promise<ReadonlyMap<bigint, IdentityOwner>> {
  const [done] = rows as readonly { held: boolean; bound: readonly bigint[] }[];
  if (done?.held !== true) throw new LostLease();
  if (done.bound.length === claims.length) return new Map();
  const free = new Set(done.bound);
  const taken = claims.filter(({ msgId }) => !free.has(msgId));
  const owners = await selectOwners(db, taken);
  for (const { msgId } of taken) {
    if (!owners.has(msgId)) throw new Error(`the identity of message ${msgId.toString()} was not bound`);
  }
  return owners;
}

/** By claimant, the binding that decides its claim, without binding anything; none where the identity is free. */
export async function selectOwners(
  db: Queryable,
  claims: readonly Pick<IdentityClaim, 'msgId' | 'identity'>[],
): Promise<ReadonlyMap<bigint, IdentityOwner>> {
  if (claims.length === 0) return new Map();
  const owners = await db.query<IdentityOwner>(OWNERS, [
    claims.map(({ identity }) => identity),
    claims.map(({ msgId }) => msgId),
  ]);
  const byIdentity = new Map(owners.map((owner) => [owner.identity, owner]));
  const byMessage = new Map(owners.map((owner) => [owner.msgId, owner]));
  return new Map(
    claims.flatMap(({ msgId, identity }) => {
      const owner = byMessage.get(msgId) ?? byIdentity.get(identity);
      return owner === undefined ? [] : [[msgId, owner] as const];
    }),
  );
}
