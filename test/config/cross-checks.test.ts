import { describe, expect, test } from 'vitest';
import { configFromObject } from '../../src/config/load.ts';
import { faultsWith, MINIMAL } from './kit.ts';

describe('retry lists have max-attempts − 1 tiers', () => {
  test.each([
    [{ pipeline: { retry: { backoff: ['1s'] } } }, /^msgx.pipeline.retry.backoff: has 1 tiers, needs 4/],
    [
      { pipeline: { retry: { 'capability-backoff': [] } } },
      /^msgx.pipeline.retry.capability-backoff: has 0 tiers, needs 4/,
    ],
    [{ delivery: { retry: { 'max-attempts': 11 } } }, /^msgx.delivery.retry.backoff: has 9 tiers, needs 10/],
  ])('%j', (settings, fault) => {
    const faults = faultsWith(settings);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(fault);
  });

  test('one attempt has no tier', () => {
    const retry = { 'max-attempts': 1, backoff: [], 'capability-backoff': [] };
    expect(faultsWith({ pipeline: { retry } })).toEqual([]);
  });
});

test('R is at most R_keep', () => {
  const within = (deadline: string) =>
    faultsWith({
      mailbox: { url: 'embedded', retention: '24h' },
      pipeline: { 'backfill-deadline': deadline },
    });
  expect(within('24h')).toEqual([]);
  expect(within('1441m')).toEqual([
    expect.stringMatching(/^msgx.pipeline.backfill-deadline: 1441m is longer .* 1d/),
  ]);
});

test('an embedded mailbox needs the embedded database', () => {
  expect(faultsWith({ database: { url: 'postgres://h/d' } })).toEqual([
    expect.stringMatching(/^msgx.mailbox.url: embedded is a schema in the embedded PostgreSQL/),
  ]);
  expect(faultsWith({ mailbox: { url: 'postgres://h/d' } })).toEqual([]);
});

test('a MySQL mailbox names its database', () => {
  expect(faultsWith({ mailbox: { url: 'mysql://h/' } })).toEqual([
    expect.stringMatching(/names no database/),
  ]);
});

test.each([
  ['127.0.0.1:0', true],
  ['127.8.0.1:80', true],
  ['localhost:80', true],
  ['[::1]:80', true],
  ['0.0.0.0:80', false],
  ['[::]:80', false],
  ['10.0.0.1:80', false],
  ['127.example:80', false],
])('without tokens %s may listen: %s', (listen, allowed) => {
  expect(faultsWith({ http: { listen } })).toHaveLength(allowed ? 0 : 1);
  expect(faultsWith({ http: { listen, 'tokens-file': 'tokens' } })).toEqual([]);
});

describe('Kafka', () => {
  test('needs brokers, two topics and complete credentials', () => {
    const kafka = { 'topic-msg': 'x', 'topic-schd': 'x', sasl: { mechanism: 'PLAIN' } };
    expect(faultsWith({ delivery: { target: 'kafka', kafka } })).toEqual([
      'msgx.delivery.kafka.brokers: is required with msgx.delivery.target kafka',
      'msgx.delivery.kafka.topic-schd: must differ from msgx.delivery.kafka.topic-msg',
      'msgx.delivery.kafka.sasl.username: is required with mechanism PLAIN',
      'msgx.delivery.kafka.sasl.password or password-file: is required with mechanism PLAIN',
    ]);
    expect(faultsWith({ delivery: { kafka } })).toEqual([]);
  });
});

describe('shadow mode', () => {
  const shadow = { shadow: true };
  test('needs a journal of its own', () => {
    expect(faultsWith({ pipeline: shadow })).toHaveLength(1);
    expect(
      faultsWith({ pipeline: shadow, delivery: { journal: { dir: './.msgx/../.msgx/journal/' } } }),
    ).toHaveLength(1);
    expect(faultsWith({ pipeline: shadow, delivery: { journal: { dir: '.msgx/shadow' } } })).toEqual([]);
  });

  test('needs topics of its own', () => {
    const kafka = { brokers: ['h:9092'] };
    expect(faultsWith({ pipeline: shadow, delivery: { target: 'kafka', kafka } })).toEqual([
      'msgx.delivery.kafka.topic-msg: shadow mode needs a topic of its own, not flight.msg',
      'msgx.delivery.kafka.topic-schd: shadow mode needs a topic of its own, not flight.schd',
    ]);
    const own = { ...kafka, 'topic-msg': 'shadow.msg', 'topic-schd': 'shadow.schd' };
    expect(faultsWith({ pipeline: shadow, delivery: { target: 'kafka', kafka: own } })).toEqual([]);
  });
});

test('what is allowed but hardly meant is a warning', () => {
  const settings = {
    ...MINIMAL,
    raw: { retention: '1d' },
    identity: { 'include-day-boundary': false },
    pipeline: { 'max-hole-hold': '1s', 'batch-bytes': '1 MiB' },
  };
  const result = configFromObject(settings);
  expect(result.ok && result.warnings.map((warning) => warning.split(':')[0])).toEqual([
    'msgx.raw.retention',
    'msgx.identity.include-day-boundary',
    'msgx.pipeline.max-hole-hold',
    'msgx.pipeline.batch-bytes',
  ]);
  expect(configFromObject(MINIMAL)).toMatchObject({ ok: true, warnings: [] });
});
