import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { openMailbox } from '../../src/mailbox/open.ts';
import { Outage } from '../../src/runtime/outage.ts';
import { createTestMailbox, MAILBOX_NAMES, type PostgresFixture } from '../kit/mailbox.ts';
import { mailboxConformance } from '../kit/mailbox-conformance.ts';
import { createTestDatabase, postgresMissing } from '../kit/postgres.ts';

/** One database for the file, a schema per test: creating databases is what takes the time. */
let shared: Promise<string> | null = null;
let schemas = 0;
const create = async () => {
  shared ??= createTestDatabase({ blank: true }).then(({ url }) => url);
  schemas += 1;
  return createTestMailbox(await shared, `mailbox_${String(schemas)}`);
};

describe.skipIf(postgresMissing !== null)('mailbox in PostgreSQL', () => {
  mailboxConformance({
    create,
    url: (fixture) => (fixture as PostgresFixture).options.url,
    seesWriters: true,
  });

  it('finds mapped and quoted names, an exact match first, and integer IDs', async () => {
    const { url, client } = await createTestDatabase({ blank: true });
    await client.query('create schema "Aodb"');
    await client.query(
      'create table "Aodb"."CMINMSGS" ("Nr" serial primary key, "CMINMSGS_CLOB_MSG" text, cminmsgs_date_processed timestamp)',
    );
    await client.query('create table "Aodb".cminmsgs (wrong integer)');
    await client.query(`insert into "Aodb"."CMINMSGS" ("CMINMSGS_CLOB_MSG") values ('x'), ('y')`);
    const names = {
      ...MAILBOX_NAMES,
      inbound: { ...MAILBOX_NAMES.inbound, table: 'aodb.CMINMSGS', id: 'nr' },
    };
    const mailbox = await openMailbox({ url, names, timeoutMs: 5_000 });
    expect(await mailbox.rowsAfter(1n, 5)).toEqual([{ id: 2n, bytes: 1, receivedAt: null, marked: false }]);
    expect(await mailbox.mark([2n])).toEqual(new Map([[2n, 'marked']]));
    expect(await mailbox.lookAhead(0n, 5)).toEqual({ gaps: [], through: 2n, rows: 2 });
    expect(await mailbox.insert('z')).toBe(3n);
    const open = await mailbox.openInsert('held');
    expect((await mailbox.writers())?.length).toBeGreaterThan(0);
    await open.rollback();
    expect(await mailbox.isOurs()).toBe(false);
    await mailbox.close();
  });

  it('names the key of what is missing, and looks again once it is there', async () => {
    const { url, client } = await createTestDatabase({ blank: true });
    const mailbox = await openMailbox({ url, names: MAILBOX_NAMES, timeoutMs: 5_000 });
    const missing: unknown = await mailbox.rowsAfter(0n, 1).catch((error: unknown) => error);
    expect(missing).toBeInstanceOf(Outage);
    expect(missing).toMatchObject({
      message: expect.stringMatching(/msgx\.mailbox\.tables\.inbound\.table/) as string,
    });
    expect(await mailbox.probe()).toBe(false);
    expect((await mailbox.check()).map(({ result }) => result)).toContain('failed');
    await client.query('create table public.cminmsgs (cminmsgs_id bigint, cminmsgs_clob_msg text)');
    await expect(mailbox.rowsAfter(0n, 1)).rejects.toThrow(/msgx\.mailbox\.tables\.inbound\.processed/);
    await client.query('alter table public.cminmsgs add cminmsgs_date_processed date');
    expect(await mailbox.rowsAfter(0n, 1)).toEqual([]);
    expect(await mailbox.probe()).toBe(true);
    const lines = await mailbox.check();
    expect(lines.find(({ what }) => what.startsWith('index'))).toMatchObject({ result: 'warning' });
    await mailbox.close();
  });

  it('serves a role with the grants alone: it sees writers, and check names what is not granted', async () => {
    const box = await create();
    const role = `reader_${Math.random().toString(36).slice(2, 10)}`;
    await box.client.query(`create role ${role} login password 'secret'`);
    await box.client.query(`grant usage on schema ${box.options.schema ?? ''} to ${role}`);
    await box.client.query(`grant select, update (cminmsgs_date_processed) on cminmsgs to ${role}`);
    const url = new URL(box.options.url);
    url.username = role;
    url.password = 'secret';
    const mailbox = await box.reopen({ url: url.toString() });
    const held = await box.mailbox.openInsert('held');
    expect(await mailbox.writers()).toEqual(await box.mailbox.writers());
    expect((await mailbox.writers())?.length).toBeGreaterThan(0);
    await held.commit();
    expect(await mailbox.mark([held.id])).toEqual(new Map([[held.id, 'marked']]));
    const refused = await mailbox.insert('x').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(pg.DatabaseError);
    expect(refused).not.toBeInstanceOf(Outage);
    const lines = await mailbox.check();
    const of = (privilege: string) =>
      lines.filter(({ what }) => what.startsWith(privilege)).map(({ result }) => result);
    expect(of('SELECT')).toEqual(['ok', 'warning']);
    expect(of('UPDATE')).toEqual(['ok']);
    expect(of('INSERT')).toEqual(['warning', 'warning']);
    await mailbox.close();
    await box.client.query(`drop owned by ${role}`);
    await box.client.query(`drop role ${role}`);
  });

  it('still sees a writer whose transaction was prepared and whose session is gone', async () => {
    const box = await create();
    const owner = new pg.Client({
      connectionString: box.options.url,
      options: `-c search_path=${box.options.schema ?? ''}`,
    });
    await owner.connect();
    // A transaction that announces cannot be prepared: an owner who prepares has no announcements.
    await owner.query('drop trigger msgx_mailbox_announce on cminmsgs');
    await owner.query('begin');
    await owner.query("insert into cminmsgs (cminmsgs_clob_msg) values ('x')");
    const before = (await box.mailbox.writers()) ?? [];
    const name = `p${box.mailbox.name}`;
    await owner.query(`prepare transaction '${name}'`);
    await owner.end();
    const after = new Set(await box.mailbox.writers());
    expect(before.some((token) => after.has(token))).toBe(true);
    await box.client.query(`commit prepared '${name}'`);
    expect(await box.mailbox.writers()).toEqual([]);
  });

  it('sees writers of a partition that write into it directly', async () => {
    const { url, client } = await createTestDatabase({ blank: true });
    await client.query(`create schema mailbox;
      create table mailbox.cminmsgs (cminmsgs_id bigint generated by default as identity primary key,
        cminmsgs_clob_msg text, cminmsgs_date_processed timestamptz) partition by range (cminmsgs_id);
      create table mailbox.part1 partition of mailbox.cminmsgs for values from (1) to (1000)`);
    const mailbox = await openMailbox({ url, names: MAILBOX_NAMES, schema: 'mailbox', timeoutMs: 5_000 });
    await client.query('begin');
    await client.query('insert into mailbox.part1 (cminmsgs_id) values (5)');
    expect((await mailbox.writers())?.length).toBeGreaterThan(0);
    await client.query('commit');
    expect(await mailbox.writers()).toEqual([]);
    await mailbox.close();
  });
});
