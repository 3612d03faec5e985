/** What an operator does on the command line to messages, events and marks; the actions have tests of their own. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_ID } from '../../src/domain/ids.ts';
import { selectAudit } from '../../src/store/op-audit.ts';
import { intake } from '../kit/intake.ts';
import { gate } from '../kit/messages.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';
import { msgx } from './kit.ts';

describe.skipIf(postgresMissing !== null)('commands of an operator', () => {
  let cwd: string;
  let db: TestDatabase;

  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'msgx-operator-'));
    db = await createTestDatabase();
    await writeFile(
      join(cwd, 'msgx.yaml'),
      `msgx: { airport: HGH, database: { url: '${db.url}' }, mailbox: { url: '${db.url}' } }`,
    );
  });
  afterAll(async () => {
    await rm(cwd, { recursive: true, force: true });
  });
  const newest = async () => (await selectAudit(db.database, MAX_ID, 1))[0];

  it('skip needs an ID and a reason, looks with --dry-run, and changes once', async () => {
    const [id] = (await intake(db, [gate('810001', 'A1')])).map(String);
    const command = ['skip', '--id', id ?? '', '--json'];
    expect(await msgx(['skip', '--id', 'x1', '--reason', 'r'], { cwd })).toMatchObject({ code: 2 });
    expect(await msgx([...command, '--reason', '  '], { cwd })).toMatchObject({
      ...{ code: 2, stdout: '', stderr: 'a change needs --reason TEXT, for the audit\n' },
    });
    const looked = await msgx([...command, '--dry-run'], { cwd });
    expect(JSON.parse(looked.stdout)).toEqual({
      ...{ id, dryRun: true, message: `would skip message ${id ?? ''}: PENDING` },
    });
    expect(await newest()).toBeUndefined();
    const done = await msgx([...command, '--reason', 'test message'], { cwd });
    expect(done.code, done.stderr).toBe(0);
    expect(await newest()).toMatchObject({
      action: 'skip',
      reason: 'test message',
      target: `message:${id ?? ''}`,
    });
    expect((await newest())?.who).toMatch(/^cli:./);
    expect(await msgx([...command, '--reason', 'again'], { cwd })).toMatchObject({
      ...{
        code: 1,
        stdout: '',
        stderr: `message ${id ?? ''} has ended already: SKIPPED, operator:test message\n`,
      },
    });
  });
});
