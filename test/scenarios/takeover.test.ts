/**
 * A standby takes over from an active instance that was stopped, cut off or killed under load, on the parts an
 * airport has. Who wrote under which epoch is noted by triggers and by the broker, not by msgx.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startMsgx, type ProcessOptions } from '../kit/msgx-process.ts';
import { createTestDatabase } from '../kit/postgres.ts';
import { productionMissing, productionParts } from '../kit/production-parts.ts';
import { preparePipeline, startPipeline, type TestPipeline } from '../kit/service-pipeline.ts';
import { startProxy, targetOf, through } from '../kit/tcp-proxy.ts';
import { topicsOf } from '../../src/service/sink.ts';
import { until } from '../kit/until.ts';
import { expectClean, expectTold } from './checks.ts';
import { daySteps, playInto } from './simulated.ts';

/** A standby takes over within this of the active one's silence (decisions.md). */
const TAKEOVER_MS = 5_000;
/** How long the former active instance is away, ms. */
const AWAY_MS = { stopped: 30_000, 'cut off': 15_000, killed: 5_000 };
/** Messages per second. */
const RATE = 50;

/** Small batches: the former is always in the middle of something. */
const SMALL = {
  pipeline: { 'commit-batch': 5, 'claim-batch': 20, 'backfill-batch': 7 },
  delivery: { batch: 6, timeout: '10s' },
  schd: { 'flush-limit': 6 },
};

type Fate = keyof typeof AWAY_MS;

describe.skipIf(productionMissing !== null)('a standby', () => {
  it.for<[Fate, number]>([
    ['stopped', -60_000],
    ['cut off', 60_000],
    ['killed', 60_000],
  ])(
    'takes over from an active instance that was %s, its own wall clock %i ms off, and is not disturbed by it again',
    { timeout: 240_000 },
    async ([fate, shift], test) => {
      const { mariadb, kafka } = await productionParts();
      const { url: databaseUrl } = await createTestDatabase();
      const pipeline = await preparePipeline(test, { mariadb, kafka, databaseUrl, settings: SMALL });
      await noteWriters(pipeline);
      const topics = Object.values(topicsOf(pipeline.config));

      // The former reaches everything through proxies, the standby goes around them.
      const broker = await kafka.proxy();
      const database = await startProxy(targetOf(databaseUrl));
      const mailbox = await startProxy(targetOf(pipeline.config.mailbox.url));
      const former = await startMsgx(test, pipeline, {
        settings: {
          database: { url: through(databaseUrl, database) },
          mailbox: { url: through(pipeline.config.mailbox.url, mailbox) },
          delivery: { kafka: { brokers: [broker.broker] } },
        },
      });
      await former.active();
      const standby = await startMsgx(test, pipeline, shifted(shift));
      await standby.logged('standby: another instance is active');

      const away = AWAY_MS[fate];
      const steps = daySteps({ count: (RATE * (away + 10_000)) / 1_000 });
      const playing = playInto(pipeline, steps, RATE);
      await until('progress', async () => ((await pipeline.standing()).finished > 100 ? true : null));
      // In every partition the former has been before: only there can it be told from the standby.
      await until('events in every partition', async () =>
        (await Promise.all(topics.map((topic) => kafka.isWrittenEverywhere(topic)))).every(Boolean)
          ? true
          : null,
      );
      const silentSince = performance.now();
      const proxies = [broker.proxy, database, mailbox];
      switch (fate) {
        case 'killed':
          former.signal('SIGKILL');
          break;
        case 'stopped':
          former.signal('SIGSTOP');
          break;
        case 'cut off':
          for (const proxy of proxies) proxy.silence();
          break;
      }
      await standby.active();
      expect(performance.now() - silentSince).toBeLessThan(TAKEOVER_MS);
      if (fate === 'cut off') {
        // It finds out by itself that it may not go on.
        await former.logged('lease lost: it could not be renewed in time');
      }
      await sleep(Math.max(0, silentSince + away - performance.now()));
      // The standby has worked meanwhile: the former has something to spoil. How long that takes is the machine's business.
      const worked = 100 + ((away - TAKEOVER_MS) * RATE) / 4_000;
      await until(
        'the standby to have worked',
        async () => ((await pipeline.standing()).finished > worked ? true : null),
        { timeoutMs: 90_000 },
      );
      switch (fate) {
        case 'killed':
          expect(await former.ended).toEqual({ code: null, signal: 'SIGKILL' });
          break;
        case 'stopped':
          former.signal('SIGCONT');
          await former.logged('standby: another instance is active');
          break;
        case 'cut off':
          for (const proxy of proxies) {
            proxy.heal();
            proxy.cut();
          }
          await former.logged('standby: another instance is active');
          break;
      }
      await playing;
      await pipeline.drained();
      if (fate !== 'killed') {
        former.signal('SIGTERM');
        expect(await former.ended).toEqual({ code: 0, signal: null });
      }
      standby.signal('SIGTERM');
      expect(await standby.ended).toEqual({ code: 0, signal: null });

      await expectOneWriterPerEpoch(pipeline);
      for (const topic of topics) {
        for (const epochs of await kafka.producerEpochs(topic)) {
          // Once a new producer has written, no older one is accepted.
          expect(epochs).toEqual(epochs.toSorted((left, right) => left - right));
          expect(new Set(epochs).size, 'producers that wrote').toBeGreaterThan(1);
        }
      }
      await expectClean(pipeline);
      await expectTold(pipeline);
      const attempts = await pipeline.rows(
        `select 'message' as what from proc_state where error_class is distinct from 'EXHAUSTED' and attempts > 1
         union all select 'event' from msg_event where attempts > 0`,
      );
      expect(attempts, 'nobody was charged').toEqual([]);

      const undisturbed = await startPipeline(test);
      await playInto(undisturbed, steps);
      await undisturbed.drained();
      expect(await pipeline.digest()).toEqual(await undisturbed.digest());
    },
  );
});

/** Has every write of the stations note by whom and under which epoch it was made. */
async function noteWriters({ client }: TestPipeline): Promise<void> {
  const tables = [
    'proc_state',
    'msg_event',
    'flight_schd',
    'inbox_cursor',
    'message_identity',
    'raw_message',
  ];
  await client.query(`
    create table writer (epoch bigint, name text, written text);
    create function note_writer() returns trigger language plpgsql as $$
    begin
      insert into writer select epoch, current_setting('application_name'), tg_table_name from lease;
      return null;
    end $$;
    ${tables
      .map(
        (table) => `create trigger note_writer after insert or update or delete on ${table}
          for each statement execute function note_writer();`,
      )
      .join('\n')}`);
}

/**
 * Each epoch has the writes of one instance alone, and the former instance none after the standby's first. On a machine
 * that stands still for seconds the standby may have had to take its own lease anew: that is an epoch more, and no fault.
 */
async function expectOneWriterPerEpoch(pipeline: TestPipeline): Promise<void> {
  const writers = await pipeline.rows<{ epoch: string; names: string[] }>(
    'select epoch, array_agg(distinct name) as names from writer group by epoch order by epoch',
  );
  const names = writers.map((each) => each.names.join(' and '));
  const [former, standby] = new Set(names);
  expect(names, JSON.stringify(writers)).toEqual([former, ...writers.slice(1).map(() => standby)]);
  expect(standby).toBeDefined();
  // Both wrote everywhere: the triggers do note.
  const written = await pipeline.rows(
    'select name, count(distinct written)::int as tables from writer group by name',
  );
  expect(written.map(({ tables }) => tables as number)).toEqual([6, 6]);
}

function shifted(milliseconds: number): ProcessOptions {
  return {
    env: { SHIFTED_CLOCK_MS: String(milliseconds) },
    nodeArguments: ['--import', new URL('../kit/shifted-clock.ts', import.meta.url).href],
  };
}
