import { describe, expect, it } from 'vitest';
import { startMsgx } from '../kit/msgx-process.ts';
import { createTestDatabase, postgresMissing } from '../kit/postgres.ts';
import { preparePipeline, startPipeline } from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';
import { expectClean, expectTold } from './checks.ts';
import { daySteps, playInto } from './simulated.ts';
import { remarkText, scheduleText } from './texts.ts';

/** A standby takes over within this of the active one's silence (decisions.md). */
const TAKEOVER_MS = 5_000;

describe.skipIf(postgresMissing !== null)('a standby', () => {
  it.for<['killed' | 'stopped', NodeJS.Signals]>([
    ['killed', 'SIGKILL'],
    ['stopped', 'SIGSTOP'],
  ])(
    'takes over within 5 s from an active instance that was %s',
    { timeout: 120_000 },
    async ([, signal], test) => {
      const pipeline = await preparePipeline(test, {
        settings: { pipeline: { 'commit-batch': 5, 'claim-batch': 20 }, delivery: { batch: 6 } },
      });
      const former = await startMsgx(test, pipeline);
      await former.active();
      const { host, url } = await pipeline.start();
      await until('the standby to look', async () => {
        const response = await fetch(`${url}/readyz`);
        return response.status === 200 ? true : null;
      });
      expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ role: 'standby' });

      const steps = daySteps({ count: 700 });
      const playing = playInto(pipeline, steps, 80);
      await until('progress', async () => ((await pipeline.standing()).finished > 30 ? true : null));
      expect(host.service.role).toBe('standby');
      const silentSince = performance.now();
      former.signal(signal);
      await until('the takeover', () => (host.service.role === 'active' ? true : null));
      expect(performance.now() - silentSince).toBeLessThan(TAKEOVER_MS);
      const { finished } = await pipeline.standing();
      await until('the new one to work', async () =>
        (await pipeline.standing()).finished > finished ? true : null,
      );
      if (signal === 'SIGSTOP') {
        // Woken in the middle of what it was doing, it finds that it may not go on.
        former.signal('SIGCONT');
        await former.logged('standby: another instance is active');
        expect(host.service.role).toBe('active');
      }
      await playing;
      await pipeline.drained();
      await expectClean(pipeline);
      await expectTold(pipeline);
      if (signal === 'SIGSTOP') {
        former.signal('SIGTERM');
        expect(await former.ended).toEqual({ code: 0, signal: null });
      }
      expect(host.service.role).toBe('active');
      const undisturbed = await startPipeline(test);
      await playInto(undisturbed, steps);
      await undisturbed.drained();
      expect(await pipeline.digest()).toEqual(await undisturbed.digest());
    },
  );
});

describe.skipIf(postgresMissing !== null)('the first start on a mailbox that is in use', () => {
  it('is refused with exit code 2, says what to choose, and goes on once that was done', async (test) => {
    const pipeline = await preparePipeline(test);
    await pipeline.mailboxSide.insertAt(1_001n, scheduleText());
    await pipeline.mailboxSide.insertAt(1_002n, remarkText('second'));
    const refused = await startMsgx(test, pipeline);
    expect(await refused.ended).toEqual({ code: 2, signal: null });
    expect(refused.stderr()).toMatch(
      /^[^\n]*IDs 1001 to 1002[^\n]*msgx\.pipeline\.cutover-watermark[^\n]*min[^\n]*max[^\n]*zero[^\n]*\n$/,
    );
    expect(await pipeline.rows('select seeded_at, watermark from inbox_cursor')).toEqual([
      { seeded_at: null, watermark: '0' },
    ]);
    expect(await pipeline.rows('select msg_id from proc_state')).toEqual([]);

    const chosen = await preparePipeline(test, {
      databaseUrl: pipeline.config.database.url,
      mailboxUrl: pipeline.config.mailbox.url,
      settings: { pipeline: { 'cutover-watermark': 'min' } },
    });
    await chosen.start();
    await chosen.drained();
    expect(await chosen.rows('select msg_id, state from proc_state order by msg_id')).toEqual([
      { msg_id: '1001', state: 'SUCCEEDED' },
      { msg_id: '1002', state: 'SUCCEEDED' },
    ]);
    await expectClean(chosen);
  });
});

describe.skipIf(postgresMissing !== null)('two pipelines in one database', () => {
  it('do not see each other', async (test) => {
    const { url: databaseUrl } = await createTestDatabase({ blank: true });
    const left = await startPipeline(test, { databaseUrl, schema: 'left_airport' });
    const right = await startPipeline(test, { databaseUrl, schema: 'right_airport' });
    const days = [daySteps({ count: 400, seed: 'left' }), daySteps({ count: 300, seed: 'right' })] as const;
    await Promise.all([playInto(left, days[0]), playInto(right, days[1])]);
    await Promise.all([left.drained(), right.drained()]);
    expect([left.running.host.service.role, right.running.host.service.role]).toEqual(['active', 'active']);
    for (const [pipeline, steps] of [
      [left, days[0]],
      [right, days[1]],
    ] as const) {
      await expectClean(pipeline);
      await expectTold(pipeline);
      const alone = await startPipeline(test);
      await playInto(alone, steps);
      await alone.drained();
      expect(await pipeline.digest()).toEqual(await alone.digest());
    }
  });
});
