/** Looks on while a pipeline is tortured: is anything marked in the mailbox that has not ended? */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RowDataPacket } from 'mysql2/promise';
import mysql from 'mysql2/promise';
import pg from 'pg';
import type { Parts } from './parts.ts';

const PAUSE_MS = 1_000;

/** How far things have come. */
export interface Progress {
  readonly finished: number;
  readonly undelivered: number;
}

export interface Watch {
  /** IDs seen marked before they had ended. */
  readonly early: ReadonlySet<bigint>;
  /** Looks that were answered by both servers. */
  readonly looks: number;
  readonly progress: Progress;
  stop(): Promise<void>;
}

/** Begins to look, over sessions of its own; a look that meets a dead server is no look. */
export function watch({ pipeline, mariadb }: Parts): Watch {
  const { pathname } = new URL(pipeline.mailboxSide.url);
  const mailboxUrl = mariadb.url(pathname.slice(1));
  const early = new Set<bigint>();
  const known = new Set<string>();
  let progress: Progress = { finished: 0, undelivered: 0 };
  let looks = 0;
  const stopping = new AbortController();

  /** The marks first: what has one by now must have ended by the time of the second look. */
  const look = async (): Promise<void> => {
    const marked = (await markedIds(mailboxUrl)).filter((id) => !known.has(id));
    const client = new pg.Client({
      connectionString: pipeline.config.database.url,
      connectionTimeoutMillis: 2_000,
      query_timeout: 5_000,
      options: '-c search_path=msgx',
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const ended = await client.query<{ id: string }>(
        `select msg_id::text as id from proc_state where msg_id = any ($1::bigint[]) and terminal_at is not null`,
        [marked],
      );
      for (const { id } of ended.rows) known.add(id);
      for (const id of marked) if (!known.has(id)) early.add(BigInt(id));
      const counted = await client.query<{ finished: number; undelivered: number }>(
        `select (select count(*)::int from proc_state where terminal_at is not null) as finished,
           (select count(*)::int from msg_event where state = 'PENDING') as undelivered`,
      );
      progress = counted.rows[0] ?? progress;
      looks += 1;
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  const looking = (async () => {
    while (!stopping.signal.aborted) {
      await look().catch(() => undefined);
      await sleep(PAUSE_MS);
    }
  })();
  return {
    early,
    get looks() {
      return looks;
    },
    get progress() {
      return progress;
    },
    stop: async () => {
      stopping.abort();
      await looking;
    },
  };
}

async function markedIds(url: string): Promise<readonly string[]> {
  const session = await mysql.createConnection({
    uri: url,
    connectTimeout: 2_000,
    supportBigNumbers: true,
    bigNumberStrings: true,
  });
  session.on('error', () => undefined);
  try {
    const [rows] = await session.query<RowDataPacket[]>({
      sql: 'select cast(CMINMSGS_ID as char) as id from CMINMSGS where CMINMSGS_DATE_PROCESSED is not null',
      timeout: 5_000,
    });
    return rows.map((row) => row['id'] as string);
  } finally {
    session.destroy();
  }
}
