import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as mailboxCommands from '../../src/cli/commands/mailbox.ts';
import * as sendCommand from '../../src/cli/commands/send.ts';
import * as simulateCommand from '../../src/cli/commands/simulate.ts';
import { runCommandLine } from '../../src/cli/program.ts';
import { openMailbox } from '../../src/mailbox/open.ts';
import type { Mailbox } from '../../src/mailbox/port.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';
import { dialectFor } from '../simulator/kit.ts';

describe.skipIf(postgresMissing !== null)('commands that write into the mailbox', () => {
  let database: TestDatabase;
  let mailbox: Mailbox;
  let folder: string;

  beforeEach(async () => {
    database = await createTestDatabase({ blank: true });
    const { mailbox: names } = await dialectFor();
    mailbox = await openMailbox({ url: database.url, names, timeoutMs: 10_000 });
    folder = await mkdtemp(join(tmpdir(), 'msgx-cli-'));
    await writeFile(
      join(folder, 'msgx.yaml'),
      `msgx:\n  airport: HGH\n  database: { url: "${database.url}" }\n  mailbox: { url: "${database.url}" }\n`,
    );
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    await mailbox.close();
    await database.drop();
    await rm(folder, { recursive: true });
  });

  async function msgx(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
    let [out, err] = ['', ''];
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      out += String(text);
      return true;
    });
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      err += String(text);
      return true;
    });
    const modules = [mailboxCommands, sendCommand, simulateCommand];
    const code = await runCommandLine(modules, '0', [...argv, '-c', join(folder, 'msgx.yaml')]);
    vi.restoreAllMocks();
    return { code, out, err };
  }

  async function file(name: string, content: string | Uint8Array): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  }

  async function texts(): Promise<readonly (string | null)[]> {
    const ids = (await mailbox.rowsAfter(0n, 1_000)).map(({ id }) => id);
    const found = await mailbox.texts(ids);
    return ids.map((id) => found.get(id) ?? null);
  }

  it('mailbox init makes one once', async () => {
    expect(await msgx('mailbox', 'init')).toMatchObject({ code: 0, err: '' });
    expect(await mailbox.isOurs()).toBe(true);
    const again = await msgx('mailbox', 'init');
    expect(again.code).toBe(1);
    expect(again.err.trim().split('\n')).toHaveLength(1);
  });

  it('send writes files in order and prints their IDs', async () => {
    await msgx('mailbox', 'init');
    const gbk = Uint8Array.from([
      ...Buffer.from('<?xml version="1.0" encoding="gb2312"?><MSG>'),
      ...[0xc1, 0xf7, 0xbf, 0xd8],
      ...Buffer.from('</MSG>'),
    ]);
    const files = [await file('a.xml', '<MSG>\uFEFF流控</MSG>'), await file('b.xml', gbk)];
    const { code, out } = await msgx('send', ...files, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual([
      { file: files[0], mailboxId: '1' },
      { file: files[1], mailboxId: '2' },
    ]);
    expect((await texts())[1]).toBe('<?xml version="1.0" encoding="gb2312"?><MSG>流控</MSG>');
  });

  it('send refuses bytes that are no text, NULs and missing files by name, and then sends nothing', async () => {
    await msgx('mailbox', 'init');
    const good = await file('good.xml', '<MSG/>');
    const broken = await file('broken.xml', Uint8Array.from([0x3c, 0xc3, 0x28]));
    const nul = await file('nul.xml', '<MSG>\u0000</MSG>');
    const missing = join(folder, 'missing.xml');
    const { code, err, out } = await msgx('send', good, broken, nul, missing);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    for (const path of [broken, nul, missing]) expect(err).toContain(`${path}: `);
    expect(err).not.toContain(`${good}: `);
    expect(await texts()).toEqual([]);
  });

  it('send and simulate refuse a mailbox without the marker unless its name is repeated', async () => {
    await msgx('mailbox', 'init');
    const { rows } = await database.client.query<{ schema: string; name: string }>(
      `select schemaname as schema, tablename as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema') and tablename not ilike '%outmsgs' and tablename not ilike '%inmsgs'`,
    );
    expect(rows).toHaveLength(1);
    await database.client.query(`drop table "${rows[0]!.schema}"."${rows[0]!.name}"`);
    const path = await file('a.xml', '<MSG/>');
    for (const argv of [
      ['send', path],
      ['simulate', '--count', '3'],
    ]) {
      const refused = await msgx(...argv);
      expect(refused.code).toBe(1);
      expect(refused.err).toContain(`--mailbox-name ${mailbox.name}`);
      expect((await msgx(...argv, '--mailbox-name', 'another')).code).toBe(2);
      expect(await texts()).toEqual([]);
    }
    expect((await msgx('send', path, '--mailbox-name', mailbox.name)).code).toBe(0);
    expect((await msgx('simulate', '--count', '3', '--mailbox-name', mailbox.name)).code).toBe(0);
    expect(await texts()).toHaveLength(4);
  });

  it('simulate writes the same day for the same seed, with its summary', async () => {
    await msgx('mailbox', 'init');
    const argv = ['simulate', '--count', '200', '--seed', 'x', '--day', '2026-03-14', '--json'];
    const { code, out } = await msgx(...argv);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      seed: 'x',
      day: '2026-03-14',
      messages: 200,
      holes: 1,
      late: 0,
      firstId: '1',
      lastId: '201',
      stopped: false,
    });
    await msgx(...argv);
    const all = await texts();
    expect(all).toHaveLength(400);
    expect(all.slice(200)).toEqual(all.slice(0, 200));
  });

  it('simulate prints the seed it chose and takes tomorrow', async () => {
    await msgx('mailbox', 'init');
    const { code, out } = await msgx('simulate', '--count', '5');
    expect(code).toBe(0);
    expect(out).toMatch(/^seed \d+, day \d{4}-\d{2}-\d{2}\n5 messages/);
  });

  it.each([
    [['--count', '0'], 'count'],
    [['--poison', '2'], 'poison'],
    [['--rate', '-1'], 'rate'],
    [['--day', '2026-02-30'], '2026-02-30'],
    [['--duplicates', '0.9', '--poison', '0.5'], 'leave no message'],
  ])('simulate refuses %j as usage', async (options, complaint) => {
    const { code, err } = await msgx('simulate', ...options);
    expect(code).toBe(2);
    expect(err).toContain(complaint);
    expect(err.trim().split('\n')).toHaveLength(1);
  });
});
