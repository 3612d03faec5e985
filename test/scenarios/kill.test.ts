import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startMsgx } from '../kit/msgx-process.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { preparePipeline, startPipeline, type Standing, type TestPipeline } from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';
import { randomStream } from '../../src/simulator/random.ts';
import { expectClean, expectTold } from './checks.ts';
import { daySteps, playInto, sized } from './simulated.ts';

/** The long variant, on demand: MSGX_TEST_KILLS=20. */
const KILLS = sized('MSGX_TEST_KILLS', 6);
/** Steps played while a process lives. */
const PORTION = 120;
/** Longest time to drain what all kills have left behind. */
const DRAIN_MS = 60_000 + KILLS * 10_000;

// Small batches everywhere: a kill finds every station in the middle of its work.
const SMALL = {
  pipeline: { 'claim-batch': 20, 'commit-batch': 5, 'backfill-batch': 7 },
  delivery: { batch: 6 },
  schd: { 'flush-limit': 6 },
};

describe.skipIf(postgresMissing !== null)('msgx run as a process', () => {
  it(
    'killed with SIGKILL again and again, ends in the state of an undisturbed run',
    async (test) => {
      // Twice as many portions as kills: some kills may come too late to count.
      const steps = daySteps({ count: PORTION * 2 * KILLS });
      const pipeline = await preparePipeline(test, { settings: SMALL });
      const random = randomStream('kills', 'moments');
      let kills = 0;
      let position = 0;
      let finishedBefore = 0;
      while (kills < KILLS) {
        expect(position, 'messages left to be played').toBeLessThan(steps.length);
        const running = await startMsgx(test, pipeline);
        await running.active();
        const portion = steps.slice(position, position + PORTION);
        position += portion.length;
        const playing = playInto(pipeline, portion, 400);
        const wanted = finishedBefore + random.int(1, PORTION / 2);
        await until('progress', async () => ((await pipeline.standing()).finished >= wanted ? true : null));
        const top = (await pipeline.mailbox.bounds())?.max ?? 0n;
        running.signal('SIGKILL');
        expect(await running.ended).toEqual({ code: null, signal: 'SIGKILL' });
        const { finished } = await pipeline.standing();
        if (finished > finishedBefore && (await unfinishedUpTo(pipeline, top)) > 0) kills += 1;
        finishedBefore = finished;
        await playing;
        // As it was left: what is pending or owed is no fault, everything else would be.
        await expectClean(pipeline);
      }
      const last = await startMsgx(test, pipeline);
      await last.active();
      await playInto(pipeline, steps.slice(position));
      await pipeline.drained(DRAIN_MS);
      last.signal('SIGTERM');
      expect(await last.ended).toEqual({ code: 0, signal: null });

      const undisturbed = await startPipeline(test);
      await playInto(undisturbed, steps);
      await undisturbed.drained(DRAIN_MS);
      expect(await pipeline.digest()).toEqual(await undisturbed.digest());
      await expectClean(pipeline);
      await expectTold(pipeline);
    },
    2 * DRAIN_MS + KILLS * 20_000,
  );

  it('ends within 10 s of a SIGTERM under load, with exit code 0 and nothing half done', async (test) => {
    const pipeline = await preparePipeline(test, { settings: SMALL });
    const running = await startMsgx(test, pipeline);
    await running.active();
    const steps = daySteps({ count: 900 });
    const playing = playInto(pipeline, steps, 600);
    await until('progress', async () => ((await pipeline.standing()).finished > 100 ? true : null));
    const asked = performance.now();
    running.signal('SIGTERM');
    expect(await running.ended).toEqual({ code: 0, signal: null });
    expect(performance.now() - asked).toBeLessThan(10_000);
    expect(running.stderr()).toBe('');
    expect(running.log.at(-1)?.msg).toBe('stopped');
    await playing;

    const stopped = await pipeline.standing();
    expect(stopped.unread + stopped.unfinished).toBeGreaterThan(0);
    await expectSettled(pipeline, stopped);
    // The next one need not wait for the lease to run out.
    expect(await pipeline.rows('select holder from lease')).toEqual([{ holder: null }]);
    await expectClean(pipeline);

    await pipeline.start();
    await pipeline.drained();
    await expectClean(pipeline);
    await expectTold(pipeline);
    const ids = (await pipeline.journal('msg')).map(({ value }) => value?.['eventId']);
    expect(new Set(ids).size, 'nothing was sent twice').toBe(ids.length);
  });
});

/** Rows of the mailbox up to an ID that have not ended. */
async function unfinishedUpTo(pipeline: TestPipeline, top: bigint): Promise<number> {
  const there = await pipeline.mailboxSide.count({ upTo: top });
  const ended = await pipeline.rows<{ rows: number }>(
    'select count(terminal_at)::int as rows from proc_state where msg_id <= $1',
    [top],
  );
  return there - (ended[0]?.rows ?? 0);
}

/** What was done outside is recorded, and nothing else is. */
async function expectSettled(pipeline: TestPipeline, { finished, owed }: Standing): Promise<void> {
  const rows = await pipeline.mailboxSide.rows();
  expect(rows.filter(({ marked }) => marked)).toHaveLength(finished - owed);
  const sent = await pipeline.rows<{ id: string }>(
    `select event_id::text as id from msg_event where target = 'KAFKA:msg' and state = 'SENT' order by event_id`,
  );
  const told = (await pipeline.journal('msg')).map(({ value }) => String(value?.['eventId']));
  expect([...told].sort()).toEqual(sent.map(({ id }) => id).sort());
  await expect(access(join(pipeline.config.delivery.journal.dir, 'writer.lock'))).rejects.toThrow('ENOENT');
}
