/**
 * `msgx run` is killed at every step of the upkeep jobs, again and again; whoever goes on leaves the archives, the
 * deletions that were told and what is deleted as they are without a kill.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FAILPOINTS, type FailpointName } from '../../src/runtime/failpoints/names.ts';
import { JOBS } from '../../src/upkeep/jobs/job.ts';
import { deletion, gate, schedule } from '../kit/messages.ts';
import { startMsgx } from '../kit/msgx-process.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { preparePipeline, type Closing, type TestPipeline } from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';
import { firstDeliveries } from './checks.ts';
import { diedAt, freeLease, startArmed } from './kill-run.ts';

const UPKEEP_POINTS = (Object.keys(FAILPOINTS) as FailpointName[]).filter((name) =>
  name.startsWith('upkeep.'),
);

/** At which passing each of three processes is killed: in the flights, then in the jobs behind them. */
const PASSINGS = [1, 2, 2];

/** More than one batch. */
const FLIDS = Array.from({ length: 60 }, (_, index) => String(830_000 + index));

describe.skipIf(postgresMissing !== null)('upkeep', () => {
  let compiled = '';
  let undisturbed: unknown;

  beforeAll(async () => {
    compiled = await mkdtemp(join(tmpdir(), 'msgx-compiled-'));
  });
  afterAll(() => rm(compiled, { recursive: true, force: true }));

  it('has something to do in every job', { timeout: 120_000 }, async (test) => {
    const pipeline = await prepareOld(test);
    undisturbed = await end(test, pipeline);
    // Of the events only the deletions are left: one of each flight and target, but of that which a message deleted.
    expect(undisturbed).toMatchObject({
      archived: { flights: 60, messages: 62, tombstones: 59 },
      left: { flights: 0, messages: 0, texts: 0, events: 118 },
    });
  });

  it.concurrent.for(UPKEEP_POINTS)(
    'killed at %s ends as undisturbed',
    { timeout: 300_000 },
    async (name, test) => {
      const pipeline = await prepareOld(test);
      for (const passing of PASSINGS) {
        const point = { name, passing };
        const armed = await startArmed(test, pipeline, { ...point, compiled });
        expect(await diedAt(armed, point), `${name} reached, passing ${passing}`).toBe(true);
        await freeLease(pipeline);
      }
      expect(await end(test, pipeline)).toEqual(undisturbed);
    },
  );

  /** Runs until every job has come to its end and its deletions are told; what there is then. */
  async function end(closing: Closing, pipeline: TestPipeline): Promise<unknown> {
    const process = await startMsgx(closing, pipeline, { env: { NODE_COMPILE_CACHE: compiled } });
    await until('every job ended', async () => {
      const ended = await pipeline.rows<{ job: string }>(
        'select job from upkeep_job where ended_at is not null',
      );
      return ended.length === JOBS.length ? true : null;
    });
    await pipeline.drained();
    process.signal('SIGTERM');
    expect(await process.ended).toEqual({ code: 0, signal: null });
    return standing(pipeline);
  }
});

/** A pipeline that has processed its messages a year ago. */
async function prepareOld(closing: Closing): Promise<TestPipeline> {
  const pipeline = await preparePipeline(closing);
  const running = await pipeline.start();
  await pipeline.mailbox.insertAll([schedule(...FLIDS), gate(FLIDS[0]!, 'A1'), deletion(FLIDS[1]!)]);
  // Marked, and not needed for anything below.
  await pipeline.mailbox.insertAll(FLIDS.slice(1).map((flid) => gate(flid, 'B2')));
  await pipeline.drained();
  await running.stop();
  await pipeline.rows('delete from upkeep_job');
  for (const [table, columns] of Object.entries(TIMES)) {
    const older = columns.map((column) => `${column} = ${column} - interval '1 year'`);
    await pipeline.rows(`update ${table} set ${older.join(', ')}`);
  }
  await freeLease(pipeline);
  return pipeline;
}

const TIMES = {
  proc_state: ['received_at', 'enqueued_at', 'terminal_at', 'backfill_at'],
  raw_message: ['stored_at'],
  msg_event: ['created_at', 'sent_at'],
  flight_schd: ['updated_at'],
  schd_snap_log: ['recv_at', 'scope_end'],
};

async function standing(pipeline: TestPipeline): Promise<unknown> {
  const count = async (what: string) =>
    (await pipeline.rows<{ n: number }>(`select count(*)::integer as n from ${what}`))[0]?.n;
  const deliveries = firstDeliveries(await pipeline.journal('msg'));
  return {
    archived: {
      flights: await count('flight_schd_hst'),
      messages: await count('proc_state_hst'),
      tombstones: await count('archive_tombstone'),
    },
    left: {
      flights: await count('flight_schd'),
      messages: await count('proc_state'),
      texts: await count('raw_message'),
      events: await count('msg_event'),
      traces: await count('schd_snap_log'),
    },
    flights: await pipeline.rows('select flid, version, deleted, state from flight_schd_hst order by flid'),
    // Told once each, or again with the same event: never a second deletion.
    told: [...deliveries].map(([flid, lines]) => [flid, lines.map(({ value }) => value?.['stateVersion'])]),
    broken: (await pipeline.verifyReport()).findings.filter(({ answer }) => answer === 'broken'),
  };
}
