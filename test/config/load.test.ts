import { describe, expect, test } from 'vitest';
import { configFromObject, loadConfig, loadDecodingConfig } from '../../src/config/load.ts';
import { nearest } from '../../src/config/nearest.ts';
import { faultsOf, faultsWith, file, MINIMAL, valid } from './kit.ts';

function faultsOfText(text: string): readonly string[] {
  const path = file('msgx.yaml', text);
  return faultsOf(loadConfig({ file: path, env: {} })).map((fault) => fault.replace(path, 'FILE'));
}

test('a file is loaded, nested groups and long IDs included', () => {
  const path = file(
    'msgx.yaml',
    `
msgx:
  airport: HGH
  database: { url: postgresql://msgx@db/msgx }
  mailbox: { url: mariadb://msgx@db/aodb }
  pipeline:
    cutover-watermark: 9007199254740993
    claim-batch: 7
    retry:
      # everything commented out is a group without keys
  delivery: { kafka: { topic-msg: "{airport}.msg" } }
  requests: { daily-at: 04:00, on-start: [tomorrow, AIRL] }
`,
  );
  const config = valid(loadConfig({ file: path, env: {} }));
  expect(config.pipeline.cutoverWatermark).toBe(9_007_199_254_740_993n);
  expect(config.pipeline.claimBatch).toBe(7);
  expect(config.pipeline.retry.maxAttempts).toBe(5);
  expect(config.database.url).toBe('postgres://msgx@db/msgx');
  expect(config.mailbox.url).toBe('mysql://msgx@db/aodb');
  expect(config.delivery.kafka.topicMsg).toBe('HGH.msg');
  expect(config.requests).toMatchObject({ dailyAt: '04:00', onStart: ['tomorrow', 'AIRL'] });
});

test('all faults are reported at once, each with its key', () => {
  const faults = faultsOfText(`
msgx:
  airport: hgh
  claim-batch: 4
  pipelin: { claim-batch: 5 }
  time-zone: Asia/Shanghay
  database: { schema: Bad }
  mailbox: { url: embedded }
  pipeline:
    poll-interval: 2s
    claim-batch: "500"
    cutover-watermark: 9223372036854775808
    batch-bytes: 16 MB
    shadow: "yes"
    backfill-batch: 0
    retry: { backoff: [1s, 1, 5ms, 1s] }
  log: loud
  requests: { daily-at: 24:00 }
other: 1
`);
  expect(faults).toEqual([
    'msgx.claim-batch: unknown key; did you mean msgx.pipeline.claim-batch?',
    'msgx.pipelin: unknown key; did you mean msgx.pipeline?',
    'msgx.log: must be a group of keys, got a single value',
    expect.stringMatching(/^other: unknown key; the root key is msgx/),
    'msgx.airport: must be an IATA airport code: three capital letters, got "hgh"',
    'msgx.time-zone: must be a known IANA time zone, e.g. Asia/Shanghai, got "Asia/Shanghay"',
    'msgx.database.url or url-file: is required: embedded, or a URL postgres://…',
    expect.stringMatching(/^msgx.database.schema: must be a plain lower-case name .* got "Bad"$/),
    expect.stringMatching(
      /^msgx.pipeline.cutover-watermark: must be min, zero, max or an ID .* got 9223372036854775808$/,
    ),
    expect.stringMatching(/^msgx.pipeline.poll-interval: must be a duration from 10ms to 1s.* got "2s"$/),
    'msgx.pipeline.claim-batch: must be an integer from 1 to 10000, got "500"',
    expect.stringMatching(/^msgx.pipeline.batch-bytes: must be a size from .* got "16 MB"$/),
    expect.stringMatching(/^msgx.pipeline.retry.backoff: entry 2 must be a duration/),
    expect.stringMatching(/^msgx.pipeline.retry.backoff: entry 3 must be a duration/),
    'msgx.pipeline.backfill-batch: must be an integer from 1 to 10000, got 0',
    'msgx.pipeline.shadow: must be true or false, got "yes"',
    'msgx.requests.daily-at: must be a time of day HH:mm, or none, got "24:00"',
  ]);
});

describe('a text that is no YAML', () => {
  test.each([
    ['msgx:\n  airport: [HGH\n', /^FILE:\d+:\d+: not valid YAML: Flow sequence/],
    ['msgx:\n  airport: HGH\n  airport: PEK\n', /^FILE:3:3: not valid YAML: Map keys must be unique$/],
    ['msgx: *nowhere\n', /^FILE:1:7: not valid YAML: |^FILE: not valid YAML: aliases cannot be resolved$/],
    ['- msgx\n', /^FILE: must be a mapping with the root key msgx$/],
  ])('%j', (text, fault) => {
    const faults = faultsOfText(text);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(fault);
  });
});

test('a missing default file is named where something is missing', () => {
  const missing = file('x', '') + '.yaml';
  const faults = faultsOf(loadConfig({ file: missing, optional: true, env: {} }));
  expect(faults[0]).toBe(`${missing}: there is no such file`);
  expect(faults.filter((fault) => fault.includes('is required'))).toHaveLength(3);
});

test('null unsets what may be unset and is a fault elsewhere', () => {
  expect(valid(configFromObject({ ...MINIMAL, rules: { reference: null } })).rules.reference).toBeNull();
  expect(faultsWith({ sender: null })).toEqual([
    'msgx.sender: must be 1 to 8 letters, digits, _ or -, got nothing',
  ]);
  expect(faultsWith({ airport: null })).toEqual([
    'msgx.airport: is required: an IATA airport code: three capital letters',
  ]);
});

test.each(['__proto__', 'constructor', 'toString'])('%s is an unknown key like any other', (name) => {
  expect(faultsWith(JSON.parse(`{"${name}": {"a": 1}}`) as object)).toEqual([
    expect.stringContaining(`msgx.${name}: unknown key`),
  ]);
});

test.each([
  ['+08:00', false],
  ['UTC', true],
  ['America/New_York', true],
  ['Mars/Olympus', false],
])('time zone %s', (zone, known) => expect(faultsWith({ 'time-zone': zone })).toHaveLength(known ? 0 : 1));

test('decoding needs no connections, but no wrong key either', () => {
  const path = file('msgx.yaml', 'msgx: { time-zone: Europe/Berlin, rules: { ignore: [] } }');
  const result = loadDecodingConfig({ file: path, env: {} });
  expect(result.ok && result.config).toMatchObject({
    timeZone: 'Europe/Berlin',
    dialect: 'sis',
    rules: { ignore: [] },
  });
  const wrong = loadDecodingConfig({ file: file('msgx.yaml', 'msgx: { timezone: UTC }'), env: {} });
  expect(wrong).toEqual({ ok: false, faults: ['msgx.timezone: unknown key; did you mean msgx.time-zone?'] });
});

test('the nearest name is the one with the fewest edits, or with the same last part', () => {
  expect(nearest('a.b', [])).toBeNull();
  expect(nearest('msgx.sendr', ['msgx.airport', 'msgx.sender'])).toBe('msgx.sender');
  expect(nearest('msgx.tls', ['msgx.sender', 'msgx.delivery.kafka.tls'])).toBe('msgx.delivery.kafka.tls');
});
