import { describe, expect, test } from 'vitest';
import { configFromObject, loadConfig } from '../../src/config/load.ts';
import { redactSecret, shownConfig } from '../../src/config/redact.ts';
import { faultsOf, faultsWith, file, MINIMAL, valid } from './kit.ts';

const SECRET = 'Geheim!42';

describe('…-file keys', () => {
  test('give the content of the file, without the line end', () => {
    const urlFile = file('url', `postgres://u:${SECRET}@h/d\n`);
    const passwordFile = file('password', `${SECRET}\n`);
    const config = valid(
      configFromObject({
        ...MINIMAL,
        database: { 'url-file': urlFile },
        mailbox: { 'url-file': urlFile },
        delivery: { kafka: { sasl: { 'password-file': passwordFile } } },
      }),
    );
    expect(config.database.url).toBe(`postgres://u:${SECRET}@h/d`);
    expect(config.mailbox.url).toBe(config.database.url);
    expect(config.delivery.kafka.sasl.password).toBe(SECRET);
  });

  test('contradict the value itself in the same place; the environment wins over both of the file', () => {
    const path = file('url', 'embedded');
    const both = { database: { url: 'embedded', 'url-file': path } };
    expect(faultsWith(both)).toEqual([
      'msgx.database.url: both it and msgx.database.url-file are given; keep one',
    ]);
    expect(faultsWith(both, { MSGX_DATABASE_URL: 'embedded' })).toEqual([]);
    expect(faultsWith({}, { MSGX_DATABASE_URL: 'embedded', MSGX_DATABASE_URL_FILE: path })).toHaveLength(1);
    expect(faultsWith({ database: {} }, { MSGX_DATABASE_URL_FILE: path })).toEqual([]);
  });

  test('that cannot be read are faults', () => {
    expect(faultsWith({ database: { 'url-file': '/nowhere/url' } })).toEqual([
      'msgx.database.url-file: /nowhere/url cannot be read: ENOENT',
    ]);
  });
});

describe('a secret is in no fault', () => {
  test.each([
    ['a URL of the wrong kind', { database: { url: `mongo://u:${SECRET}@h/d` } }],
    ['a URL that is none', { database: { url: `postgres://u:${SECRET}#@h:x/d` } }],
    ['a URL one level too high', { database: `postgres://u:${SECRET}@h/d` }],
    ['a URL one level too deep', { database: { url: { url: `postgres://u:${SECRET}@h/d` } } }],
    ['a URL in place of its file', { database: { 'url-file': `postgres://u:${SECRET}@h/d` } }],
    ['a URL as a key', { [`postgres://u:${SECRET}@h/d`]: null }],
    ['a URL under another key', { sender: `postgres://u:${SECRET}@h/d` }],
    ['a URL under an unknown key', { databse: { url: `postgres://u:${SECRET}@h/d` } }],
    ['a password that is a list', { delivery: { kafka: { sasl: { password: [SECRET] } } } }],
    ['a URL in a list', { rules: { ignore: [`postgres://u:${SECRET}@h/d`] } }],
  ])('%s', (_, settings) => {
    const faults = faultsWith(settings);
    expect(faults).not.toEqual([]);
    expect(faults.join('\n')).not.toContain(SECRET);
  });

  test('nor of the environment', () => {
    const faults = faultsWith({}, { MSGX_MAILBOX_URL: `x://u:${SECRET}@h`, MSGX_MAILBOX_URI: SECRET });
    expect(faults).toHaveLength(2);
    expect(faults.join('\n')).not.toContain(SECRET);
  });

  test.each([
    `msgx: { database: { url: "a" ${SECRET} } }`,
    `msgx:\n  mailbox: { url: *${SECRET} }`,
    `msgx: ${SECRET}: x: y`,
  ])('nor where the file is no YAML: %j', (text) => {
    const faults = faultsOf(loadConfig({ file: file('msgx.yaml', text), env: {} }));
    expect(faults).not.toEqual([]);
    expect(faults.join('\n')).not.toContain(SECRET);
  });
});

test('a configuration is shown without secrets', () => {
  const config = valid(
    configFromObject({
      ...MINIMAL,
      database: { url: `postgres://user:${SECRET}@host:5432/db?sslpassword=${SECRET}&sslmode=require` },
      mailbox: { url: `mysql://user:${SECRET}@host/db` },
      delivery: { kafka: { sasl: { username: 'u', password: SECRET } } },
    }),
  );
  const text = JSON.stringify(shownConfig(config));
  expect(text).not.toContain(SECRET);
  expect(text).not.toContain(encodeURIComponent(SECRET));
  expect(shownConfig(config)).toMatchObject({
    'msgx.database.url': 'postgres://user:***@host:5432/db?sslpassword=***&sslmode=require',
    'msgx.mailbox.url': 'mysql://user:***@host/db',
    'msgx.delivery.kafka.sasl.password': '***',
  });
  expect(redactSecret('embedded')).toBe('embedded');
});
