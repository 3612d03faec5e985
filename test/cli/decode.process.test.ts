import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { msgx } from './kit.ts';

const DAY = new URL('../fixtures/day/', import.meta.url);
let cwd: string;

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'msgx-decode-'));
  copyFileSync(fileURLToPath(new URL('003-flop-estimate.xml', DAY)), join(cwd, 'good.xml'));
  copyFileSync(fileURLToPath(new URL('006-broken.xml', DAY)), join(cwd, 'broken.xml'));
  writeFileSync(join(cwd, 'berlin.yaml'), 'msgx: { time-zone: Europe/Berlin }');
  writeFileSync(join(cwd, 'faulty.yaml'), 'msgx: { timezone: UTC, max-depth: 1 }');
});
afterAll(() => rmSync(cwd, { recursive: true }));

describe('msgx decode', () => {
  test('prints one message as an indented document, in the default zone', async () => {
    const { code, stdout, stderr } = await msgx(['decode', 'good.xml'], { cwd });
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout.split('\n').length).toBeGreaterThan(5);
    expect(JSON.parse(stdout)).toMatchObject({
      file: 'good.xml',
      outcome: 'decoded',
      message: { header: { type: 'FLOP', subtype: 'ESTM', dttm: '2026-03-14T06:00:00+08:00' } },
    });
  });

  test('takes the zone from the file, from the environment, from the option', async () => {
    const dttm = async (args: string[], env: Record<string, string> = {}) => {
      const { stdout } = await msgx(['decode', ...args, 'good.xml'], { cwd, env });
      return (JSON.parse(stdout) as { message: { header: { dttm: string } } }).message.header.dttm;
    };
    expect(await dttm(['-c', 'berlin.yaml'])).toBe('2026-03-14T06:00:00+01:00');
    expect(await dttm(['--time-zone', 'Asia/Tokyo'], { MSGX_TIME_ZONE: 'UTC' })).toBe(
      '2026-03-14T06:00:00+09:00',
    );
  });

  test('says where a message is wrong, goes on with the others, and ends with 1', async () => {
    const { code, stdout, stderr } = await msgx(['decode', 'broken.xml', 'missing.xml', 'good.xml'], { cwd });
    expect(code).toBe(1);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { file: string; outcome: string }).outcome)).toEqual([
      'malformed',
      'decoded',
    ]);
    expect(stderr).toMatch(
      /^broken\.xml:\d+:\d+: not-well-formed .+\nmissing\.xml: cannot be read: ENOENT\n$/,
    );
  });

  test('reads stdin, as bytes', async () => {
    const bytes = readFileSync(join(cwd, 'good.xml'));
    const good = await msgx(['decode', '-', '--json'], { cwd, input: bytes });
    expect(good.code).toBe(0);
    expect(good.stdout.trimEnd().split('\n')).toHaveLength(1);
    const spoilt = await msgx(['decode', '-'], {
      cwd,
      input: Buffer.concat([bytes, Buffer.from([0xff, 0xfe, 0x80])]),
    });
    expect(spoilt.code).toBe(1);
    expect(spoilt.stderr).toMatch(/^-: \S+ .*\n$/);
  });

  test('reports every fault of the configuration, one line each, with 2', async () => {
    const { code, stdout, stderr } = await msgx(['decode', '-c', 'faulty.yaml', 'good.xml'], { cwd });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toEqual([
      'msgx.timezone: unknown key; did you mean msgx.time-zone?',
      'msgx.max-depth: must be an integer from 2 to 1000, got 1',
    ]);
  });

  test('refuses a dialect that is not there, with 2', async () => {
    const { code, stderr } = await msgx(['decode', 'good.xml'], { cwd, env: { MSGX_DIALECT: 'nosuch' } });
    expect(code).toBe(2);
    expect(stderr).toContain('nosuch');
    expect(stderr).not.toMatch(/^ +at /m);
  });

  test('wrong usage ends with 2 and prints nothing on stdout', async () => {
    const { code, stdout, stderr } = await msgx(['decode'], { cwd });
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: "msgx: missing required argument 'file'\n",
    });
  });

  test('a reader that goes away early is no failure', async () => {
    const files = Array.from({ length: 200 }, () => 'good.xml');
    const { code, stderr } = await msgx(['decode', ...files], { cwd, closeStdout: true });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test('--help is no failure', async () => {
    expect(await msgx(['decode', '--help'], { cwd })).toMatchObject({ code: 0, stderr: '' });
  });
});
