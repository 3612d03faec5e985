/** Backup and restore with the commands of docs/runbook.md, literally, on a server of PostgreSQL with its own tools. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { serverBinaries, startServer } from '../../scripts/postgres-server.ts';
import { migrate } from '../../src/store/migrate.ts';
import { cleanEnvironment } from '../cli/kit.ts';
import { preparePipeline } from '../kit/service-pipeline.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { until } from '../kit/until.ts';
import { expectClean } from './checks.ts';
import { daySteps, playInto } from './simulated.ts';

const execute = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const toolsMissing = serverBinaries() === null ? 'no PostgreSQL server is installed' : null;
const required = (process.env['MSGX_TEST_REQUIRE'] ?? '').split(',').includes('pg_dump');
if (toolsMissing !== null && required) throw new Error(`pg_dump is required: ${toolsMissing}`);

/** The blocks of shell below "Restore from backup": how to back up, and how to restore. */
const [, section = ''] = readFileSync(join(ROOT, 'docs/runbook.md'), 'utf8').split(
  '\n## Restore from backup\n',
);
const [backup = '', restore = ''] = [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, code]) => code ?? '');

describe.skipIf((toolsMissing ?? postgresMissing) !== null)('a backup, as the runbook has it', () => {
  it('is taken while messages flow, put back, and caught up with', { timeout: 120_000 }, async (test) => {
    const server = await startServer();
    test.onTestFinished(() => server.stop());
    const admin = new pg.Client({ connectionString: server.url() });
    await admin.connect();
    await admin.query('create database airport');
    await admin.end();
    const databaseUrl = server.url('airport');
    await migrate(databaseUrl, 'msgx');
    const pipeline = await preparePipeline(test, { databaseUrl });
    await writeFile(join(pipeline.directory, 'msgx.yaml'), stringify({ msgx: pipeline.settings }));
    /** As typed, in the folder of the configuration; `npx` finds this checkout. */
    const shell = (code: string) =>
      execute('bash', ['-ec', `npx() { shift; node ${ROOT}bin/msgx.js "$@"; }\n${code}`], {
        cwd: pipeline.directory,
        env: cleanEnvironment({
          DATABASE: databaseUrl,
          PATH: [dirname(process.execPath), dirname(server.tool('pg_dump')), process.env['PATH']].join(':'),
        }),
      });

    const steps = daySteps({ count: 300, duplicates: 0 });
    let running = await pipeline.start();
    await playInto(pipeline, steps.slice(0, 100));
    const playing = playInto(pipeline, steps.slice(100, 200), 100);
    await shell(backup);
    await playing;
    await pipeline.drained();
    await running.stop();
    await expectClean(pipeline);
    // Versions go on above those that were told, so they are no part of it.
    const flights = () =>
      pipeline.rows('select flid, operation_day::text as day, deleted, state from flight_schd order by flid');
    const before = await flights();
    const known = await pipeline.rows('select msg_id from proc_state');

    const { stdout } = await shell(restore);
    expect(stdout.replaceAll(/ +/g, ' ')).toContain("schema ok msgx is this version's");
    const restored = await pipeline.rows('select msg_id from proc_state');
    expect(restored.length).toBeLessThan(known.length);

    running = await pipeline.start();
    await pipeline.drained();
    await until('the restore to be settled', async () =>
      (await pipeline.rows('select 1 from version_floor where settled_at is null')).length === 0
        ? true
        : null,
    );
    await pipeline.drained();
    expect(await flights()).toEqual(before);
    await playInto(pipeline, steps.slice(200));
    await pipeline.drained();
    await running.stop();
    await expectClean(pipeline);
  });
});
