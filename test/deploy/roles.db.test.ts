/** The three roles of deploy/postgres on a running pipeline: who may do what, and that the service needs no more. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SILENT } from '../../src/runtime/log.ts';
import { ManualClock } from '../../src/runtime/clock.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { JOBS } from '../../src/upkeep/jobs/job.ts';
import { Upkeep } from '../../src/upkeep/jobs/upkeep.ts';
import { msgx } from '../cli/kit.ts';
import { gate, schedule, xml } from '../kit/messages.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { createPipeline, type Running, type TestPipeline } from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';
import { expectClean, expectTold } from '../scenarios/checks.ts';
import { createOwnRoles, type OwnRole, type OwnRoles } from './own-roles.ts';

const DAY = new URL('../fixtures/day/', import.meta.url);
const DAY_MS = 86_400_000;
/** Tables that are only ever added to, and a column of each. */
const ADDED_TO = [
  ['op_audit', 'reason'],
  ['message_identity', 'identity_key'],
  ['flight_message', 'flid'],
  ['proc_state_hst', 'reason'],
  ['ref_history', 'rkey'],
] as const;
const REFUSED = { code: '42501' };

interface ExpectedMessage {
  readonly id: number;
  readonly file: string;
  readonly state: string;
}

describe.skipIf(postgresMissing !== null)('least-privilege roles of our own database', () => {
  let roles: OwnRoles;
  let pipeline: TestPipeline;
  let running: Running | undefined;

  beforeAll(async () => {
    roles = await createOwnRoles();
    pipeline = await createPipeline({
      databaseUrl: roles.url('service'),
      settings: { 'time-zone': 'Asia/Shanghai' },
    });
    await writeFile(join(pipeline.directory, 'msgx.yaml'), stringify({ msgx: pipeline.settings }));
    await writeFile(join(pipeline.directory, 'grants.sql'), roles.grants);
  });
  afterAll(async () => {
    await pipeline.close();
    await roles.drop();
  });

  /** A command as somebody who has the configuration, and the URL of a role. */
  const as = (role: OwnRole, ...words: readonly string[]) =>
    msgx(words, { cwd: pipeline.directory, env: { MSGX_DATABASE_URL: roles.url(role) } });
  const done = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await as('service', ...words);
    expect({ code, stderr }, words.join(' ')).toEqual({ code: 0, stderr: '' });
    return stdout;
  };
  const tables = async (client: pg.Client) =>
    (
      await client.query<{ name: string }>(
        `select relname as name from pg_class where relnamespace = 'msgx'::regnamespace and relkind = 'r' order by 1`,
      )
    ).rows.map(({ name }) => name);

  it('only the owner migrates; everybody else is told so in one line', async () => {
    const absent = await as('service', 'run');
    expect(absent.code).toBe(1);
    expect(absent.stderr).toBe('the schema is not there: run msgx migrate\n');
    const tried = await as('service', 'migrate');
    expect(tried.code).toBe(1);
    expect(tried.stderr).toBe(
      'permission denied for schema msgx: run msgx migrate as the role that owns the schema msgx\n',
    );
    expect(await as('owner', 'migrate')).toMatchObject({ code: 0, stderr: '' });
    const ungranted = await as('service', 'run');
    expect(ungranted.code).toBe(1);
    expect(ungranted.stderr).toBe(
      `the role ${roles.name('service')} may not read the schema: run msgx migrate --grants deploy/postgres/grants.sql as the role that owns the schema\n`,
    );
    expect(await as('owner', 'migrate', '--grants', 'grants.sql')).toEqual({
      ...{ code: 0, stdout: 'nothing to do\ngranted grants.sql\n', stderr: '' },
    });
    expect(await as('owner', 'migrate', '--grants', 'absent.sql')).toMatchObject({ code: 2 });
    // The service looks, finds nothing to do, and needs no right to do it.
    expect(await as('service', 'migrate')).toEqual({ code: 0, stdout: 'nothing to do\n', stderr: '' });
  });

  it('an older schema ends the service in one line', async () => {
    const { client } = roles.db;
    const { rows } = await client.query<{ row: string }>(
      `delete from msgx.schema_migration where version = 9 returning schema_migration::text as row`,
    );
    const { code, stderr } = await as('service', 'run');
    expect({ code, stderr }).toEqual({
      ...{ code: 1, stderr: 'the schema lacks 0009_series: run msgx migrate\n' },
    });
    await client.query('insert into msgx.schema_migration select ($1::msgx.schema_migration).*', [
      rows[0]?.row,
    ]);
  });

  it('the service plays the example day to its end', async () => {
    const expected = JSON.parse(await readFile(new URL('expected.json', DAY), 'utf8')) as {
      readonly messages: readonly ExpectedMessage[];
    };
    running = await pipeline.start();
    for (const { id, file } of expected.messages) {
      if (id === 8) await (await pipeline.mailbox.openInsert('<MSG/>')).rollback();
      await pipeline.mailbox.insert(await readFile(new URL(file, DAY), 'utf8'));
    }
    await pipeline.drained();
    expect(
      await pipeline.rows('select msg_id::int as id, state from proc_state order by msg_id'),
      'states',
    ).toEqual(expected.messages.map(({ id, state }) => ({ id, state })));
    await expectClean(pipeline);
    await expectTold(pipeline);
  });

  it('may be replaced by a standby, which ends its sessions', async () => {
    const terms = async () => (await pipeline.rows<{ epoch: string }>('select epoch from lease'))[0]?.epoch;
    const before = await terms();
    // A silent active instance: its sessions stand, its lease is over.
    const sessions = await roles.session('service');
    const silent = await roles.session('service');
    silent.on('error', () => undefined);
    const ended = new Promise((resolve) => silent.once('end', resolve));
    await silent.query(`set application_name = 'silent instance'`);
    await running?.stop();
    await sessions.query(`update lease set holder = 'silent instance', expires_at = '-infinity'`);
    running = await pipeline.start();
    await ended;
    await until('the next term', async () => ((await terms()) === before ? null : true));
  });

  it('carries every action of an operator', async () => {
    const because = ['--reason', 'least privilege'];
    await done('pause', 'pump', ...because);
    await done('pause', 'delivery', ...because);
    await until('both to rest', async () => {
      const status = await (await fetch(`${running?.url ?? ''}/api/v1/status`)).text();
      return ['pump', 'delivery'].every((name) => status.includes(`"name":"${name}","state":"paused"`))
        ? true
        : null;
    });
    const [old = 0n, skipped = 0n] = await pipeline.mailbox.insertAll([
      schedule('990001'),
      xml('WXYZ', 'TEST', '<WXYZ/>'),
    ]);
    await until('them to be enqueued', async () =>
      (await pipeline.rows('select from proc_state where msg_id = $1', [skipped])).length > 0 ? true : null,
    );
    await done('skip', '--id', String(skipped), ...because);
    await roles.db.client.query(
      `update msgx.proc_state set state = 'DEAD', error_class = 'EXHAUSTED', last_error = 'x', terminal_at = now(),
         terminal_seq = nextval('msgx.terminal_seq'), backfill_next_at = now() where msg_id = $1`,
      [old],
    );
    expect(await done('replay', '--class', 'EXHAUSTED', ...because)).toContain('1 of');
    await done('resume', 'pump', ...because);
    const flown = await pipeline.mailbox.insert(gate('990001', 'B7'));
    await until('the flight to change', async () =>
      (await pipeline.rows(`select from proc_state where msg_id = $1 and state = 'SUCCEEDED'`, [flown]))
        .length > 0
        ? true
        : null,
    );
    await roles.db.client.query(
      `update msgx.msg_event set state = 'DEAD', attempts = 10, last_error = 'too large'
       where state = 'PENDING' and target = 'KAFKA:msg'`,
    );
    const { events } = JSON.parse(await done('dlq', 'list', '--json')) as { events: { eventId: string }[] };
    expect(events).toHaveLength(2);
    await done('dlq', 'retry', '--all', ...because);
    await done('resume', 'delivery', ...because);
    await done('republish', '--flid', '990001', ...because);
    await pipeline.drained();
    await roles.db.client.query(
      `update msgx.proc_state set backfill_at = null, backfill_abandoned_at = now(),
         backfill_abandoned_reason = 'TRANSIENT_DEADLINE' where msg_id = $1`,
      [flown],
    );
    await done('backfill', 'confirm', String(flown), ...because);
    await done('request', 'schedule', '--from', '2026-03-15', '--to', '2026-03-15', ...because);
    await until('the request to be sent', async () =>
      (await pipeline.rows(`select from req_track where state = 'SENT'`)).length > 0 ? true : null,
    );
    for (const command of ['status', 'audit', 'check']) await done(command);
    await done('flight', '990001', '--history');
    const actions = (
      await pipeline.rows<{ action: string }>('select distinct action from op_audit order by 1')
    ).map(({ action }) => action);
    for (const action of ['skip', 'replay', 'retry', 'republish', 'confirm', 'request', 'pause', 'resume'])
      expect(actions).toContain(action);
  });

  it('does the upkeep of a year later', async () => {
    await running?.stop();
    const clock = new ManualClock(Date.now() + 365 * DAY_MS);
    const upkeep = new Upkeep({
      ...{ database: pipeline.database, fence: null, clock, log: SILENT, metrics: createMetrics() },
      ...{ timeZone: 'Asia/Shanghai', operationDayCutoff: '00:00', publication: { vipPersons: false } },
      retention: {
        ...{ flightsMs: 30 * DAY_MS, procStateMs: 90 * DAY_MS, rawMs: 30 * DAY_MS },
        ...{ eventsMs: 7 * DAY_MS, snapLogMs: 30 * DAY_MS },
      },
    });
    // Each job is due now, whenever it ran last.
    await pipeline.rows(`update upkeep_job set next_at = now()`);
    await until('every job to have run', async () => {
      const round = await upkeep.round();
      if (round.next === 'wait' && round.until !== null && round.until < clock.now() + 10_000)
        clock.advance(Math.max(0, Math.ceil(round.until - clock.now())));
      const { rows } = await roles.db.client.query<{ job: string; rows: string; failures: number }>(
        `select job, rows_run as rows, failures from msgx.upkeep_job where ended_at > now() + interval '360 days'`,
      );
      expect(rows.filter(({ failures }) => failures > 0)).toEqual([]);
      return rows.length === JOBS.length && rows.every((row) => row.rows !== '0') ? true : null;
    });
    for (const kept of ['proc_state_hst', 'flight_schd_hst', 'archive_tombstone'])
      expect((await pipeline.rows(`select from ${kept}`)).length, kept).toBeGreaterThan(0);
  });

  it('and nothing else: no change of a table, no truncation, no other schema', async () => {
    const service = await roles.session('service');
    await roles.db.client.query('create schema elsewhere; create table elsewhere.secret (id integer)');
    const refused = [
      'create table mine (id integer)',
      'create table public.mine (id integer)',
      'create schema mine',
      'create function mine() returns integer language sql as $$ select 1 $$',
      'alter table proc_state add column mine text',
      'create index mine on proc_state (type)',
      'create trigger mine before update on proc_state for each row execute function operation_day_is_immutable()',
      'drop view flight',
      'select * from elsewhere.secret',
      `select pg_read_file('postgresql.conf')`,
      `copy proc_state to program 'cat'`,
      `create role mine`,
      `set role ${roles.name('owner')}`,
      ...(await tables(service)).flatMap((table) => [`drop table ${table}`, `truncate ${table}`]),
      // What is only ever added to.
      ...ADDED_TO.flatMap(([table, column]) => [
        `delete from ${table}`,
        `update ${table} set ${column} = ${column}`,
      ]),
      'insert into schema_migration (version, name, checksum) values (99, $$x$$, $$x$$)',
    ];
    for (const text of refused) await expect(service.query(text), text).rejects.toMatchObject(REFUSED);
  });

  it('a reader reads what a viewer may, and writes nothing', async () => {
    const reader = await roles.session('reader');
    const hidden = ['flight_schd', 'message_identity', 'outbound_counter', 'pipeline_lock', 'raw_message'];
    const partly = ['flight_schd_hst', 'msg_event'];
    for (const table of await tables(reader)) {
      const looking = reader.query(`select * from ${table} limit 1`);
      if (hidden.includes(table) || partly.includes(table))
        await expect(looking, table).rejects.toMatchObject(REFUSED);
      else await looking;
      await expect(reader.query(`delete from ${table}`), table).rejects.toMatchObject(REFUSED);
      await expect(
        reader.query(`insert into ${table} default values`),
        `insert into ${table}`,
      ).rejects.toMatchObject(REFUSED);
    }
    await reader.query('select event_id, target, state from msg_event');
    await reader.query('select flid, version, archived_at from flight_schd_hst');
    for (const text of [
      'select body from raw_message',
      'select state from flight_schd_hst',
      'select body from msg_event',
      'select code from flight_vip',
      `select nextval('terminal_seq')`,
      `update proc_state set reason = 'x'`,
      'create temporary table mine (id integer)',
      'create view mine as select 1',
    ])
      await expect(reader.query(text), text).rejects.toMatchObject(REFUSED);
    const { rows: views } = await reader.query<{ name: string; columns: string }>(
      `select table_name as name, string_agg(quote_ident(column_name), ', ') as columns from information_schema.columns
       where table_schema = 'msgx' and table_name in (select viewname from pg_views where schemaname = 'msgx')
       group by 1`,
    );
    expect(views).toHaveLength(12);
    for (const { name, columns } of views) await reader.query(`select ${columns} from ${name}`);
    expect(
      views
        .find(({ name }) => name === 'flight_vip')
        ?.columns.split(', ')
        .sort(),
    ).toEqual([...['entourage', 'flid', 'seq']]);
  });
});
