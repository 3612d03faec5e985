/** What an operator does on the command line to messages, events and marks; the actions have tests of their own. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_ID } from '../../src/domain/ids.ts';
import { selectAudit } from '../../src/store/op-audit.ts';
import { intake } from '../kit/intake.ts';
import { gate, schedule, xml } from '../kit/messages.ts';
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

  it('dlq lists, shows, retries and drops', async () => {
    await db.client
      .query(`insert into msg_event (event_id, target, partition_key, event_type, state_version, state,
        attempts, last_error, created_at, body, sent_at)
      select 100 + v, 'KAFKA:msg', 'f1', 'UPSERT', v, case v when 3 then 'SENT' else 'DEAD' end, 10, 'too large',
        now(), '{"flid":"f1"}', now() from generate_series(1, 3) v`);
    await db.client
      .query(`insert into flight_schd (flid, version, operation_day, deleted, state, stamps, last_msg_id,
      updated_at) values ('f1', 3, '2026-03-14', false, '{}', '{}', 1, now())`);
    const { events } = JSON.parse((await msgx(['dlq', 'list', '--json'], { cwd })).stdout) as {
      events: readonly Record<string, unknown>[];
    };
    expect(events).toMatchObject([
      { eventId: '101', version: 1, attempts: 10, lastError: 'too large', laterDelivered: [3] },
      { eventId: '102', version: 2, laterDelivered: [3] },
    ]);
    const shown = await msgx(['dlq', 'show', '101'], { cwd });
    expect(JSON.parse(shown.stdout)).toMatchObject({ eventId: '101', body: { flid: 'f1' } });
    expect(await msgx(['dlq', 'retry', '--reason', 'r'], { cwd })).toMatchObject({ code: 2 });
    const behind = await msgx(['dlq', 'retry', '101', '102', '--reason', 'r'], { cwd });
    expect(behind.code).toBe(1);
    expect(behind.stderr).toMatch(
      /^event 101 is version 1 of flight f1, version 3 was delivered already: .*\n$/,
    );
    const forced = await msgx(['dlq', 'retry', '101', '--force', '--reason', 'wanted', '--json'], { cwd });
    expect(JSON.parse(forced.stdout)).toMatchObject({ message: 'retrying 1 of 1 event' });
    expect((await msgx(['dlq', 'drop', '--all', '--reason', 'r'], { cwd })).stdout).toBe(
      'dropped 1 of 1 event\n',
    );
    expect(await newest()).toMatchObject({ action: 'drop', target: 'event:102' });
  });

  it('backfill lists, reopens, confirms and exports', async () => {
    const [one, two] = (await intake(db, [gate('810001', 'A1'), gate('810001', 'A2')])).map(String);
    await db.client.query(
      `update proc_state set state = 'SKIPPED', reason = 'no-match:810001', terminal_at = now(),
         terminal_seq = nextval('terminal_seq'), backfill_abandoned_at = now(),
         backfill_abandoned_reason = 'TRANSIENT_DEADLINE' where msg_id in ($1, $2)`,
      [one, two],
    );
    const listed = JSON.parse((await msgx(['backfill', 'list', '--json'], { cwd })).stdout) as {
      marks: readonly Record<string, unknown>[];
    };
    expect(listed.marks).toMatchObject([{ msgId: one, because: 'TRANSIENT_DEADLINE' }, { msgId: two }]);
    expect(await msgx(['backfill', 'reopen', one ?? '', '--reason', 'r'], { cwd })).toMatchObject({
      ...{ code: 0, stdout: 'reopened 1 of 1 mark\n' },
    });
    expect((await msgx(['backfill', 'confirm', '--all', '--reason', 'r'], { cwd })).code).toBe(0);
    expect(await newest()).toMatchObject({ action: 'confirm', target: `message:${two ?? ''}` });
    const exported = await msgx(['backfill', 'export', '--confirmed'], { cwd });
    expect(exported.stdout.split('\r\n').map((line) => line.split(',')[0])).toEqual(['CMINMSGS_ID', two, '']);
  });

  it('replay tries, puts back what passes, and refuses the rest', async () => {
    const [one, two] = (await intake(db, [schedule('820001'), xml('SCHS', 'DNLD', '')])).map(String);
    await db.client.query(
      `update proc_state set state = 'DEAD', error_class = 'EXHAUSTED', last_error = 'x', terminal_at = now(),
         terminal_seq = nextval('terminal_seq'), backfill_next_at = now() where msg_id in ($1, $2)`,
      [one, two],
    );
    expect(await msgx(['replay', '--reason', 'r'], { cwd })).toMatchObject({ code: 2 });
    expect(await msgx(['replay', '--class', 'PROTOCOL', '--reason', 'r'], { cwd })).toMatchObject({
      code: 2,
    });
    const command = ['replay', '--id', one ?? '', two ?? '', '--json'];
    const tried = await msgx([...command, '--dry-run'], { cwd });
    expect(JSON.parse(tried.stdout)).toMatchObject({
      dryRun: true,
      messages: [
        { msgId: one, becomes: 'SUCCEEDED', refused: null },
        { msgId: two, becomes: null },
      ],
    });
    expect((await msgx([...command, '--reason', 'r'], { cwd })).code).toBe(0);
    expect(await newest()).toMatchObject({ action: 'replay', target: `message:${one ?? ''}` });
    expect(await msgx(['replay', '--class', 'EXHAUSTED', '--reason', 'r'], { cwd })).toMatchObject({
      ...{ code: 1, stderr: `message ${two ?? ''} would not pass: unsupported:SCHS/DNLD\n` },
    });
  });
});
