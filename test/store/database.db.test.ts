/** Connections keep our settings, and a transaction that could not begin leaves nothing behind. */
import { afterEach, describe, expect, it } from 'vitest';
import { LostLease } from '../../src/runtime/outage.ts';
import { Database, statement, type DatabaseOptions } from '../../src/store/database.ts';
import { createTestDatabase, postgresMissing } from '../kit/postgres.ts';

const ONE = statement('test.one', 'select 1 as one');
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

  it('gives a connection back whole where the fence could not be read', async () => {
    const { url, client } = await createTestDatabase();
    const one = database({ url, maxConnections: 1, statementTimeoutMs: 200 });
    await client.query('begin');
    await client.query('update lease set epoch = epoch + 1');
    const fence = { epoch: 0n };
    await expect(one.transaction(async () => undefined, { fence })).rejects.toThrow('statement timeout');
    expect(await one.query(ONE)).toEqual([{ one: 1 }]);
    await client.query('commit');
    await expect(one.transaction(async () => undefined, { fence })).rejects.toBeInstanceOf(LostLease);
    expect(await one.query(ONE)).toEqual([{ one: 1 }]);
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
