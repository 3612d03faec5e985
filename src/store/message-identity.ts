/** Business identities (seed §2; decisions.md, "Identities"). Never archived: one look decides. */
import { statement, type Queryable } from './database.ts';

/** A message's claim to its identity. */
export interface IdentityClaim {
  readonly msgId: bigint;
  readonly identity: string;
  /** SHA-256 of the canonical payload, hex. */
  readonly contentHash: string;
}

/** The message that owns an identity claimed by another one. */
export interface IdentityOwner {
  readonly identity: string;
  readonly msgId: bigint;
  readonly contentHash: string;
  /** Its state, archived or not; null where it is not known. */
  readonly state: string | null;
}

const BIND = statement(
  'identity.bind',
  // Primary key of message_identity. Smallest MSG_ID first: of two claims in one batch the earlier message wins.
  `insert into message_identity (identity_key, msg_id, content_hash)
   select identity_key, msg_id, decode(content_hash, 'hex')
   from unnest($1::text[], $2::bigint[], $3::text[]) as claims (identity_key, msg_id, content_hash)
   order by msg_id
   on conflict (identity_key) do nothing
   returning msg_id as "msgId"`,
);

const OWNERS = statement(
  'identity.owners',
  // Primary keys of message_identity, proc_state and proc_state_hst.
  `select i.identity_key as identity, i.msg_id as "msgId", encode(i.content_hash, 'hex') as "contentHash",
     coalesce(p.state, h.state) as state
   from message_identity i
   left join proc_state p on p.msg_id = i.msg_id
   left join proc_state_hst h on h.msg_id = i.msg_id
   where i.identity_key = any ($1::text[])`,
);

/**
 * Binds what is free and gives the owners of the rest, the claimant itself where it had bound before ("mine
 * already": a retry is never its own duplicate). Belongs in a transaction of its own, before the business one.
 */
export async function bindIdentities(
  tx: Queryable,
  claims: readonly IdentityClaim[],
): Promise<ReadonlyMap<string, IdentityOwner>> {
  if (claims.length === 0) return new Map();
  const bound = await tx.query<{ msgId: bigint }>(BIND, [
    claims.map(({ identity }) => identity),
    claims.map(({ msgId }) => msgId),
    claims.map(({ contentHash }) => contentHash),
  ]);
  if (bound.length === claims.length) return new Map();
  const free = new Set(bound.map(({ msgId }) => msgId));
  const taken = claims.filter(({ msgId }) => !free.has(msgId)).map(({ identity }) => identity);
  const owners = await tx.query<IdentityOwner>(OWNERS, [taken]);
  return new Map(owners.map((owner) => [owner.identity, owner]));
}
