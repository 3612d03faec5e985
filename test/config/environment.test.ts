import { describe, expect, test } from 'vitest';
import { evaluate } from '../../src/config/evaluate.ts';
import { KEYS, NAMES, VARIABLES, type Key } from '../../src/config/keys.ts';
import { configFromObject, loadConfig } from '../../src/config/load.ts';
import { sourceOf } from '../../src/config/source.ts';
import { faultsWith, file, MINIMAL, valid } from './kit.ts';

/** A text that a variable may hold, other than the default, by what the key accepts. */
function sample(key: Key): { text: string; value: unknown } {
  const { expects } = key.setting;
  if (key.name === 'msgx.pipeline.poll-interval') return { text: '20ms', value: 20 };
  if (expects.startsWith('a list, each a duration')) return { text: '3s, 40ms', value: [3_000, 40] };
  if (expects.startsWith('a duration')) return { text: '7s', value: 7_000 };
  if (expects.startsWith('a size')) return { text: '128 KiB', value: 131_072 };
  if (expects.startsWith('an integer')) return { text: '3', value: 3 };
  if (expects === 'true or false')
    return key.setting.fallback === true ? { text: 'false', value: false } : { text: 'true', value: true };
  if (expects.startsWith('one of')) {
    const word = expects.split(/[ ,]+/).at(-1) ?? '';
    return word === key.setting.fallback ? { text: 'debug', value: 'debug' } : { text: word, value: word };
  }
  if (expects.startsWith('an IATA')) return { text: 'PEK', value: 'PEK' };
  if (expects.startsWith('an IANA')) return { text: 'Europe/Berlin', value: 'Europe/Berlin' };
  if (expects.startsWith('embedded')) return { text: 'postgres://u:p@h:5/d', value: 'postgres://u:p@h:5/d' };
  if (expects.startsWith('min, zero')) return { text: '9007199254740993', value: 9_007_199_254_740_993n };
  if (expects.startsWith('host:port')) return { text: '10.0.0.1:81', value: { host: '10.0.0.1', port: 81 } };
  if (expects.endsWith('host:port')) return { text: 'a:1, b:2', value: ['a:1', 'b:2'] };
  if (expects.startsWith('a time of day')) return { text: '04:30', value: '04:30' };
  if (expects.startsWith('a topic name')) return { text: 'x.y', value: 'x.y' };
  if (/^(none, or )?a list/.test(expects)) return { text: 'AIRL,ARPT', value: ['AIRL', 'ARPT'] };
  return { text: 'other', value: 'other' };
}

describe.each(KEYS.map((key) => [key.variable, key] as const))('%s', (variable, key) => {
  test('wins over the file and the default', () => {
    const { text, value } = sample(key);
    // The value in the file is wrong for every key: it must not even be looked at.
    const source = { values: new Map([[key.name, { wrong: true }]]), faults: [], broken: false };
    const { draft, faults } = evaluate(
      source,
      { [variable]: text },
      () => '',
      ({ name }) => name === key.name,
    );
    expect(faults).toEqual([]);
    expect(
      key.fields.reduce<unknown>((group, field) => (group as Record<string, unknown>)[field], draft),
    ).toEqual(value);
  });

  test('is named where its value is wrong', () => {
    const source = sourceOf({});
    const { faults } = evaluate(
      source,
      { [variable]: '\u0000' },
      () => '',
      ({ name }) => name === key.name,
    );
    const [fault, ...others] = faults;
    expect(others).toEqual([]);
    expect(fault).toContain(`${key.name}: `);
    expect(fault).toContain(`(${variable})`);
  });
});

test('every key has a variable of its own', () => {
  expect(new Set(VARIABLES).size).toBe(NAMES.length);
  expect(VARIABLES).toContain('MSGX_PIPELINE_CLAIM_BATCH');
  expect(VARIABLES).toContain('MSGX_DELIVERY_KAFKA_SASL_PASSWORD_FILE');
});

test('the environment alone is enough', () => {
  const env = { MSGX_AIRPORT: 'HGH', MSGX_DATABASE_URL: 'embedded', MSGX_MAILBOX_URL: 'embedded' };
  const missing = file('other.yaml', '') + '.missing';
  expect(valid(loadConfig({ file: missing, optional: true, env })).airport).toBe('HGH');
  expect(loadConfig({ file: missing, env })).toEqual({
    ok: false,
    faults: [`${missing}: cannot be read: ENOENT`],
  });
});

test('an empty variable is an empty list, or unsets', () => {
  const config = valid(
    configFromObject(
      { ...MINIMAL, pipeline: { 'cutover-watermark': 'min' } },
      { MSGX_RULES_IGNORE: '', MSGX_PIPELINE_CUTOVER_WATERMARK: '' },
    ),
  );
  expect(config.rules.ignore).toEqual([]);
  expect(config.pipeline.cutoverWatermark).toBeNull();
});

test('an unknown variable is a fault with the nearest known one', () => {
  expect(faultsWith({}, { MSGX_PIPELINE_CLAM_BATCH: '5', MSGXY: 'no', PATH: 'no' })).toEqual([
    'MSGX_PIPELINE_CLAM_BATCH: unknown environment variable; did you mean MSGX_PIPELINE_CLAIM_BATCH?',
  ]);
});

test('variables of test programs and those that Kubernetes sets are passed over', () => {
  const env = {
    MSGX_TEST_REQUIRE: 'kafka',
    MSGX_BENCH_SECONDS: '1',
    MSGX_SERVICE_HOST: '10.0.0.1',
    MSGX_SERVICE_PORT: '80',
    MSGX_SERVICE_PORT_HTTP: '80',
    MSGX_PORT: 'tcp://10.0.0.1:80',
    MSGX_PORT_80_TCP_ADDR: '10.0.0.1',
  };
  expect(faultsWith({}, env)).toEqual([]);
});
