/** Connections keep our settings, and a transaction that could not begin leaves nothing behind. */
import { afterEach, describe, expect, it } from 'vitest';
import { LostLease, Outage } from '../../src/runtime/outage.ts';
import { Database, type DatabaseOptions } from '../../src/store/database.ts';
import { statement } from '../../src/store/statement.ts';
import { HELD, type Session } from '../../src/store/transaction.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';
import { startProxy, targetOf, through } from '../kit/tcp-proxy.ts';
import { until } from '../kit/until.ts';

const ONE = statement('test.one', 'select 1 as one');
const NOTE = statement('test.note', 'insert into note values ($1)');
const COUNT = statement('test.count', 'select count(*)::integer as notes from note');
const notes = async (client: TestDatabase['client']): Promise<readonly number[]> =>
  (await client.query<{ n: number }>('select n from note order by n')).rows.map(({ n }) => n);
const SETTINGS = statement(
  'test.settings',
  `select current_setting('search_path') as path, current_setting('application_name') as name,
     current_setting('statement_timeout') as "statementTimeout",
     current_setting('idle_in_transaction_session_timeout') as "idleTimeout", current_setting('work_mem') as "workMem"`,
);

describe.skipIf(postgresMissing !== null)('database', () => {
  const open: Database[] = [];
  const database = (options: Omit<DatabaseOptions, 'schema'>) => {
    const created = new Database({ schema: 'msgx', ...options });
    open.push(created);
    return created;
  };
  afterEach(async () => {
    for (const created of open.splice(0)) await created.close();
  });

  it('commits: writes to its log and waits for the disk', async () => {
    const { url, client } = await createTestDatabase();
    const one = database({ url });
    const { rows: before } = await client.query<{ at: string }>(
      'select pg_current_wal_insert_lsn()::text as at',
    );
    expect(await one.commits()).toBe(true);
    const { rows } = await client.query<{ flushed: boolean }>(
      'select pg_current_wal_flush_lsn() > $1::pg_lsn as flushed',
      [before[0]?.at],
    );
    expect(rows).toEqual([{ flushed: true }]);
  });

  it('silent: probes end by their own deadline, what is underway when told to, and a close at once', async () => {
    const { url } = await createTestDatabase();
    const proxy = await startProxy(targetOf(url));
    const one = database({ url: through(url, proxy) });
    expect(await one.probe()).toBe(true);
    proxy.silence();
    const started = performance.now();
    expect(await one.commits()).toBe(false);
    // Half of the deadline of a statement, and the connection is used no more.
    expect(performance.now() - started).toBeLessThan(15_000);
    const underway = one.query(ONE);
    const ended = expect(underway).rejects.toBeInstanceOf(Outage);
    one.dropConnections();
    await ended;
    proxy.heal();
    expect(await one.query(ONE)).toEqual([{ one: 1 }]);
    proxy.silence();
    const lost = expect(one.query(ONE)).rejects.toBeInstanceOf(Outage);
    const asked = performance.now();
    await one.close();
    expect(performance.now() - asked).toBeLessThan(3_000);
    await lost;
    open.splice(0);
  });

  it('may be closed again, while it is being closed and afterwards', async () => {
    const { url } = await createTestDatabase();
    const proxy = await startProxy(targetOf(url));
    const one = database({ url: through(url, proxy) });
    expect(await one.probe()).toBe(true);
    proxy.silence();
    await Promise.all([one.close(), one.close()]);
    await one.close();
  });

  it('gives a connection back whole where the fence could not be read', async () => {
    const { url, client } = await createTestDatabase();
    const one = database({ url, maxConnections: 1, statementTimeoutMs: 200 });
    const fence = { epoch: 0n };
    await client.query('alter table lease rename to lease_away');
    await expect(one.transaction(async () => undefined, { fence })).rejects.toThrow('"lease" does not exist');
    expect(await one.query(ONE)).toEqual([{ one: 1 }]);
    await client.query('alter table lease_away rename to lease');
    // Whoever waits for a lock of somebody else meets an outage: its connection is replaced.
    await client.query('begin');
    await client.query('update lease set epoch = epoch + 1');
    await expect(one.transaction(async () => undefined, { fence })).rejects.toBeInstanceOf(Outage);
    await client.query('commit');
    await expect(one.transaction(async () => undefined, { fence })).rejects.toBeInstanceOf(LostLease);
    expect(await one.query(ONE)).toEqual([{ one: 1 }]);
  });

  it('sends selects with the begin, and writes nothing before the fence holds', async () => {
    const { url, client } = await createTestDatabase();
    await client.query('create table note (n integer)');
    const one = database({ url, maxConnections: 1 });
    await client.query('begin');
    await client.query('update lease set epoch = epoch + 1');
    const fence = { epoch: 0n };
    const answers: string[] = [];
    const lost = one.session(async (session) => {
      const tx = session.begin({ fence, exclusive: 'pump' });
      const noted = tx.query(NOTE, [1]).catch(() => answers.push('write refused'));
      const read = tx.query(ONE).catch(() => answers.push('read refused'));
      await Promise.all([noted, read]);
      await tx.begun;
    });
    const expected = expect(lost).rejects.toBeInstanceOf(LostLease);
    await until('the fence to wait', async () => {
      const { rows } = await client.query(`select from pg_locks where not granted`);
      return rows.length > 0 ? true : null;
    });
    expect(answers).toEqual([]);
    await client.query('commit');
    await expected;
    expect(answers.sort()).toEqual(['read refused', 'write refused']);
    expect((await client.query('select n from note')).rows).toEqual([]);
    // Held back together, writes and what follows them keep their order.
    const counts = await one.session(async (session) => {
      const tx = session.begin({ fence: { epoch: 1n }, exclusive: 'pump' });
      const all = await Promise.all([tx.query(COUNT), tx.query(NOTE, [2]), tx.query(COUNT)]);
      await tx.commit();
      return all;
    });
    expect(counts).toEqual([[{ notes: 0 }], [], [{ notes: 1 }]]);
  });

  it('tells the failure itself to all that was sent behind it, and rolls everything back', async () => {
    const { url, client } = await createTestDatabase();
    await client.query('create table note (n integer primary key)');
    const one = database({ url, maxConnections: 1 });
    const failures: unknown[] = [];
    const careless = one.transaction(async (tx) => {
      await tx.query(ONE);
      const sent = [tx.query(NOTE, [1]), tx.query(NOTE, [1]), tx.query(COUNT), tx.query(NOTE, [2])];
      for (const answer of await Promise.allSettled(sent)) {
        failures.push(answer.status === 'rejected' ? (answer.reason as { code: string }).code : null);
      }
    });
    await expect(careless).rejects.toThrow('answered by a rollback');
    expect(failures).toEqual([null, '23505', '23505', '23505']);
    expect((await client.query('select n from note')).rows).toEqual([]);
    // Statements that were first sent behind the failure are prepared anew.
    expect(await one.query(COUNT)).toEqual([{ notes: 0 }]);
    await one.query(NOTE, [3]);
    expect(await one.query(COUNT)).toEqual([{ notes: 1 }]);
  });

  it('sends a statement with the commit, and asks between transactions', async () => {
    const { url, client } = await createTestDatabase();
    await client.query('create table note (n integer primary key)');
    const one = database({ url, maxConnections: 1 });
    const run = (numbers: { readonly before: number; readonly last: number; readonly behind: number }) =>
      one
        .session(async (session) => {
          await session.query(NOTE, [numbers.before]);
          const tx = session.begin({});
          tx.last(NOTE, [numbers.last]);
          const committed = tx.commit();
          committed.catch(() => undefined);
          const behind = session.query(NOTE, [numbers.behind]);
          await committed.finally(() => behind);
          return 'done';
        })
        .catch((error: unknown) => (error as { code: string }).code);
    expect(await run({ before: 1, last: 2, behind: 3 })).toBe('done');
    // The last one fails: nothing of the transaction is committed, what was asked beside it is its own business.
    expect(await run({ before: 4, last: 2, behind: 5 })).toBe('23505');
    expect(await notes(client)).toEqual([1, 2, 3, 4, 5]);
  });

  it('tells a transaction what it holds, and nothing else', async () => {
    const { url } = await createTestDatabase();
    const one = database({ url, maxConnections: 1 });
    const held = statement('test.held', `select ${HELD} as generation`);
    const seen = await one.session(async (session) => {
      const told: unknown[] = [];
      const ask = async (from: Pick<Session, 'query'>) => {
        told.push((await from.query<{ generation: string | null }>(held))[0]?.generation || null);
      };
      await ask(session);
      for (const exclusive of ['pump', 'others', 'pump', undefined] as const) {
        const tx = session.begin({ fence: { epoch: 0n }, ...(exclusive === undefined ? {} : { exclusive }) });
        await tx.begun;
        await ask(tx);
        await tx.commit();
        await ask(session);
      }
      return told;
    });
    expect(seen).toEqual([null, '0', null, '1', null, '1', null, null, null]);
  });

  it('begins a transaction behind a commit that is underway; what is left open is rolled back', async () => {
    const { url, client } = await createTestDatabase();
    await client.query('create table note (n integer primary key)');
    const one = database({ url, maxConnections: 1 });
    const both = (numbers: { readonly one: number; readonly two: number }) =>
      one.session(async (session) => {
        const before = session.begin({});
        before.last(NOTE, [numbers.one]);
        const committed = before.commit();
        committed.catch(() => undefined);
        const behind = session.begin({});
        const seen = behind.query<{ notes: number }>(COUNT);
        await behind.begun;
        await behind.query(NOTE, [numbers.two]);
        await committed;
        await behind.commit();
        return (await seen)[0]?.notes;
      });
    // The second sees what the first has committed.
    expect(await both({ one: 1, two: 2 })).toBe(1);
    // Where the first commits nothing, the second is never committed either.
    await expect(both({ one: 2, two: 3 })).rejects.toMatchObject({ code: '23505' });
    expect(await notes(client)).toEqual([1, 2]);
    expect(await both({ one: 4, two: 5 })).toBe(3);
    await one.session(async (session) => {
      const forgotten = session.begin({});
      await forgotten.begun;
      await forgotten.query(NOTE, [6]);
    });
    // Nor is what nobody has ended: the next statement on the connection is a transaction of its own.
    await one.query(NOTE, [7]);
    expect(await notes(client)).toEqual([1, 2, 4, 5, 7]);
  });

  it('keeps deadlines, schema and name whatever the URL says, and takes the rest of its options', async () => {
    const { url } = await createTestDatabase();
    const query = new URLSearchParams({
      application_name: 'theirs',
      statement_timeout: '0',
      options: '-c work_mem=7MB -c statement_timeout=0 -c search_path=public',
    });
    const ours = database({ url: `${url}?${query.toString()}`, applicationName: 'ours' });
    expect(await ours.query(SETTINGS)).toEqual([
      { path: 'msgx', name: 'ours', statementTimeout: '30s', idleTimeout: '3s', workMem: '7MB' },
    ]);
  });
});
