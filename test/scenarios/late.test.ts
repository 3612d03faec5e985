import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { play } from '../../src/simulator/writer.ts';
import type { Mailbox } from '../../src/mailbox/port.ts';
import { mariadb, mariadbMissing } from '../kit/mariadb.ts';
import { postgresMissing } from '../kit/postgres.ts';
import {
  preparePipeline,
  startPipeline,
  type Closing,
  type PipelineOptions,
  type TestPipeline,
} from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';
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

/** Both kinds of mailbox; in MariaDB msgx may see writers only where its user has PROCESS. */
const KINDS = [
  { kind: 'PostgreSQL', missing: postgresMissing },
  { kind: 'MariaDB', missing: postgresMissing ?? mariadbMissing },
] as const;
const text = (n: number) => `<no message ${String(n)}/>`;

async function prepared(
  closing: Closing,
  kind: (typeof KINDS)[number]['kind'],
  options: PipelineOptions,
): Promise<TestPipeline> {
  if (kind === 'PostgreSQL') return preparePipeline(closing, options);
  const server = await mariadb();
  const pipeline = await preparePipeline(closing, { ...options, mariadb: server });
  const session = await server.session();
  await session.query(`grant process on *.* to '${new URL(pipeline.mailboxSide.url).username}'@'%'`);
  await session.end();
  return pipeline;
}

/** Leaves a transaction of the mailbox open that has read and written nothing. */
async function idleSession(closing: Closing, kind: string, pipeline: TestPipeline): Promise<void> {
  const { url } = pipeline.mailboxSide;
  if (kind === 'PostgreSQL') {
    const client = new pg.Client({ connectionString: url, options: '-c search_path=public' });
    await client.connect();
    closing.onTestFinished(() => client.end());
    await client.query('begin; select count(*) from CMINMSGS');
  } else {
    const session = await (await mariadb()).session(new URL(url).pathname.slice(1));
    closing.onTestFinished(() => session.end());
    await session.query('start transaction; select count(*) from CMINMSGS');
  }
}

/** Inserts one row, leaves a hole by a rollback, and inserts another. */
async function withHole(mailbox: Mailbox): Promise<bigint> {
  await mailbox.insert(text(1));
  const gone = await mailbox.openInsert(text(2));
  await mailbox.insert(text(3));
  await gone.rollback();
  return gone.id;
}

for (const { kind, missing } of KINDS) {
  describe.skipIf(missing !== null)(`holes of a mailbox in ${kind}`, () => {
    it('an ID given again after its hole was released is found within the scan interval, and seen', async (test) => {
      const intervalMs = 2_000;
      const pipeline = await prepared(test, kind, {
        settings: { pipeline: { 'late-scan-interval': `${String(intervalMs)}ms` } },
      });
      const running = await pipeline.start();
      const steps = daySteps({ count: 120, holes: 0, poison: 0 });
      const texts = steps.flatMap((step) => (step.kind === 'message' ? [step.text] : []));
      const [last = ''] = texts.splice(100, 1);
      await pipeline.mailbox.insertAll(texts.slice(0, 100));
      const hole = await withHole(pipeline.mailbox);
      await pipeline.mailbox.insertAll(texts.slice(100));
      await pipeline.drained();
      expect(await pipeline.rows('select 1 from inbox_hole where released_at is not null')).toHaveLength(1);
      const since = Date.now();
      // An auto-increment that began again has given the ID to another message.
      await pipeline.mailboxSide.insertAt(hole, last);
      await pipeline.drained();
      const took = Date.now() - since;
      const [row] = await pipeline.rows<{ late: boolean; state: string }>(
        'select late, state from proc_state where msg_id = $1',
        [hole.toString()],
      );
      expect(row).toEqual({ late: true, state: 'SUCCEEDED' });
      // One interval, and what processing and the look at it take.
      expect(took).toBeLessThan(2 * intervalMs);
      const metrics = await (await fetch(`${running.url}/metrics`)).text();
      expect(metrics).toMatch(/^msgx_late_arrivals_total 1$/m);
      // What the console shows.
      const status = (await (await fetch(`${running.url}/api/v1/status`)).json()) as {
        inbox: { lateArrivals: number };
      };
      expect(status.inbox.lateArrivals).toBe(1);
      await expectClean(pipeline);
      await expectTold(pipeline);
    });

    it('a writer that lives is not skipped in three times max-commit-delay; an idle session blocks nothing', async (test) => {
      const delayMs = 300;
      const pipeline = await prepared(test, kind, {
        settings: { pipeline: { 'max-commit-delay': `${String(delayMs)}ms`, 'max-hole-hold': '10m' } },
      });
      await idleSession(test, kind, pipeline);
      await pipeline.start();
      await withHole(pipeline.mailbox);
      await pipeline.drained();
      expect(await pipeline.rows('select 1 from inbox_hole where released_at is not null')).toHaveLength(1);

      const held = await pipeline.mailbox.openInsert(text(4));
      await pipeline.mailbox.insert(text(5));
      await until('the hole to be three times as old as a commit may take', async () =>
        (
          await pipeline.rows(
            `select 1 from inbox_hole, inbox_cursor where released_at is null and polled_at is not null
               and clock_timestamp() - first_seen_at > $1::int * interval '3 ms'`,
            [delayMs],
          )
        ).length > 0
          ? true
          : null,
      );
      const [cursor] = await pipeline.rows<{ watermark: string }>('select watermark from inbox_cursor');
      expect(BigInt(cursor!.watermark)).toBe(held.id - 1n);
      await held.commit();
      await pipeline.drained();
      expect(await pipeline.rows('select 1 from proc_state where late')).toEqual([]);
      expect(await pipeline.rows('select 1 from inbox_hole where released_at is not null')).toHaveLength(1);
      await expectClean(pipeline);
    });

    it('proved: a hole is released when its writers have ended, without waiting for max-commit-delay', async (test) => {
      const pipeline = await prepared(test, kind, {
        settings: {
          pipeline: { 'max-commit-delay': '10m', 'max-hole-hold': '20m', 'hole-release': 'proved' },
        },
      });
      await idleSession(test, kind, pipeline);
      await pipeline.start();
      // An inbox that begins with a hole would have to be told where to begin.
      await pipeline.mailbox.insert(text(0));
      await pipeline.drained();
      const held = await pipeline.mailbox.openInsert(text(1));
      await pipeline.mailbox.insert(text(2));
      await until('the hole to be seen', async () =>
        (await pipeline.rows('select 1 from inbox_hole')).length > 0 ? true : null,
      );
      await held.rollback();
      await pipeline.drained();
      expect(await pipeline.rows('select 1 from inbox_hole where released_at is not null')).toHaveLength(1);
      await expectClean(pipeline);
    });

    it('IDs that start again stop the inbox, which says so, and nothing else', async (test) => {
      const pipeline = await prepared(test, kind, {
        settings: { pipeline: { 'late-scan-interval': '200ms' } },
      });
      const running = await pipeline.start();
      for (let n = 0; n < 5; n++) await pipeline.mailbox.insert(text(n));
      await pipeline.drained();
      await pipeline.mailboxSide.remove([1n, 2n, 3n, 4n, 5n]);
      await pipeline.mailboxSide.insertAt(2n, text(99));
      const stations = () =>
        running.host.service.stations().map(({ name, state, reason }) => ({ name, state, reason }));
      await until(
        'the inbox to stop',
        async () => stations().find(({ name, state }) => name === 'inbox' && state === 'stopped') ?? null,
      );
      expect(stations().find(({ name }) => name === 'inbox')?.reason).toMatch(
        /IDs seem to have started again: row 2/,
      );
      expect(
        stations()
          .filter(({ state }) => state === 'running')
          .map(({ name }) => name),
      ).toEqual(expect.arrayContaining(['pump', 'delivery', 'backfill']));
    });
  });
}
