import { describe, expect, it } from 'vitest';
import { postgresMissing } from '../kit/postgres.ts';
import { startPipeline } from '../kit/service-pipeline.ts';
import { expectClean, expectTold, unmarked } from './checks.ts';
import { daySteps, playInto } from './simulated.ts';

const COUNT = 300;

describe.skipIf(postgresMissing !== null)('shadow mode', () => {
  it('processes everything beside the live pipeline and leaves no trace in the mailbox', async (test) => {
    const shadow = await startPipeline(test, { settings: { pipeline: { shadow: true } } });
    const played = await playInto(shadow, daySteps({ count: COUNT }));
    await shadow.drained();
    expect(await unmarked(shadow)).toHaveLength(COUNT);
    expect(
      await shadow.rows('select distinct shadow, backfill_at, backfill_abandoned_at from proc_state'),
    ).toEqual([{ shadow: true, backfill_at: null, backfill_abandoned_at: null }]);
    expect(await shadow.mailboxSide.outbound()).toBe(0);
    await expectClean(shadow);

    const live = await startPipeline(test, { mailboxUrl: shadow.config.mailbox.url });
    await live.drained();
    expect(await live.digest()).toEqual(await shadow.digest());
    await expectClean(live);
    await expectTold(live);
    // Everything is marked now, which the shadow's audit does not hold against it.
    await expectClean(shadow);
    await live.running.stop();

    // The shadow goes live: only what comes from now on is owed.
    await shadow.running.stop();
    const successor = await startPipeline(test, {
      databaseUrl: shadow.config.database.url,
      mailboxUrl: shadow.config.mailbox.url,
      settings: { delivery: { journal: { dir: shadow.config.delivery.journal.dir } } },
    });
    await playInto(successor, daySteps({ count: 200, day: '2026-03-15', holes: 0 }));
    await successor.drained();
    const owed = await successor.rows<{ first: string; marks: number }>(
      'select min(msg_id)::text as first, count(*)::int as marks from proc_state where backfill_at is not null',
    );
    expect(owed).toEqual([{ first: String(COUNT + played.holes + 1), marks: 200 }]);
    await expectClean(successor);
    await expectTold(successor);
  });
});
