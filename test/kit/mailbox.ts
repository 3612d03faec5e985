/** A mailbox in a schema of a test database, and a second session to do to it what its owner would. */
import pg from 'pg';
import { afterAll } from 'vitest';
import type { MailboxNames } from '../../src/dialect/port.ts';
import type { MailboxOptions } from '../../src/mailbox/options.ts';
import type { Mailbox } from '../../src/mailbox/port.ts';
import { openPostgresMailbox } from '../../src/mailbox/postgres.ts';

/** The names of dialect.md, "Mailbox tables". */
export const MAILBOX_NAMES: MailboxNames = {
  inbound: {
    table: 'CMINMSGS',
    id: 'CMINMSGS_ID',
    text: 'CMINMSGS_CLOB_MSG',
    received: 'CMINMSGS_DATE_RECEIVED',
    processed: 'CMINMSGS_DATE_PROCESSED',
    status: 'CMINMSGS_STATUS',
  },
  outbound: {
    table: 'COUTMSGS',
    id: 'COUTMSGS_ID',
    text: 'COUTMSGS_CLOB_MSG',
    inserted: 'COUTMSGS_DATE_INSERTED',
    routing: 'ROUTINGID',
  },
};

/** A transaction that its owner keeps open. */
export interface OwnerTransaction {
  insertAt(id: bigint, text: string | null): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** An outbound row as its owner reads it. */
export interface OutboundLine {
  readonly id: bigint;
  readonly text: string | null;
  readonly routing: string | null;
  readonly aged: number;
}

/** What a mailbox's owner and upstream do, for the conformance suite and the inbox tests. */
export interface MailboxFixture {
  readonly mailbox: Mailbox;
  /** Inserts and commits a row with an ID of the test's choice. */
  insertAt(
    id: bigint,
    text: string | null,
    columns?: { readonly received?: string | null; readonly processed?: string },
  ): Promise<void>;
  remove(id: bigint): Promise<void>;
  /** The mark as the database prints it, null where it is not set. */
  markOf(id: bigint): Promise<string | null>;
  /** Seconds between a mark and the mailbox's own clock now. */
  markAge(id: bigint): Promise<number>;
  begin(): Promise<OwnerTransaction>;
  /** The outbound rows in the order of their IDs; `aged` are the seconds since their time of insertion. */
  outboundRows(): Promise<readonly OutboundLine[]>;
  /** Makes every statement on the inbound table wait until the returned function is called. */
  blockTable(): Promise<() => Promise<void>>;
  /** Another adapter on the same tables, with other options; closed after the test file. */
  reopen(options: Partial<MailboxOptions>): Promise<Mailbox>;
}

/** Schema of a mailbox beside ours, as the embedded one. */
const SCHEMA = 'mailbox';

export interface PostgresFixture extends MailboxFixture {
  readonly client: pg.Client;
  readonly options: MailboxOptions;
}

/** Creates an empty mailbox in a schema of a test database, as `msgx mailbox init` does. */
export async function createTestMailbox(url: string, schema = SCHEMA): Promise<PostgresFixture> {
  const options: MailboxOptions = { url, names: MAILBOX_NAMES, schema, timeoutMs: 10_000 };
  const mailbox = await openPostgresMailbox(options);
  closing.push(() => mailbox.close());
  await mailbox.init();
  const client = await session(url, schema);
  const insert = 'insert into cminmsgs (cminmsgs_id, cminmsgs_clob_msg) values ($1, $2)';
  return {
    mailbox,
    client,
    options,
    async insertAt(id, text, columns = {}) {
      const received = columns.received === undefined ? '2026-03-14T01:02:03.5Z' : columns.received;
      await client.query(
        `insert into cminmsgs (cminmsgs_id, cminmsgs_clob_msg, cminmsgs_date_received, cminmsgs_date_processed)
         values ($1, $2, $3, $4)`,
        [id, text, received, columns.processed ?? null],
      );
    },
    async remove(id) {
      await client.query('delete from cminmsgs where cminmsgs_id = $1', [id]);
    },
    async markOf(id) {
      const { rows } = await client.query<{ mark: string | null }>(
        'select cminmsgs_date_processed::text as mark from cminmsgs where cminmsgs_id = $1',
        [id],
      );
      return rows[0]?.mark ?? null;
    },
    async markAge(id) {
      const { rows } = await client.query<{ age: string }>(
        `select extract(epoch from clock_timestamp() - cminmsgs_date_processed)::text as age
         from cminmsgs where cminmsgs_id = $1`,
        [id],
      );
      return Number(rows[0]?.age);
    },
    async outboundRows() {
      const { rows } = await client.query<{ id: string; text: string; routing: string; aged: string }>(
        `select coutmsgs_id as id, coutmsgs_clob_msg as text, routingid as routing,
           extract(epoch from clock_timestamp() - coutmsgs_date_inserted)::text as aged
         from coutmsgs order by coutmsgs_id`,
      );
      return rows.map(({ id, aged, ...rest }) => ({ ...rest, id: BigInt(id), aged: Number(aged) }));
    },
    async begin() {
      const owner = await session(url, schema);
      await owner.query('begin');
      return {
        insertAt: async (id, text) => {
          await owner.query(insert, [id, text]);
        },
        commit: async () => {
          await owner.query('commit');
          await owner.end();
        },
        rollback: async () => {
          await owner.query('rollback');
          await owner.end();
        },
      };
    },
    async blockTable() {
      const owner = await session(url, schema);
      await owner.query('begin');
      await owner.query('lock table cminmsgs in access exclusive mode');
      return () => owner.end();
    },
    async reopen(changed) {
      const other = await openPostgresMailbox({ ...options, ...changed });
      closing.push(() => other.close());
      return other;
    },
  };
}

async function session(url: string, schema: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` });
  // The database is dropped under sessions that a failing test left open.
  client.on('error', () => undefined);
  await client.connect();
  closing.push(() => client.end());
  return client;
}

const closing: (() => Promise<unknown>)[] = [];

afterAll(async () => {
  for (const close of closing.splice(0)) await close().catch(() => undefined);
});
