/**
 * What the target of events has told beyond what our database knows. Two signs, either of which only a database that
 * went back in time can show: an event ID above the sequence's, and a version above the flight's.
 */
import type { Queryable } from '../../store/statement.ts';
import { forgottenVersions, lastEventId, type ToldVersion } from '../../store/restore.ts';
import type { Stream, TargetReader, TargetRecord } from '../verify/target.ts';

/** Flights in memory before they are compared with the database. */
const PAGE = 20_000;
const STREAMS = ['msg', 'schd'] as const satisfies readonly Stream[];

/** What was told and is not known. */
export interface Beyond {
  /** Highest event ID told; 0 where nothing is. */
  readonly eventId: bigint;
  /** Highest message that caused an event; 0 where none did. */
  readonly msgId: bigint;
  /** Per flight the highest version told, where it is not known. */
  readonly versions: readonly ToldVersion[];
}

/** Reads a target, or its tail, in one pass and bounded memory. May throw TargetUnreadable. @param source `ce_source` of ours */
export async function toldBeyond(db: Queryable, reader: TargetReader, source: string): Promise<Beyond> {
  let eventId = 0n;
  let msgId = 0n;
  const beyond = new Map<string, number>();
  let page = new Map<string, number>();
  const compare = async () => {
    const told = [...page].map(([flid, version]) => ({ flid, version }));
    page = new Map();
    for (const { flid, version } of await forgottenVersions(db, told))
      beyond.set(flid, Math.max(version, beyond.get(flid) ?? 0));
  };
  for (const stream of STREAMS) {
    for (const partition of reader.partitions(stream)) {
      for await (const record of partition.records()) {
        if (record.headers['ce_source'] !== source) continue;
        const id = idIn(record.headers['ce_id']);
        if (id > eventId) eventId = id;
        const cause = causeOf(record);
        if (cause > msgId) msgId = cause;
        const version = Number(record.value?.['stateVersion']);
        if (!Number.isInteger(version) || version < 1) continue;
        page.set(record.key, Math.max(version, page.get(record.key) ?? 0));
        if (page.size >= PAGE) await compare();
      }
    }
  }
  await compare();
  return { eventId, msgId, versions: [...beyond].map(([flid, version]) => ({ flid, version })) };
}

/** Whether what was told is more than the database knows. */
export async function isBeyond(db: Queryable, { eventId, versions }: Beyond): Promise<boolean> {
  return versions.length > 0 || eventId > (await lastEventId(db));
}

function causeOf({ value }: TargetRecord): bigint {
  const cause = value?.['cause'];
  return typeof cause === 'object' && cause !== null && 'msgId' in cause ? idIn(cause.msgId) : 0n;
}

function idIn(value: unknown): bigint {
  return typeof value === 'string' && /^\d{1,19}$/.test(value) ? BigInt(value) : 0n;
}
