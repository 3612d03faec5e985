/**
 * Texts as they were read from the mailbox (decisions.md, "Text is read at intake"): raw DEFLATE of the UTF-8
 * text with its SHA-256. All statements go by the primary key.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync, type ZlibOptions } from 'node:zlib';
import { bigintArray, byteaArray } from './arrays.ts';
import { statement, type Queryable } from './statement.ts';
import { toTimestamp } from './time.ts';

const deflateAsync = promisify(deflateRaw);
const inflateAsync = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflateRaw);

/** Fastest level: XML shrinks to a fifth with it, and the default level costs three times the CPU for little more. */
const LEVEL = 1;
/** Below this many bytes a call on this thread is cheaper than the way to another one. */
const SYNC_BYTES = 65_536;

/** A text ready to be stored; body and hash are null where the text is over the size limit: its length is all we keep. */
export interface PackedText {
  readonly body: Uint8Array | null;
  /** Length of the UTF-8 text in bytes. */
  readonly bytes: number;
  readonly sha256: Uint8Array | null;
}

/** Compresses a text and hashes its UTF-8 bytes. */
export async function packText(text: string): Promise<PackedText> {
  const utf8 = Buffer.from(text, 'utf8');
  const body =
    utf8.length <= SYNC_BYTES
      ? deflateRawSync(utf8, fitting(utf8.length))
      : await deflateAsync(utf8, { level: LEVEL });
  return { body, bytes: utf8.length, sha256: hashText(utf8) };
}

/**
 * Options for a short text: most of what such a call costs is to set up tables that it does not need, and a window
 * that holds the whole text compresses as well as the largest.
 */
function fitting(bytes: number): ZlibOptions {
  const windowBits = Math.min(Math.max(Math.ceil(Math.log2(bytes + 1)), 9), 15);
  return {
    level: LEVEL,
    windowBits,
    memLevel: Math.min(windowBits - 6, 8),
    chunkSize: 1024 << (windowBits - 9),
  };
}

/** Stands for a text over the size limit. */
export function packLength(bytes: number): PackedText {
  return { body: null, bytes, sha256: null };
}

/** SHA-256 of a text's UTF-8 bytes, as stored. */
export function hashText(text: string | Uint8Array): Uint8Array {
  return createHash('sha256').update(text).digest();
}

/** A text as it is kept: `body` is null where it was over the size limit and `bytes` is its length. */
export interface KeptText {
  readonly body: Uint8Array | null;
  readonly bytes: number;
}

/** The text, or null where no body is kept. */
export async function textOf({ body, bytes }: KeptText): Promise<string | null> {
  return body === null ? null : unpackText(body, bytes);
}

async function unpackText(body: Uint8Array, bytes: number): Promise<string> {
  const limit = { maxOutputLength: Math.max(bytes, 1) };
  const utf8 =
    bytes <= SYNC_BYTES ? inflateRawSync(body, limit) : await inflateAsync(Buffer.from(body), limit);
  return utf8.toString('utf8');
}

const INSERT = statement(
  'raw.insert',
  `insert into raw_message (msg_id, body, bytes, sha256, stored_at)
   select u.msg_id, u.body, u.bytes, u.sha256, $5::timestamptz
   from unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bytea[]) as u (msg_id, body, bytes, sha256)
   on conflict (msg_id) do nothing`,
);

/** Stores texts; those already there stay as they are (a text never changes, seed PRE-7). */
export async function insertTexts(
  tx: Queryable,
  texts: readonly { readonly id: bigint; readonly packed: PackedText }[],
  now: number,
): Promise<void> {
  if (texts.length === 0) return;
  await tx.query(INSERT, [
    bigintArray(texts.map(({ id }) => id)),
    byteaArray(texts.map(({ packed }) => packed.body)),
    bigintArray(texts.map(({ packed }) => BigInt(packed.bytes))),
    byteaArray(texts.map(({ packed }) => packed.sha256)),
    toTimestamp(now),
  ]);
}

const SELECT = statement(
  'raw.select',
  `select msg_id as "id", body, bytes from raw_message where msg_id = any ($1::bigint[])`,
);

/**
 * Texts by message ID. `text` is null where no body is kept: the text was over the size limit and `bytes` is
 * its length. An ID missing from the result had no text at intake (NULL, empty, row gone), or retention has
 * removed it.
 */
export async function selectTexts(
  db: Queryable,
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, { readonly text: string | null; readonly bytes: number }>> {
  const texts = new Map<bigint, { text: string | null; bytes: number }>();
  if (ids.length === 0) return texts;
  const rows = await db.query<{ id: bigint; body: Buffer | null; bytes: bigint }>(SELECT, [ids]);
  for (const row of rows) {
    const bytes = Number(row.bytes);
    texts.set(row.id, { text: row.body === null ? null : await unpackText(row.body, bytes), bytes });
  }
  return texts;
}

/** What the check for restarted IDs knows of a message: its hash, and whether we have confirmed its mark. */
export interface KnownRow {
  readonly id: bigint;
  readonly sha256: Uint8Array | null;
  readonly bytes: bigint | null;
  /** We saw the mark in the mailbox. */
  readonly marked: boolean;
}

const SELECT_NEWEST = statement(
  'raw.newest',
  // Primary keys of proc_state and proc_state_hst from the given ID downwards, then that of raw_message.
  `select k.msg_id as id, r.sha256, r.bytes, k.marked
   from (
     (select msg_id, backfill_at is not null and not shadow as marked
        from proc_state where msg_id <= $1 order by msg_id desc limit $2)
     union all
     (select msg_id, backfill_at is not null and not shadow
        from proc_state_hst where msg_id <= $1 order by msg_id desc limit $2)
   ) k
   left join raw_message r on r.msg_id = k.msg_id
   order by k.msg_id desc limit $2`,
);

/** The newest messages at or below an ID, newest first. */
export async function selectNewestKnown(
  db: Queryable,
  upTo: bigint,
  limit: number,
): Promise<readonly KnownRow[]> {
  return db.query<KnownRow>(SELECT_NEWEST, [upTo, limit]);
}
