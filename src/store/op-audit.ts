/** What operators did (contract, "HTTP": who, when, what, why, before, after). Append-only. */
import type { Json } from '../domain/json.ts';
import { textArray } from './arrays.ts';
import { statement, type Queryable } from './statement.ts';
import { toTimestamp } from './time.ts';

/** One operator change, to be written in the transaction of the change itself. */
export interface AuditEntry {
  /** ms. */
  readonly at: number;
  readonly who: string;
  readonly action: string;
  /** What was changed, e.g. `station:pump` or `message:42`. */
  readonly target: string;
  readonly reason: string;
  readonly before: Json;
  readonly after: Json;
}

const INSERT = statement(
  'opAudit.insert',
  `insert into op_audit (at, who, action, target, reason, before, after)
   values ($1, $2, $3, $4, $5, $6::jsonb, $7::jsonb)`,
);

/** Appends an entry. */
export async function insertAudit(tx: Queryable, entry: AuditEntry): Promise<void> {
  const { at, who, action, target, reason, before, after } = entry;
  await tx.query(INSERT, [
    toTimestamp(at),
    ...[who, action, target, reason],
    ...[before, after].map((value) => (value === null ? null : JSON.stringify(value))),
  ]);
}

const INSERT_ALL = statement(
  'opAudit.insertAll',
  `insert into op_audit (at, who, action, target, reason, before, after)
   select $1, $2, $3, target, $4, before::jsonb, after::jsonb
   from (select unnest($5::text[]) as target, unnest($6::text[]) as before, unnest($7::text[]) as after) entries`,
);

/** Appends an entry per target of one action, in the order given. */
export async function insertAudits(
  tx: Queryable,
  { at, who, action, reason }: Pick<AuditEntry, 'at' | 'who' | 'action' | 'reason'>,
  changes: readonly Pick<AuditEntry, 'target' | 'before' | 'after'>[],
): Promise<void> {
  if (changes.length === 0) return;
  const json = (value: Json) => (value === null ? null : JSON.stringify(value));
  await tx.query(INSERT_ALL, [
    ...[toTimestamp(at), who, action, reason],
    textArray(changes.map(({ target }) => target)),
    textArray(changes.map(({ before }) => json(before))),
    textArray(changes.map(({ after }) => json(after))),
  ]);
}

export interface AuditRow {
  readonly auditId: bigint;
  readonly at: string;
  readonly who: string;
  readonly action: string;
  readonly target: string;
  readonly reason: string;
  readonly before: Json;
  readonly after: Json;
}

const SELECT = statement(
  'opAudit.select',
  // Primary key, from the newest.
  `select audit_id as "auditId", at, who, action, target, reason, before, after
   from op_audit where audit_id < $1 order by audit_id desc limit $2`,
);

/** Entries below an ID, newest first. */
export async function selectAudit(db: Queryable, below: bigint, limit: number): Promise<readonly AuditRow[]> {
  return db.query<AuditRow>(SELECT, [below, limit]);
}

/** Which entries; null where all. */
export interface AuditFilter {
  readonly who: string | null;
  readonly action: string | null;
  /** How the target begins. */
  readonly target: string | null;
  /** Not before, and before. */
  readonly from: string | null;
  readonly to: string | null;
}

const SELECT_PAGE = statement(
  'opAudit.page',
  // Primary key, from the newest; a filter that fits few reads on until it has a page of them.
  `select audit_id as "auditId", at, who, action, target, reason, before, after
   from op_audit
   where audit_id < $1 and ($3::text is null or who = $3) and ($4::text is null or action = $4)
     and ($5::text is null or starts_with(target, $5))
     and ($6::timestamptz is null or at >= $6) and ($7::timestamptz is null or at < $7)
   order by audit_id desc limit $2`,
);

/** Entries below an ID that fit, newest first. */
export async function selectAuditPage(
  db: Queryable,
  { who, action, target, from, to }: AuditFilter,
  below: bigint,
  limit: number,
): Promise<readonly AuditRow[]> {
  return db.query<AuditRow>(SELECT_PAGE, [below, limit, who, action, target, from, to]);
}
