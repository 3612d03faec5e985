/** COMMIT is done and its answer lost: the third outcome. The rows tell after reconnecting; nothing is doubled. */
import { describe, expect, it } from 'vitest';
import type { LogLine } from '../kit/msgx-process.ts';
import { createTestDatabase, postgresMissing } from '../kit/postgres.ts';
import { startPipeline } from '../kit/service-pipeline.ts';
import { startProxy, targetOf } from '../kit/tcp-proxy.ts';
import { TRANSACTIONS } from '../kit/station-transactions.ts';
import { until } from '../kit/until.ts';
import { expectClean, expectTold } from './checks.ts';
import { daySteps, playInto } from './simulated.ts';

const PORTION = 60;

describe.skipIf(postgresMissing !== null)('the answer to a commit', () => {
  it(
    'lost in each transaction in turn: nothing is lost, doubled or charged',
    { timeout: 120_000 },
    async (test) => {
      const log: LogLine[] = [];
      const { url: databaseUrl } = await createTestDatabase();
      const proxy = await startProxy(targetOf(databaseUrl));
      const pipeline = await startPipeline(test, {
        databaseUrl,
        proxies: { database: proxy },
        onLog: (line) => log.push(JSON.parse(line) as LogLine),
      });
      const steps = daySteps({ count: PORTION * TRANSACTIONS.length });
      for (const [index, [texts, station, answer]] of TRANSACTIONS.entries()) {
        const last = index + 1 === TRANSACTIONS.length;
        const before = log.length;
        const lost = proxy.loseAnswer(texts, answer);
        await Promise.all([
          lost,
          playInto(pipeline, steps.slice(index * PORTION, last ? undefined : (index + 1) * PORTION)),
        ]);
        await until(`${texts[0]}: the station to notice`, () =>
          log
            .slice(before)
            .some((line) => line.msg.startsWith('station paused') && line['station'] === station)
            ? true
            : null,
        );
        await pipeline.drained();
      }
      const undisturbed = await startPipeline(test);
      await playInto(undisturbed, steps);
      await undisturbed.drained();
      expect(await pipeline.digest()).toEqual(await undisturbed.digest());
      for (const sql of [
        'select msg_id, state, attempts, error_class from proc_state order by 1',
        'select partition_key, state_version, state, attempts from msg_event where target = $$KAFKA:msg$$ order by 1, 2',
        'select msg_id from proc_state where backfill_at is null or backfill_attempts > 0',
      ]) {
        expect(await pipeline.rows(sql)).toEqual(await undisturbed.rows(sql));
      }
      await expectClean(pipeline);
      await expectTold(pipeline);
      for (const stream of ['msg', 'schd'] as const) {
        const ids = (await pipeline.journal(stream)).map(({ headers }) => headers['ce_id']);
        expect(new Set(ids).size, `${stream}: nothing was sent twice`).toBe(ids.length);
      }
    },
  );
});
