import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FAILPOINTS, type FailpointName } from '../../src/runtime/failpoints/names.ts';
import { kafkaMissing, TestKafka } from '../kit/kafka.ts';
import { postgresMissing } from '../kit/postgres.ts';
import {
  createPipeline,
  preparePipeline,
  type Closing,
  type PipelineOptions,
  type TestPipeline,
} from '../kit/service-pipeline.ts';
import { expectClean, expectTold } from './checks.ts';
import { Killed } from './kill-run.ts';
import { REQUEST_POINTS } from './request-kill-cases.ts';
import { PORTIONS, countOf, killStream, playPortion } from './kill-stream.ts';
import { playInto, sized } from './simulated.ts';

/** Kills at each point, up to one per portion. */
const KILLS = Math.min(sized('MSGX_TEST_KILL_POINTS', PORTIONS), PORTIONS);

// Small batches everywhere: each point is passed often.
const SETTINGS = {
  pipeline: {
    'poll-interval': '40ms',
    'claim-batch': 8,
    'commit-batch': 4,
    'backfill-batch': 4,
    'max-commit-delay': '100ms',
    'late-scan-interval': '50ms',
    retry: {
      backoff: ['10ms', '10ms', '10ms', '10ms'],
      'capability-backoff': ['10ms', '10ms', '10ms', '10ms'],
    },
  },
  delivery: { batch: 4 },
  schd: { 'flush-limit': 3 },
};

/** At which passing to kill in each portion: as often as it is passed for certain. */
const OFTEN = [1, 3, 6];
const SELDOM = [1, 2, 3];
const ONCE = [1, 1, 1];

/** The points, but for those of another target. */
const PASSINGS: Readonly<Partial<Record<FailpointName, readonly number[]>>> = {
  'lease.raised': ONCE,
  'lease.releasing': ONCE,
  'seeding.chosen': ONCE,
  'seeding.committed': ONCE,
  'inbox.texts-read': SELDOM,
  'inbox.written': SELDOM,
  'inbox.committed': SELDOM,
  'hole.waiting': ONCE,
  'hole.reread': ONCE,
  'hole.passed': ONCE,
  'late.texts-read': ONCE,
  'late.written': ONCE,
  'late.committed': ONCE,
  'late.recorded': SELDOM,
  'send.received': ONCE,
  'send.in-mailbox': ONCE,
  'send.enqueued': ONCE,
  'pump.heads-read': OFTEN,
  'pump.decoded': OFTEN,
  'pump.bound': OFTEN,
  'pump.locked': OFTEN,
  'pump.decided': OFTEN,
  'pump.committed': OFTEN,
  'fail.charging': OFTEN,
  'fail.committed': OFTEN,
  'exhaust.deciding': [1, 2, 2],
  'exhaust.committed': [1, 2, 2],
  'trace.due': ONCE,
  'trace.written': ONCE,
  'delivery.claimed': OFTEN,
  'delivery.accepted': OFTEN,
  'delivery.written': OFTEN,
  'delivery.recorded': OFTEN,
  'flush.claimed': SELDOM,
  'flush.accepted': SELDOM,
  'flush.written': SELDOM,
  'flush.recorded': SELDOM,
  'journal.written': OFTEN,
  'journal.synced': OFTEN,
  'backfill.selected': OFTEN,
  'backfill.marked': OFTEN,
  'backfill.written': OFTEN,
  'backfill.recorded': OFTEN,
};
/** The points of Kafka as the target. */
const KAFKA: Readonly<Partial<Record<FailpointName, readonly number[]>>> = {
  'kafka.produced': OFTEN,
  'kafka.committed': OFTEN,
};
/** Passed once in the life of a pipeline: each kill has one of its own. */
const FIRST_START: readonly string[] = ['seeding.chosen', 'seeding.committed'];

interface Row {
  readonly failpoint: string;
  readonly passing: number;
  readonly killed: boolean;
  /** Messages that had ended when the process died. */
  readonly before: number;
  readonly duplicates: number;
  readonly equal: boolean;
}

const rows: Row[] = [];
const stream = killStream();

describe('the stream', () => {
  it('has in each portion what the points need', () => {
    for (const portion of stream) {
      expect(countOf(portion, 'hole')).toBeGreaterThanOrEqual(1);
      expect(portion.steps.at(-1)?.kind).toBe('message');
      expect(countOf(portion, 'duplicate')).toBeGreaterThanOrEqual(1);
      expect(countOf(portion, 'poison')).toBeGreaterThanOrEqual(1);
      expect(countOf(portion, 'unsupported') + countOf(portion, 'CODEC_ERROR')).toBeGreaterThanOrEqual(2);
    }
  });

  // At those of requests in request-kills.test.ts, of upkeep in upkeep-kills.test.ts, of refusals in refusal-kills.test.ts.
  it('is killed at every point of the list', () => {
    const elsewhere = Object.keys(FAILPOINTS).filter((name) => /^(?:upkeep|refusal)\./.test(name));
    expect([...Object.keys({ ...PASSINGS, ...KAFKA }), ...REQUEST_POINTS, ...elsewhere].sort()).toEqual(
      Object.keys(FAILPOINTS).sort(),
    );
  });
});

describe.skipIf(postgresMissing !== null)('msgx run', () => {
  /** Digests, one after each portion. */
  const undisturbed: string[] = [];

  let compiled = '';

  beforeAll(async () => {
    compiled = await mkdtemp(join(tmpdir(), 'msgx-compiled-'));
    const pipeline = await createPipeline({ settings: SETTINGS });
    try {
      const { url } = await pipeline.start();
      for (const portion of stream) {
        await playPortion(pipeline, portion, { from: 0, rate: 200, url: async () => url });
        await expectWhole(pipeline, undisturbed.length);
        undisturbed.push((await pipeline.digest()).digest);
      }
    } finally {
      await pipeline.close();
    }
  }, 400_000);

  afterAll(async () => {
    await rm(compiled, { recursive: true, force: true });
    console.log(table(rows));
  });

  it.concurrent.for(Object.entries(PASSINGS) as [FailpointName, readonly number[]][])(
    'killed at %s ends in the state of an undisturbed run',
    { timeout: 400_000 },
    async ([name, passings], test) => {
      const wanted = passings.slice(0, KILLS);
      if (FIRST_START.includes(name)) {
        // The mailbox is empty when the first process starts, then half of the portion is there, then all of it.
        for (const [index, passing] of wanted.entries()) await kill(test, name, [passing], index / 2);
      } else {
        await kill(test, name, wanted, 0);
      }
      expectRows(name);
    },
  );

  describe.skipIf(kafkaMissing !== null)('with Kafka as the target', () => {
    let kafka: TestKafka;

    beforeAll(async () => {
      kafka = await TestKafka.start();
    }, 400_000);

    afterAll(() => kafka.dispose());

    it.concurrent.for(Object.entries(KAFKA) as [FailpointName, readonly number[]][])(
      'killed at %s ends in the state of an undisturbed run',
      { timeout: 400_000 },
      async ([name, passings], test) => {
        await kill(test, name, passings.slice(0, KILLS), 0, { kafka });
        expectRows(name);
      },
    );
  });

  /** A pipeline whose process is killed once in each portion. @param early share of the first that is there before */
  async function kill(
    closing: Closing,
    name: FailpointName,
    passings: readonly number[],
    early: number,
    target: Pick<PipelineOptions, 'kafka'> = {},
  ): Promise<void> {
    const pipeline = await preparePipeline(closing, { settings: SETTINGS, ...target });
    const first = stream[0]!.steps;
    const there = Math.floor(first.length * early);
    await playInto(pipeline, first.slice(0, there));
    const killed = new Killed(closing, pipeline, { name, passings, compiled });
    let twice = 0;
    for (const [index, passing] of passings.entries()) {
      await playPortion(pipeline, stream[index]!, {
        from: index === 0 ? there : 0,
        // Live, then faster than it can be read.
        rate: index === 1 ? 0 : 200,
        url: () => killed.url(),
      });
      const death = await killed.death(index);
      const before = twice;
      twice = await duplicates(pipeline);
      const { digest } = await pipeline.digest();
      rows.push({
        failpoint: name,
        passing,
        killed: death.killed,
        before: death.finished,
        duplicates: twice - before,
        equal: digest === undisturbed[index],
      });
      expect(death.killed, `${name} reached`).toBe(true);
      await expectWhole(pipeline, index);
      await expectClean(pipeline);
    }
    await killed.stop();
    await expectTold(pipeline);
  }
});

function expectRows(name: FailpointName): void {
  const own = rows.filter(({ failpoint }) => failpoint === name);
  expect(own).toHaveLength(KILLS);
  for (const row of own) expect(row).toMatchObject({ killed: true, equal: true });
}

/** Everything up to the end of a portion has ended, under the IDs that the stream means, the late ones as late. */
async function expectWhole(pipeline: TestPipeline, index: number): Promise<void> {
  const { messages, last } = stream[index]!;
  expect(await pipeline.standing()).toEqual({
    unread: 0,
    unfinished: 0,
    finished: messages,
    undelivered: 0,
    owed: 0,
  });
  expect((await pipeline.mailbox.bounds())?.max).toBe(last);
  const late = await pipeline.rows<{ id: string }>(
    'select msg_id as id from proc_state where late order by msg_id',
  );
  expect(late.map(({ id }) => BigInt(id))).toEqual(stream.slice(0, index + 1).map(({ hole }) => hole));
}

/** Changes in the journal beyond the first delivery of each. */
async function duplicates(pipeline: TestPipeline): Promise<number> {
  const lines = await pipeline.journal('msg').catch(() => []);
  return lines.length - new Set(lines.map(({ value }) => value?.['eventId'])).size;
}

/** Plain text, in the order of the list. */
function table(unsorted: readonly Row[]): string {
  const names = Object.keys(FAILPOINTS);
  const sorted = unsorted.toSorted((a, b) => names.indexOf(a.failpoint) - names.indexOf(b.failpoint));
  const head = ['failpoint', 'passing', 'killed', 'ended before', 'sent twice', 'digest equal'];
  const lines = sorted.map(({ failpoint, passing, killed, before, duplicates: twice, equal }) =>
    [failpoint, passing, killed ? 'yes' : 'NO', before, twice, equal ? 'yes' : 'NO'].map(String),
  );
  const widths = head.map((_, column) => Math.max(...[head, ...lines].map((line) => line[column]!.length)));
  return [head, ...lines]
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
