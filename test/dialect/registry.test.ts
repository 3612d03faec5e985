import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadDialect } from '../../src/dialect/registry.ts';
import { dialect, flop, OPTIONS, verdict } from './kit.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'msgx-dialect-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function moduleFile(name: string, source: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, source);
  return file;
}

describe('loadDialect', () => {
  test('built in', async () => {
    const sis = await loadDialect('sis', OPTIONS);
    expect(sis.name).toBe('sis');
    expect(sis.profileHash).toBe(dialect.profileHash);
    expect(sis.mailbox.inbound).toEqual({
      table: 'CMINMSGS',
      id: 'CMINMSGS_ID',
      text: 'CMINMSGS_CLOB_MSG',
      received: 'CMINMSGS_DATE_RECEIVED',
      processed: 'CMINMSGS_DATE_PROCESSED',
      status: 'CMINMSGS_STATUS',
    });
    expect(sis.mailbox.outbound).toEqual({
      table: 'COUTMSGS',
      id: 'COUTMSGS_ID',
      text: 'COUTMSGS_CLOB_MSG',
      inserted: 'COUTMSGS_DATE_INSERTED',
      routing: 'ROUTINGID',
    });
    expect(verdict(flop('RENO', '<RENO/>'), sis)).toBe('decoded');
  });

  test('a module', async () => {
    const source = `export async function createDialect(options) {
      return { name: options.timeZone, profileHash: 'h', mailbox: {}, decode() {}, toText() {}, encode() {} };
    }`;
    expect((await loadDialect(await moduleFile('good.mjs', source), OPTIONS)).name).toBe('Asia/Shanghai');
  });

  test.each([
    ['export const x = 1;', 'it exports no function createDialect'],
    ['export const createDialect = () => null;', 'createDialect returned no object'],
    ['export const createDialect = () => ({ name: 1, decode() {} });', 'encode: no function'],
    ['export const createDialect = () => { throw new Error("no profile"); };', 'no profile'],
    ['throw new Error("broken");', 'broken'],
  ])('a module that says %s', async (source, fault) => {
    const name = `bad-${fault.replace(/\W/g, '')}.mjs`;
    await expect(loadDialect(await moduleFile(name, source), OPTIONS)).rejects.toMatchObject({
      name: 'DialectLoadError',
      faults: expect.arrayContaining([fault]) as unknown,
    });
  });

  test.each([
    ['siss', {}, /no dialect 'siss'; did you mean 'sis'\?/],
    ['something', {}, /no dialect 'something'\n/],
    ['sis', { timeZone: 'Asia/Nowhere' }, /time zone is not known\s+Asia\/Nowhere/],
    ['sis', { reference: ['ABDG', 'SCHD'] }, /SCHD: already another kind/],
    ['/no/such/module.mjs', {}, /cannot be loaded/],
    ['/no/such/profile.yaml', {}, /cannot be read/],
  ])('%s %j', async (name, overrides, expected) => {
    await expect(loadDialect(name, { ...OPTIONS, ...overrides })).rejects.toThrow(expected);
  });
});
