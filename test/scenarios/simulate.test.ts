import { describe, expect, it } from 'vitest';
import { postgresMissing } from '../kit/postgres.ts';
import { startPipeline } from '../kit/service-pipeline.ts';
import { expectClean, expectTold } from './checks.ts';
import { daySteps, playInto, sized } from './simulated.ts';

/** The long variant, on demand: MSGX_TEST_SIMULATE_COUNT=20000. */
const COUNT = sized('MSGX_TEST_SIMULATE_COUNT', 3_000);
const TIMEOUT_MS = 30_000 + COUNT * 30;

describe.skipIf(postgresMissing !== null)('a simulated day', () => {
  it(
    'goes all the way, and twice to the same business state',
    async (test) => {
      const steps = daySteps({ count: COUNT });
      const digests: unknown[] = [];
      // The batches of the second run are cut differently: what comes out must not depend on them.
      for (const settings of [{}, { pipeline: { 'commit-batch': 23, 'claim-batch': 90 } }]) {
        const pipeline = await startPipeline(test, { settings });
        const played = await playInto(pipeline, steps);
        expect(played.messages).toBe(COUNT);
        await pipeline.drained(TIMEOUT_MS);
        await pipeline.running.stop();
        await expectClean(pipeline);
        await expectTold(pipeline);
        const [{ ended } = { ended: 0 }] = await pipeline.rows<{ ended: number }>(
          'select count(terminal_at)::int as ended from proc_state',
        );
        expect(ended).toBe(COUNT);
        const classes = await pipeline.rows(
          `select distinct coalesce(error_class, state) as outcome from proc_state order by 1`,
        );
        expect(classes.map(({ outcome }) => outcome as string)).toEqual([
          ...['EXHAUSTED', 'MALFORMED', 'PROTOCOL', 'SKIPPED', 'SUCCEEDED'],
        ]);
        const [{ missing } = { missing: 0 }] = await pipeline.rows<{ missing: number }>(
          'select sum(to_id - from_id + 1)::int as missing from inbox_hole where released_at is not null',
        );
        expect(missing).toBe(played.holes);
        digests.push(await pipeline.digest());
      }
      expect(digests[1]).toEqual(digests[0]);
      expect(digests[0]).toMatchObject({ messages: COUNT });
    },
    2 * TIMEOUT_MS,
  );
});
