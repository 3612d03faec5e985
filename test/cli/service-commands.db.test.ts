/** check, migrate, status, verify, flight, pause and audit as an integration engineer uses them, one after the other. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';
import { createPipeline, type TestPipeline } from '../kit/service-pipeline.ts';
import { daySteps, playInto } from '../scenarios/simulated.ts';
import { msgx } from './kit.ts';

describe.skipIf(postgresMissing !== null)('commands of a new installation', () => {
  let cwd: string;
  let own: TestDatabase;
  let box: TestDatabase;

  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'msgx-cli-'));
    own = await createTestDatabase({ blank: true });
    box = await createTestDatabase({ blank: true });
    await writeFile(
      join(cwd, 'msgx.yaml'),
      `msgx: { airport: HGH, database: { url: '${own.url}' }, mailbox: { url: '${box.url}' }, http: { listen: '127.0.0.1:0' } }`,
    );
  });
  afterAll(async () => {
    await rm(cwd, { recursive: true, force: true });
  });

  it('check names what is missing and ends with 1; migrate and mailbox init put it there', async () => {
    const before = await msgx(['check', '--json'], { cwd });
    expect(before.code).toBe(1);
    const { checks } = JSON.parse(before.stdout) as {
      checks: { what: string; result: string; message: string }[];
    };
    const failed = checks.filter(({ result }) => result === 'failed').map(({ what }) => what);
    expect(failed).toEqual(['schema', 'table CMINMSGS', 'table COUTMSGS']);
    expect(checks.find(({ what }) => what === 'schema')?.message).toContain('msgx migrate');

    const early = await msgx(['status'], { cwd });
    expect(early).toMatchObject({ code: 1, stderr: 'the schema is not there: run msgx migrate\n' });
    const run = await msgx(['run'], { cwd });
    expect(run.code).toBe(1);
    expect(run.stderr).toBe('the schema is not there: run msgx migrate\n');

    const first = await msgx(['migrate', '--json'], { cwd });
    expect(JSON.parse(first.stdout)).toMatchObject({
      schema: 'msgx',
      applied: [
        '0001_initial',
        '0002_requests',
        '0003_reference_history',
        '0004_storage',
        '0005_generation',
        '0006_restore',
        '0007_upkeep',
        '0008_browse',
        '0009_series',
      ],
      views: true,
    });
    const again = await msgx(['migrate', '--json'], { cwd });
    expect(JSON.parse(again.stdout)).toMatchObject({ applied: [], views: false });
    expect((await msgx(['mailbox', 'init'], { cwd })).code).toBe(0);
    expect((await msgx(['mailbox', 'init'], { cwd })).code).toBe(1);
    const after = await msgx(['check'], { cwd });
    expect(after.code, after.stdout).toBe(0);
    expect(after.stdout).not.toContain('failed');
  });

  it('request registers a request per day, refuses what makes no sense, and lists them', async () => {
    const asked = await msgx(
      ['request', 'schedule', '--from', '2026-03-14', '--to', '2026-03-15', '--reason', 'gap', '--json'],
      { cwd },
    );
    expect(asked.code, asked.stderr).toBe(0);
    expect(JSON.parse(asked.stdout)).toMatchObject({
      requests: [{ operationDay: '2026-03-14' }, { operationDay: '2026-03-15' }],
    });
    const reference = (...more: readonly string[]) => msgx(['request', 'reference', ...more], { cwd });
    expect((await reference('ARPT', '--dry-run')).stdout).toBe('would register 1 request\n');
    expect((await reference('ARPT', '--reason', 'new airport')).stdout).toBe('request 3 registered\n');
    const unknown = await reference('NOPE', '--reason', 'a guess');
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    expect(unknown.stderr).toMatch(/^no reference type NOPE: .*ARPT/);
    const { requests } = JSON.parse((await msgx(['request', 'list', '--json'], { cwd })).stdout) as {
      requests: readonly Record<string, unknown>[];
    };
    expect(requests.map(({ type, state }) => [type, state])).toEqual([
      ['ARPT', 'PENDING'],
      ['SCHD', 'PENDING'],
      ['SCHD', 'PENDING'],
    ]);
  });

  it('check fails for a role without grants and for a column that is gone, with what to do', async () => {
    const role = `r_${own.name}`;
    await box.client.query(`create role ${role} login password 'only-for-this-test'`);
    await box.client.query(`grant usage on schema public to ${role}`);
    await box.client.query(`grant select on cminmsgs, coutmsgs to ${role}`);
    await box.client.query('alter table coutmsgs drop column routingid');
    try {
      const url = new URL(box.url);
      url.username = role;
      url.password = 'only-for-this-test';
      const { code, stdout } = await msgx(['check', '--json'], { cwd, env: { MSGX_MAILBOX_URL: url.href } });
      expect(code).toBe(1);
      expect(stdout).not.toContain('only-for-this-test');
      const { checks } = JSON.parse(stdout) as {
        checks: { what: string; result: string; message: string }[];
      };
      const failed = checks.filter(({ result }) => result === 'failed');
      expect(failed.map(({ what }) => what)).toEqual(['UPDATE on "public"."cminmsgs"', 'column ROUTINGID']);
      expect(failed[0]?.message).toContain('grant update on');
      expect(failed[1]?.message).toContain('msgx.mailbox.tables.outbound.routing');
    } finally {
      await box.client.query('alter table coutmsgs add column routingid varchar(64)');
      await box.client.query(`drop owned by ${role}`);
      await box.client.query(`drop role ${role}`);
    }
  });

  it('a database that is away is one line and exit code 1', async () => {
    const url = 'postgres://nobody@127.0.0.1:1/nothing';
    const { code, stderr } = await msgx(['status'], { cwd, env: { MSGX_DATABASE_URL: url } });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).toMatch(/^database is not available: /);
  });
});

describe.skipIf(postgresMissing !== null)('commands beside a service', () => {
  let pipeline: TestPipeline;
  let cwd: string;

  beforeAll(async () => {
    pipeline = await createPipeline();
    cwd = pipeline.directory;
    await writeFile(join(cwd, 'msgx.yaml'), JSON.stringify({ msgx: pipeline.settings }));
    await pipeline.start();
    await playInto(pipeline, daySteps({ count: 600 }));
    await pipeline.drained();
  });
  afterAll(async () => {
    await pipeline.close();
  });

  it('status tells role, watermark, counts and why the head waits', async () => {
    const { code, stdout } = await msgx(['status', '--json'], { cwd });
    expect(code).toBe(0);
    const status = JSON.parse(stdout) as Record<string, unknown>;
    const [facts] = await pipeline.rows<{ watermark: string; ended: number }>(
      `select (select watermark::text from inbox_cursor) as watermark,
         (select count(*)::integer from proc_state where state = 'SUCCEEDED') as ended`,
    );
    expect(status).toMatchObject({
      airport: 'HGH',
      role: 'active',
      head: null,
      inbox: { watermark: facts?.watermark, lag: 0, holes: [] },
      counts: { byState: { SUCCEEDED: facts?.ended, PENDING: 0, FAILED: 0 } },
    });
    const text = await msgx(['status'], { cwd });
    expect(text.stdout).toContain('head of line: none');
  });

  it('verify is clean, its digest is one line, and a broken invariant ends with 1', async () => {
    const clean = await msgx(['verify', '--json'], { cwd });
    expect(clean.code, clean.stdout).toBe(0);
    const report = JSON.parse(clean.stdout) as { clean: boolean; findings: { answer: string }[] };
    expect(report.findings.map(({ answer }) => answer)).toEqual(Array<string>(9).fill('checked'));
    const digest = await msgx(['verify', '--digest'], { cwd });
    expect(digest.stdout).toMatch(/^[0-9a-f]{64}\n$/);
    expect(digest.stdout.trim()).toBe((await pipeline.digest()).digest);

    await pipeline.rows(`insert into station_pause values ('requests', 'by hand', 'x', now())`);
    const broken = await msgx(['verify'], { cwd });
    expect(broken.code).toBe(1);
    expect(broken.stdout).toMatch(/^9 broken: .*\n {4}pause of station requests has no audit row$/m);
    await pipeline.rows('delete from station_pause');
  });

  it('flight shows state and lineage, with --history the messages; an unknown one is one line', async () => {
    const [flight] = await pipeline.rows<{ flid: string; version: number }>(
      'select flid, version from flight_schd where version > 2 order by flid limit 1',
    );
    if (flight === undefined) throw new Error('no flight has changed');
    const { stdout } = await msgx(['flight', flight.flid, '--history', '--json'], { cwd });
    const shown = JSON.parse(stdout) as {
      version: number;
      lineage: Record<string, string>;
      setAt: Record<string, string>;
      messages: { stateVersion: number | null }[];
    };
    expect(shown.version).toBe(flight.version);
    expect(shown.lineage['flightNumber']).toMatch(/^\d+$/);
    // Who set a field, and when: for each of them.
    expect(Object.keys(shown.setAt).sort()).toEqual(Object.keys(shown.lineage).sort());
    for (const time of Object.values(shown.setAt)) {
      expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    const versions = shown.messages.flatMap(({ stateVersion }) =>
      stateVersion === null ? [] : [stateVersion],
    );
    expect(versions).toEqual(Array.from({ length: flight.version }, (_, index) => flight.version - index));
    const unknown = await msgx(['flight', '1'], { cwd });
    expect(unknown).toMatchObject({ code: 1, stderr: 'no flight 1\n' });
  });

  it('pause, resume and audit', async () => {
    expect((await msgx(['pause', 'pump', '--reason', 'a look'], { cwd })).code).toBe(0);
    const again = await msgx(['pause', 'pump', '--reason', 'again'], { cwd });
    expect(again).toMatchObject({ code: 1, stderr: expect.stringMatching(/^pump is paused/) as string });
    expect(await msgx(['resume', 'pump', '--reason', ' '], { cwd })).toEqual({
      ...{ code: 2, stdout: '', stderr: 'a change needs --reason TEXT, for the audit\n' },
    });
    const tried = await msgx(['resume', 'pump', '--dry-run'], { cwd });
    expect(tried.stdout).toMatch(/^would resume pump, paused by cli:.*: a look\n$/);
    expect((await msgx(['status'], { cwd })).stdout).toMatch(/^pump paused by cli:.*: a look$/m);
    expect((await msgx(['resume', 'pump'], { cwd })).code).toBe(0);
    expect((await msgx(['pause', 'nothing', '--reason', 'x'], { cwd })).code).toBe(2);
    const { stdout } = await msgx(['audit', '--json'], { cwd });
    const { entries } = JSON.parse(stdout) as { entries: { action: string; reason: string }[] };
    expect(entries.map(({ action, reason }) => `${action} ${reason}`)).toEqual([
      'resume none given',
      'pause a look',
    ]);
  });
});
