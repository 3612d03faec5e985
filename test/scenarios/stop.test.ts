/** SIGTERM ends the service within 10 s, whoever does not answer. */
import { describe, expect, it } from 'vitest';
import { startMsgx } from '../kit/msgx-process.ts';
import { productionMissing } from '../kit/production-parts.ts';
import { preparePipeline } from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';
import { PARTS, behindProxy, type Part } from './behind-proxy.ts';
import { expectClean, expectTold } from './checks.ts';
import { daySteps, playInto } from './simulated.ts';

describe.skipIf(productionMissing !== null)('msgx run as a process, SIGTERM', () => {
  it.for<Part>(PARTS)(
    'ends it within 10 s and with exit code 0 while %s is silent, and nothing is lost',
    { timeout: 120_000 },
    async (what, test) => {
      const { proxy, options } = await behindProxy(what);
      const pipeline = await preparePipeline(test, options);
      const running = await startMsgx(test, pipeline);
      await running.active();
      const steps = daySteps({ count: 400 });
      const playing = playInto(pipeline, steps, 400);
      await until('progress', async () => {
        const { finished, undelivered } = await pipeline.standing();
        return finished - undelivered > 50 ? true : null;
      });
      proxy.silence();
      await playing;
      const asked = performance.now();
      running.signal('SIGTERM');
      const ending = await running.ended;
      // Together, so that a failure says why.
      expect({ ...ending, stderr: running.stderr() }).toEqual({ code: 0, signal: null, stderr: '' });
      expect(performance.now() - asked).toBeLessThan(10_000);

      proxy.heal();
      await pipeline.start();
      await pipeline.drained();
      await expectClean(pipeline);
      await expectTold(pipeline);
    },
  );

  it('ends it in time while it waits for an own database that is silent from the start', async (test) => {
    const { proxy, options } = await behindProxy('own database');
    const pipeline = await preparePipeline(test, options);
    proxy.silence();
    const running = await startMsgx(test, pipeline);
    await running.serving();
    const asked = performance.now();
    running.signal('SIGTERM');
    expect(await running.ended).toEqual({ code: 0, signal: null });
    expect(performance.now() - asked).toBeLessThan(10_000);
  });
});
