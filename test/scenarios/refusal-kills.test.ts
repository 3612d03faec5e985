/** `msgx run` is killed while it charges events that Kafka refuses for their length; each ends as without a kill. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FAILPOINTS, type FailpointName } from '../../src/runtime/failpoints/names.ts';
import { kafkaMissing, TestKafka } from '../kit/kafka.ts';
import { gate, schedule } from '../kit/messages.ts';
import { startMsgx } from '../kit/msgx-process.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { preparePipeline, type Closing, type TestPipeline } from '../kit/service-pipeline.ts';
import { unmarked } from './checks.ts';
import { diedAt, freeLease, startArmed } from './kill-run.ts';
import { remarkOf, remarkText, scheduleText } from './texts.ts';

const REFUSAL_POINTS = (Object.keys(FAILPOINTS) as FailpointName[]).filter((name) =>
  name.startsWith('refusal.'),
);

/** At which passing each of three processes is killed. */
const PASSINGS = [1, 2, 3];

const ATTEMPTS = 9;
const SETTINGS = {
  pipeline: { 'poll-interval': '40ms' },
  delivery: {
    batch: 4,
    retry: { 'max-attempts': ATTEMPTS, backoff: Array.from({ length: ATTEMPTS - 1 }, () => '20ms') },
  },
};
/** Bytes of a message whose event a broker refuses by default, beyond 1 MiB. */
const TOO_LONG = 1_300_000;

interface Outcome {
  readonly digest: string;
  readonly events: readonly object[];
  /** Versions in the topic, of each flight in order, each once. */
  readonly told: readonly (readonly [string, readonly number[]])[];
  readonly unmarked: readonly string[];
}

describe.skipIf(postgresMissing !== null || kafkaMissing !== null)('events that Kafka refuses', () => {
  let kafka: TestKafka;
  let compiled = '';
  let undisturbed: readonly Outcome[];

  beforeAll(async () => {
    compiled = await mkdtemp(join(tmpdir(), 'msgx-compiled-'));
    kafka = await TestKafka.start();
  }, 120_000);
  afterAll(async () => {
    await kafka.dispose();
    await rm(compiled, { recursive: true, force: true });
  });

  it('die after their attempts, and what comes behind them is told', { timeout: 120_000 }, async (test) => {
    undisturbed = await end(test, await prepare(test));
    const [refused, healed] = undisturbed;
    // The change of the flight and its state, each charged so often; nothing behind it before.
    const dead = (events: readonly object[] = []) =>
      events.filter((event) => 'state' in event && event.state === 'DEAD');
    expect(dead(refused?.events)).toMatchObject([
      { target: 'KAFKA:msg', flid: '800001', version: 3, attempts: ATTEMPTS },
      { target: 'KAFKA:schd', flid: '800001', version: 3, attempts: ATTEMPTS },
    ]);
    expect(refused?.told).toEqual([
      ['800001', [1, 2]],
      ['810001', [1, 2, 3]],
    ]);
    expect(dead(healed?.events)).toMatchObject([{ target: 'KAFKA:msg', version: 3 }]);
    expect(healed?.told).toEqual([
      ['800001', [1, 2, 4]],
      ['810001', [1, 2, 3]],
    ]);
    expect(healed?.unmarked).toEqual([]);
  });

  it.for(REFUSAL_POINTS)('killed at %s end as undisturbed', { timeout: 240_000 }, async (name, test) => {
    const pipeline = await prepare(test);
    for (const passing of PASSINGS) {
      const armed = await startArmed(test, pipeline, { name, passing, compiled });
      expect(await diedAt(armed, { name, passing }), `${name} reached, passing ${passing}`).toBe(true);
      await freeLease(pipeline);
    }
    expect(await end(test, pipeline)).toEqual(undisturbed);
  });

  /** A pipeline with an event that is too long, and others before and behind it. */
  async function prepare(closing: Closing): Promise<TestPipeline> {
    const pipeline = await preparePipeline(closing, { settings: SETTINGS, kafka });
    await pipeline.mailbox.insertAll([
      ...[scheduleText(), schedule('810001'), remarkText('short'), gate('810001', 'A1')],
      ...[remarkOf(TOO_LONG), gate('810001', 'A2')],
    ]);
    return pipeline;
  }

  /** Runs to the end, then with a change that is short again. */
  async function end(closing: Closing, pipeline: TestPipeline): Promise<readonly Outcome[]> {
    const process = await startMsgx(closing, pipeline, { env: { NODE_COMPILE_CACHE: compiled } });
    await pipeline.drained();
    const refused = await outcomeOf(pipeline);
    await pipeline.mailbox.insertAll([remarkText('short again')]);
    await pipeline.drained();
    const healed = await outcomeOf(pipeline);
    process.signal('SIGTERM');
    expect(await process.ended).toEqual({ code: 0, signal: null });
    return [refused, healed];
  }
});

async function outcomeOf(pipeline: TestPipeline): Promise<Outcome> {
  const told = new Map<string, number[]>();
  for (const { key, value } of await pipeline.journal('msg')) {
    const version = Number(value?.['stateVersion']);
    const versions = told.get(key) ?? [];
    // Told again with the same version after a kill; never with an older one behind a newer one.
    if (versions.at(-1) !== version) told.set(key, [...versions, version]);
  }
  return {
    digest: (await pipeline.digest()).digest,
    events: await pipeline.rows(
      `select target, partition_key as flid, state_version as version, state, attempts, last_error as reason
       from msg_event order by target, partition_key, state_version`,
    ),
    told: [...told].sort(([left], [right]) => left.localeCompare(right)),
    unmarked: await unmarked(pipeline),
  };
}
