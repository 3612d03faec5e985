/** Our own database takes no writes, because its disk is full or it was set read-only: an outage, nobody's failure. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { startEmbedded } from '../../src/store/embedded.ts';
import { migrate } from '../../src/store/migrate.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { startPipeline, type Closing } from '../kit/service-pipeline.ts';
import { smallDisk, smallDiskMissing } from '../kit/small-disk.ts';
import { until } from '../kit/until.ts';
import { expectClean, expectTold } from './checks.ts';
import { daySteps, playInto } from './simulated.ts';

const COUNT = 900;

interface Trouble {
  readonly url: string;
  readonly begin: () => Promise<void>;
  readonly end: () => Promise<void>;
  /** What the log says of it. */
  readonly reason: RegExp;
}

async function survives(test: Closing, { url, begin, end, reason }: Trouble): Promise<void> {
  await migrate(url, 'msgx');
  const log: string[] = [];
  const pipeline = await startPipeline(test, { databaseUrl: url, onLog: (line) => log.push(line) });
  const { running } = pipeline;
  const steps = daySteps({ count: COUNT, holes: 0, poison: 0, unsupported: 0 });
  await playInto(pipeline, steps.slice(0, 100));
  await pipeline.drained();

  await begin();
  await playInto(pipeline, steps.slice(100));
  const stations = () => running.host.service.stations();
  await until(
    'a station to pause for the outage',
    async () => stations().find(({ by }) => by === 'outage') ?? null,
    {
      standing: stations,
    },
  );
  const metrics = await (await fetch(`${running.url}/metrics`)).text();
  expect(metrics).toMatch(/^msgx_station_paused\{[^}]*by="outage"[^}]*\} 1$/m);
  const ready = await until('readiness to say so', async () => {
    const answer = await fetch(`${running.url}/readyz`);
    return answer.status === 503 ? ((await answer.json()) as { database: string }) : null;
  });
  expect(ready.database).toBe('down');
  expect(log.filter((line) => reason.test(line)).length).toBeGreaterThan(0);
  await end();
  await pipeline.drained();
  await until('readiness to be back', async () =>
    (await fetch(`${running.url}/readyz`)).status === 200 ? true : null,
  );
  // Without poison nothing has a reason of its own to be tried twice.
  expect(await pipeline.rows("select 1 from proc_state where attempts > 0 or state = 'DEAD'")).toEqual([]);
  expect(await pipeline.rows('select 1 from msg_event where attempts > 0')).toEqual([]);
  expect(await pipeline.rows('select 1 from proc_state where backfill_attempts > 0')).toEqual([]);
  await expectClean(pipeline);
  await expectTold(pipeline);
  await running.stop();
  await pipeline.close();
}

describe.skipIf(postgresMissing !== null || smallDiskMissing !== null)('the disk of our database', () => {
  it('is full for a while: everything pauses, says so, and goes on', { timeout: 120_000 }, async (test) => {
    const disk = await smallDisk(160);
    test.onTestFinished(() => disk.dispose());
    await survives(test, {
      url: disk.url,
      begin: () => disk.fill(),
      end: () => disk.free(),
      reason: /No space left on device/,
    });
  });
});

describe.skipIf(postgresMissing !== null)('our database', () => {
  it(
    'is read-only for a while: everything pauses, says so, and goes on',
    { timeout: 120_000 },
    async (test) => {
      const directory = await mkdtemp(join(tmpdir(), 'msgx-readonly-'));
      const server = await startEmbedded({ directory });
      test.onTestFinished(async () => {
        await server.stop();
        await rm(directory, { recursive: true, force: true });
      });
      const admin = new pg.Client({
        connectionString: server.url,
        options: '-c default_transaction_read_only=off',
      });
      await admin.connect();
      test.onTestFinished(() => admin.end());
      const set = async (value: 'on' | 'off') => {
        await admin.query(`alter system set default_transaction_read_only = ${value}`);
        await admin.query('select pg_reload_conf()');
      };
      await survives(test, {
        url: server.url,
        begin: () => set('on'),
        end: () => set('off'),
        reason: /read-only transaction/,
      });
    },
  );
});
