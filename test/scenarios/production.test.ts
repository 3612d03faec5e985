/** What the embedded parts do, done by the parts an airport has: MariaDB and Apache Kafka. */
import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../kit/postgres.ts';
import { productionMissing, productionParts } from '../kit/production-parts.ts';
import { startPipeline, type PipelineOptions } from '../kit/service-pipeline.ts';
import { expectClean, expectTold } from './checks.ts';
import { daySteps, playInto, sized } from './simulated.ts';

/** The long variant, on demand: MSGX_TEST_SIMULATE_COUNT=20000. */
const COUNT = sized('MSGX_TEST_SIMULATE_COUNT', 3_000);
const TIMEOUT_MS = 60_000 + COUNT * 30;

describe.skipIf(productionMissing !== null)('from MariaDB to Kafka', () => {
  it(
    'a simulated day ends in the same business state as on the embedded parts',
    async (test) => {
      const steps = daySteps({ count: COUNT });
      const digests: unknown[] = [];
      for (const parts of [await productionParts(), {}]) {
        const pipeline = await startPipeline(test, parts);
        const played = await playInto(pipeline, steps);
        expect(played.messages).toBe(COUNT);
        await pipeline.drained(TIMEOUT_MS);
        await pipeline.running.stop();
        await expectClean(pipeline);
        await expectTold(pipeline);
        digests.push(await pipeline.digest());
      }
      expect(digests[0]).toEqual(digests[1]);
      expect(digests[0]).toMatchObject({ messages: COUNT });
    },
    2 * TIMEOUT_MS,
  );

  it('two airports in one database, one mailbox server and one broker do not see each other', async (test) => {
    const { url: databaseUrl } = await createTestDatabase({ blank: true });
    const parts = await productionParts();
    const airport = (iata: string): PipelineOptions => ({
      ...parts,
      databaseUrl,
      schema: `msgx_${iata.toLowerCase()}`,
      settings: {
        airport: iata,
        delivery: {
          kafka: { 'topic-msg': '{airport}.flight.msg', 'topic-schd': '{airport}.flight.schd' },
        },
      },
    });
    const left = await startPipeline(test, airport('HGH'));
    const right = await startPipeline(test, airport('CTU'));
    const days = [
      { pipeline: left, steps: daySteps({ count: 500, seed: 'left', airport: 'HGH' }) },
      { pipeline: right, steps: daySteps({ count: 400, seed: 'right', airport: 'CTU' }) },
    ];
    await Promise.all(days.map(({ pipeline, steps }) => playInto(pipeline, steps)));
    await Promise.all(days.map(({ pipeline }) => pipeline.drained()));
    expect([left.running.host.service.role, right.running.host.service.role]).toEqual(['active', 'active']);
    for (const { pipeline, steps } of days) {
      await expectClean(pipeline);
      await expectTold(pipeline);
      for (const stream of ['msg', 'schd'] as const) {
        const topics = new Set((await pipeline.journal(stream)).map(({ headers }) => headers['ce_source']));
        expect([...topics]).toEqual([`/msgx/${pipeline.config.airport}`]);
      }
      const alone = await startPipeline(test, { settings: { airport: pipeline.config.airport } });
      await playInto(alone, steps);
      await alone.drained();
      expect(await pipeline.digest()).toEqual(await alone.digest());
    }
  });
});
