/** Outages longer than a test: the service's clock jumps while a part is away for some seconds. */
import { describe, expect, it } from 'vitest';
import { JumpingClock } from '../kit/jumping-clock.ts';
import { createTestDatabase, postgresMissing } from '../kit/postgres.ts';
import { productionMissing, testKafka } from '../kit/production-parts.ts';
import { startPipeline, preparePipeline, type Running, type TestPipeline } from '../kit/service-pipeline.ts';
import { startProxy, targetOf } from '../kit/tcp-proxy.ts';
import { until } from '../kit/until.ts';
import { expectClean, expectTold, unmarked } from './checks.ts';
import { daySteps, playInto } from './simulated.ts';
import { scheduleText } from './texts.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Messages written with each step of the clock. */
const PORTION = 20;

describe.skipIf(productionMissing !== null)('with the times of production', () => {
  it(
    'Kafka away for 45 minutes and the mailbox for 20: nobody is charged, the order is kept, all is made up for',
    { timeout: 180_000 },
    async (test) => {
      const clock = new JumpingClock();
      const kafka = await testKafka();
      const { url: mailboxUrl } = await createTestDatabase({ blank: true });
      const box = await startProxy(targetOf(mailboxUrl));
      const { proxy: wire, broker } = await kafka.proxy();
      const pipeline = await startPipeline(test, {
        clock,
        kafka,
        mailboxUrl,
        proxies: { mailbox: box },
        // Longer than the whole test by the real clock: what is released is released by the jumps.
        settings: {
          pipeline: { 'max-commit-delay': '5m' },
          delivery: { kafka: { brokers: [broker] }, timeout: '5s' },
        },
      });
      // Without holes, each of which would wait for minutes, and without messages that die of themselves.
      const steps = daySteps({ count: 15 * PORTION, holes: 0, poison: 0 });
      const parts = Array.from({ length: 15 }, (_, at) =>
        steps.slice(at * PORTION, at === 14 ? undefined : (at + 1) * PORTION),
      );
      const playNext = async () => playInto(pipeline, parts.shift() ?? []);
      await playNext();
      await pipeline.drained();

      wire.refuse();
      wire.cut();
      await playNext();
      await stationIs(pipeline.running, 'delivery', 'outage');
      for (let minutes = 0; minutes < 45; minutes += 5) {
        clock.advance(5 * MINUTE);
        await playNext();
        await until('messages to be processed', async () => {
          const { unread, unfinished, owed } = await pipeline.standing();
          return unread + unfinished + owed === 0 ? true : null;
        });
      }
      expect((await pipeline.standing()).undelivered).toBeGreaterThan(0);
      expect(await stationOf(pipeline.running, 'delivery')).toBe('outage');
      wire.heal();
      await pipeline.drained();

      // Two inserts underway when the mailbox goes: one is committed meanwhile, one taken back.
      const [committed, takenBack] = [
        await pipeline.mailbox.openInsert(scheduleText()),
        await pipeline.mailbox.openInsert(scheduleText()),
      ];
      await playNext();
      await until('the holes to be seen', async () =>
        (await pipeline.rows('select from inbox_hole where released_at is null')).length > 0 ? true : null,
      );
      box.refuse();
      box.cut();
      await stationIs(pipeline.running, 'inbox', 'outage');
      for (let minutes = 0; minutes < 20; minutes += 5) {
        clock.advance(5 * MINUTE);
        if (minutes === 5) {
          await committed.commit();
          await takenBack.rollback();
        }
        await playInto(pipeline, parts.length > 1 ? (parts.shift() ?? []) : []);
      }
      // Nobody has looked since: no hole is released by the clock alone.
      const [open] = await pipeline.rows<{ from: string; to: string }>(
        'select from_id::text as "from", to_id::text as "to" from inbox_hole where released_at is null',
      );
      expect(open).toEqual({ from: String(committed.id), to: String(takenBack.id) });
      box.heal();
      await playNext();
      await pipeline.drained();

      const holes = await pipeline.rows(
        'select from_id::text as "from", to_id::text as "to", found_at from inbox_hole',
      );
      expect(holes).toEqual([{ from: String(takenBack.id), to: String(takenBack.id), found_at: null }]);
      expect(await pipeline.rows('select msg_id from proc_state where late')).toEqual([]);
      expect(
        await pipeline.rows('select event_id from msg_event where attempts > 0 or state <> $1', ['SENT']),
      ).toEqual([]);
      expect(
        await pipeline.rows(
          'select msg_id from proc_state where backfill_attempts > 0 or backfill_at is null',
        ),
      ).toEqual([]);
      expect(
        await pipeline.rows(`select msg_id, last_error from proc_state where attempts > 0 or state = 'DEAD'`),
      ).toEqual([]);
      await expectClean(pipeline);
      await expectTold(pipeline);
    },
  );
});

describe.skipIf(postgresMissing !== null)('a mailbox away for longer than R', () => {
  it('has its marks given up after R and not before, and nothing else', async (test) => {
    const clock = new JumpingClock();
    const { url: mailboxUrl } = await createTestDatabase({ blank: true });
    const box = await startProxy(targetOf(mailboxUrl));
    const pipeline = await preparePipeline(test, { clock, mailboxUrl, proxies: { mailbox: box } });
    // So that marks are still owed when the mailbox goes.
    await pipeline.rows(
      `insert into station_pause (station, by, reason, since) values ('backfill', 'test', 'marks stay owed', now())`,
    );
    const running = await pipeline.start();
    const steps = daySteps({ count: 40, holes: 0 });
    await playInto(pipeline, steps.slice(0, 30));
    await until('messages to be processed', async () => {
      const { unread, unfinished, undelivered } = await pipeline.standing();
      return unread + unfinished + undelivered === 0 ? true : null;
    });
    const owed = (await unmarked(pipeline)).length;
    expect(owed).toBeGreaterThan(0);
    box.refuse();
    box.cut();
    await pipeline.rows('delete from station_pause');
    await stationIs(running, 'backfill', 'outage');
    await playInto(pipeline, steps.slice(30));

    clock.advance(23 * HOUR);
    expect(await given(pipeline)).toEqual([]);
    clock.advance(1.5 * HOUR);
    await until('the marks to be given up', async () =>
      (await given(pipeline)).some(({ marks }) => marks === owed) ? true : null,
    );
    // Giving up counts as an attempt; the outage before it did not.
    expect(await given(pipeline)).toEqual([{ reason: 'TRANSIENT_DEADLINE', attempts: 1, marks: owed }]);
    const early = await pipeline.rows(
      `select msg_id from proc_state where backfill_abandoned_at < enqueued_at + interval '24 hours'`,
    );
    expect(early).toEqual([]);

    box.heal();
    await pipeline.drained();
    // What was written during the outage was enqueued after it: its time has only begun.
    expect(await given(pipeline)).toEqual([{ reason: 'TRANSIENT_DEADLINE', attempts: 1, marks: owed }]);
    expect(await unmarked(pipeline)).toHaveLength(owed);
    await expectClean(pipeline);
  });
});

async function given(
  pipeline: TestPipeline,
): Promise<readonly { reason: string; attempts: number; marks: number }[]> {
  return pipeline.rows(
    `select backfill_abandoned_reason as reason, max(backfill_attempts)::int as attempts, count(*)::int as marks
     from proc_state where backfill_abandoned_at is not null group by 1`,
  );
}

async function stationOf({ host }: Running, name: string): Promise<string | undefined> {
  return host.service.stations().find((station) => station.name === name)?.state;
}

async function stationIs(running: Running, name: string, state: string): Promise<void> {
  await until(`${name} in ${state}`, async () => ((await stationOf(running, name)) === state ? true : null), {
    standing: () => running.host.service.stations(),
  });
}
