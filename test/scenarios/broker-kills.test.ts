/** The broker killed with SIGKILL and started again under load, as its consumers see it. */
import { describe, expect, it } from 'vitest';
import { postgresMissing } from '../kit/postgres.ts';
import { kafkaMissing } from '../kit/kafka.ts';
import { testKafka } from '../kit/production-parts.ts';
import { startPipeline } from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';
import { expectClean, expectTold } from './checks.ts';
import { daySteps, playInto, sized } from './simulated.ts';

/** The long variant, on demand: MSGX_TEST_BROKER_KILLS=20. */
const KILLS = sized('MSGX_TEST_BROKER_KILLS', 5);
/** Messages per life of the broker. */
const PORTION = 150;

describe.skipIf((postgresMissing ?? kafkaMissing) !== null)('Kafka under load', () => {
  it(
    'killed and started again, again and again: nothing is lost, versions are contiguous, the order is kept',
    { timeout: 60_000 + KILLS * 30_000 },
    async (test) => {
      const kafka = await testKafka();
      const pipeline = await startPipeline(test, {
        kafka,
        // Small batches: each kill finds one underway.
        settings: { delivery: { batch: 5, timeout: '5s' }, schd: { 'flush-limit': 5 } },
      });
      const steps = daySteps({ count: PORTION * KILLS });
      for (let kill = 0; kill < KILLS; kill++) {
        const last = kill + 1 === KILLS;
        const portion = steps.slice(kill * PORTION, last ? undefined : (kill + 1) * PORTION);
        const sent = await acknowledged();
        const playing = playInto(pipeline, portion, 150);
        await until('deliveries', async () => ((await acknowledged()) > sent + 20 ? true : null));
        await kafka.kill();
        expect((await pipeline.standing()).undelivered, 'events underway').toBeGreaterThan(0);
        await playing;
        await until('the station to say so', () => (deliveryState() === 'outage' ? true : null));
        await kafka.restart();
      }
      await pipeline.drained();
      expect(await pipeline.rows('select event_id from msg_event where attempts > 0')).toEqual([]);
      const undisturbed = await startPipeline(test);
      await playInto(undisturbed, steps);
      await undisturbed.drained();
      expect(await pipeline.digest()).toEqual(await undisturbed.digest());
      await expectClean(pipeline);
      await expectTold(pipeline);

      async function acknowledged(): Promise<number> {
        const rows = await pipeline.rows<{ sent: number }>(
          `select count(*)::int as sent from msg_event where state = 'SENT'`,
        );
        return rows[0]?.sent ?? 0;
      }
      function deliveryState(): string | undefined {
        return pipeline.running.host.service.stations().find(({ name }) => name === 'delivery')?.state;
      }
    },
  );
});
