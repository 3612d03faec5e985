import { describe, expect, it } from 'vitest';
import { play } from '../../src/simulator/writer.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { startPipeline } from '../kit/service-pipeline.ts';
import { expectClean, expectTold } from './checks.ts';
import { daySteps, playInto } from './simulated.ts';

const COUNT = 600;

describe.skipIf(postgresMissing !== null)('messages committed after later IDs', () => {
  it('are processed and marked, those behind the watermark as late', async (test) => {
    const steps = daySteps({ count: COUNT, late: 0.01 });
    // Writers are not waited for: what is held beyond max-commit-delay comes after its hole was released.
    const pipeline = await startPipeline(test, { settings: { pipeline: { 'max-hole-hold': '300ms' } } });
    // Held far longer than the pipeline waits, so that a busy machine has released the hole by then, too.
    const played = await play({ mailbox: pipeline.mailbox, steps, rate: 0, maxCommitDelayMs: 6_000 });
    expect(played).toMatchObject({ messages: COUNT, late: COUNT / 100 });
    await pipeline.drained();

    const rows = await pipeline.rows<{ id: number; late: boolean; state: string }>(
      'select msg_id::int as id, late, state from proc_state order by msg_id',
    );
    // Each step uses up one ID.
    expect(rows.map(({ id }) => id)).toEqual(
      steps.flatMap(({ kind }, index) => (kind === 'hole' ? [] : [index + 1])),
    );
    const late = rows.filter((row) => row.late).map(({ id }) => id);
    expect(late.length).toBeGreaterThan(0);
    for (const id of late) expect(steps[id - 1]).toMatchObject({ kind: 'late', beyondDelay: true });
    const found = await pipeline.rows<{ id: number }>(
      'select generate_series(from_id, to_id)::int as id from inbox_hole where found_at is not null order by 1',
    );
    expect(found.map(({ id }) => id)).toEqual(late);
    await expectClean(pipeline);
    await expectTold(pipeline);
  });

  it('are waited for while their writer lives, and then nothing is late', async (test) => {
    const steps = daySteps({ count: 400, late: 0.01, holes: 0 });
    const pipeline = await startPipeline(test);
    await playInto(pipeline, steps);
    await pipeline.drained();
    const released = await pipeline.rows('select from_id from inbox_hole where released_at is not null');
    expect(released).toEqual([]);
    expect(await pipeline.rows('select msg_id from proc_state where late')).toEqual([]);
    // Everything ended in the order of the IDs.
    const order = await pipeline.rows<{ id: number }>(
      'select msg_id::int as id from proc_state order by terminal_seq',
    );
    expect(order.map(({ id }) => id)).toEqual(steps.map((_, index) => index + 1));
    await expectClean(pipeline);
    await expectTold(pipeline);
  });
});
