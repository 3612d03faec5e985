/**
 * What a process and its commands say – log at its most talkative, answers, metrics, checks, outages – never holds a
 * secret: passwords of database, mailbox and brokers, and tokens.
 */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { describe, expect, it } from 'vitest';
import { msgx } from '../cli/kit.ts';
import { gate, schedule } from '../kit/messages.ts';
import { startMsgx, type MsgxProcess } from '../kit/msgx-process.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { mergeSettings, preparePipeline, type Settings } from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';

const SECRETS = {
  database: 'DatabaseGeheim1',
  mailbox: 'MailboxGeheim2',
  brokers: 'BrokersGeheim3',
  token: 'operator-Geheim4-0123456789abcdef',
};
const DIGEST = createHash('sha256').update(SECRETS.token).digest('hex');

const withPassword = (url: string, password: string, port?: string, user = 'msgx') => {
  const changed = new URL(url);
  changed.username = user;
  changed.password = password;
  if (port !== undefined) changed.port = port;
  return changed.href;
};

function expectNoSecret(what: string, text: string): void {
  for (const [name, secret] of Object.entries({ ...SECRETS, digest: DIGEST }))
    expect(text.includes(secret), `${what} holds the ${name}: ${text.slice(0, 400)}`).toBe(false);
}

describe.skipIf(postgresMissing !== null)('secrets', () => {
  it('are in no log, answer, metric or output while all goes well', { timeout: 120_000 }, async (test) => {
    const pipeline = await preparePipeline(test);
    const tokens = join(pipeline.directory, 'tokens');
    await writeFile(tokens, `operator night ${DIGEST}\n`);
    // Who reads a log knows the names of roles already; their passwords are asked for by this server.
    const roles = { database: `own_${DIGEST.slice(0, 8)}`, mailbox: `mailbox_${DIGEST.slice(0, 8)}` };
    for (const name of ['database', 'mailbox'] as const)
      await pipeline.rows(`create role ${roles[name]} superuser login password '${SECRETS[name]}'`);
    test.onTestFinished(async () => {
      for (const role of Object.values(roles)) await pipeline.rows(`drop role ${role}`);
    });
    const settings: Settings = {
      database: {
        url: withPassword(pipeline.config.database.url, SECRETS.database, undefined, roles.database),
      },
      mailbox: { url: withPassword(pipeline.config.mailbox.url, SECRETS.mailbox, undefined, roles.mailbox) },
      // Not the target: still to be kept.
      delivery: { kafka: { sasl: { password: SECRETS.brokers } } },
      http: { 'tokens-file': tokens },
      log: { level: 'trace' },
    };
    const process = await startMsgx(test, pipeline, { settings });
    const url = await process.serving();
    await process.active();
    await pipeline.mailbox.insertAll([schedule('700001'), gate('700001', 'A1'), '<no xml']);
    await pipeline.drained();

    const asked = { headers: { authorization: `Bearer ${SECRETS.token}` } };
    for (const path of [
      ...['status', 'messages', 'messages/3', 'flights/700001', 'audit', 'requests', 'reference', 'session'],
      ...['dlq', 'backfill', 'outbox', 'series?span=hour'],
    ].map((name) => `/api/v1/${name}`)) {
      const response = await fetch(url + path, asked);
      expect(response.status, path).toBe(200);
      expectNoSecret(path, await response.text());
    }
    for (const [path, init] of [
      ['/metrics', asked],
      ['/readyz', {}],
      ['/api/v1/status', {}],
      ['/api/v1/status', { headers: { authorization: `Bearer ${SECRETS.token}x` } }],
      ['/api/v1/session', { method: 'POST', body: JSON.stringify({ token: `${SECRETS.token}x` }) }],
    ] as const)
      expectNoSecret(path, await (await fetch(url + path, init)).text());

    const file = join(pipeline.directory, 'secret.yaml');
    await writeFile(file, stringify({ msgx: mergeSettings(pipeline.settings, settings) }));
    for (const args of [
      ['check'],
      ['check', '--json'],
      ['status', '--json'],
      ['verify'],
      ['audit'],
      ['config'],
    ]) {
      const { stdout, stderr } = await msgx([...args, '-c', file], { cwd: pipeline.directory });
      expectNoSecret(`msgx ${args.join(' ')}`, stdout + stderr);
    }
    await expectSilent(process);
  });

  it('are in no word about what cannot be reached', { timeout: 120_000 }, async (test) => {
    const pipeline = await preparePipeline(test);
    const away: Settings = {
      mailbox: { url: withPassword(pipeline.config.mailbox.url, SECRETS.mailbox, '1') },
      delivery: {
        target: 'kafka',
        kafka: {
          brokers: ['127.0.0.1:1'],
          sasl: { mechanism: 'PLAIN', username: 'msgx', password: SECRETS.brokers },
        },
      },
      log: { level: 'trace' },
    };
    const process = await startMsgx(test, pipeline, { settings: away });
    await process.logged('station paused: a dependency is not available', 60_000);
    await expectSilent(process);

    for (const settings of [
      away,
      { database: { url: withPassword(pipeline.config.database.url, SECRETS.database, '1') } },
      { database: { url: `${withPassword(pipeline.config.database.url, SECRETS.database)}_gone` } },
    ]) {
      const file = join(pipeline.directory, 'away.yaml');
      await writeFile(file, stringify({ msgx: mergeSettings(pipeline.settings, settings) }));
      const { stdout, stderr, code } = await msgx(['check', '--debug', '-c', file], {
        cwd: pipeline.directory,
      });
      expect(code).toBe(1);
      expectNoSecret('msgx check', stdout + stderr);
    }
  });
});

/** Ends a process and looks through everything that it has said. */
async function expectSilent(process: MsgxProcess): Promise<void> {
  process.signal('SIGTERM');
  await process.ended;
  await until('its log', () => (process.log.length > 3 ? true : null));
  expectNoSecret('the log', JSON.stringify(process.log));
  expectNoSecret('stderr', process.stderr());
}
