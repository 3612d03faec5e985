/** Databases as earlier versions left them, in test/releases/VERSION: this version migrates them, audits them and goes on. */
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/service/version.ts';
import { migrate } from '../../src/store/migrate.ts';
import { gate } from '../kit/messages.ts';
import { createTestDatabase, postgresMissing } from '../kit/postgres.ts';
import { preparePipeline } from '../kit/service-pipeline.ts';
import { expectClean, expectTold } from '../scenarios/checks.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(HERE, '../..');
const entries = await readdir(HERE, { withFileTypes: true });
const dumped = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);

const unpacked = async (version: string, file: string) =>
  gunzipSync(await readFile(join(HERE, version, `${file}.gz`))).toString('utf8');

/** The statements of a dump without psql's own commands. */
const statements = async (version: string) =>
  (await unpacked(version, 'database.sql')).replaceAll(/^\\.*$/gm, '');

/** Versions that the changelog gives a date. */
async function released(): Promise<readonly string[]> {
  const changelog = await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8');
  const headings = changelog.matchAll(/^## (\d+\.\d+\.\d+) – (.+)$/gm);
  return [...headings].flatMap(([, version = '', date]) => (date === 'unreleased' ? [] : [version]));
}

describe('dumps of releases', () => {
  it('there is one of each release: npm run release:dump', async () => {
    expect(dumped.length).toBeGreaterThan(0);
    expect(dumped).toEqual(expect.arrayContaining([...(await released())]));
  });

  it('a released version has the migrations of its dump: another one begins a new version', async () => {
    if (!(await released()).includes(VERSION)) return;
    const files = await readdir(join(ROOT, 'src/store/migrations'));
    const [, rows = ''] =
      /INSERT INTO msgx\.schema_migration VALUES\n(.*?);\n/s.exec(await statements(VERSION)) ?? [];
    const names = [...rows.matchAll(/^\t\(\d+, '([^']+)'/gm)].map(([, name]) => name);
    expect(names.sort()).toEqual(files.map((file) => file.replace('.sql', '')).sort());
  });
});

describe.skipIf(postgresMissing !== null)('a database of an earlier version', () => {
  it.for(dumped)('%s is migrated, found whole, and goes on', { timeout: 120_000 }, async (version, test) => {
    const { url, client } = await createTestDatabase({ blank: true });
    await client.query(await statements(version));
    await migrate(url, 'msgx');
    const pipeline = await preparePipeline(test, { databaseUrl: url, mailboxUrl: url });
    const { dir } = pipeline.config.delivery.journal;
    await mkdir(dir, { recursive: true });
    for (const file of ['msg.jsonl', 'schd.jsonl'])
      await writeFile(join(dir, file), await unpacked(version, file));
    const before = await pipeline.standing();
    expect(before.finished).toBeGreaterThan(100);
    // As it was left: whole, with messages that nobody has read.
    expect(before.unread).toBeGreaterThan(0);
    await expectClean(pipeline);

    const running = await pipeline.start();
    await pipeline.drained();
    const [known] = await pipeline.rows<{ flid: string; version: number }>(
      'select flid, version from flight_schd where not deleted order by flid limit 1',
    );
    const id = await pipeline.mailbox.insert(gate(known?.flid ?? '', 'Z99'));
    await pipeline.drained();
    const [message] = await pipeline.rows('select state from proc_state where msg_id = $1', [id]);
    expect(message).toEqual({ state: 'SUCCEEDED' });
    const [flight] = await pipeline.rows<{ version: number }>(
      'select version from flight_schd where flid = $1',
      [known?.flid],
    );
    expect(flight?.version).toBe((known?.version ?? 0) + 1);
    await running.stop();
    await expectClean(pipeline);
    await expectTold(pipeline);
  });
});
