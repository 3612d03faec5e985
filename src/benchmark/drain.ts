/** The drains, on a mailbox that is filled already. They run in a process of their own. */
import { setTimeout as sleep } from 'node:timers/promises';
import { InboxPoller } from '../inbox/poller.ts';
import { seedInboxOrStop } from '../inbox/seeding.ts';
import { Pump } from '../pump/pump.ts';
import { SILENT } from '../runtime/log.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { statement } from '../store/statement.ts';
import { countUnfinished } from '../store/status.ts';
import { pipelineOf, type Setup } from './setup.ts';

/** Reads in everything that the mailbox has; nothing of it is processed. */
export async function readAll({ config, database, mailbox, clock }: Setup): Promise<void> {
  const on = {
    database,
    mailbox,
    clock,
    fence: () => ({ epoch: 0n }),
    logger: SILENT,
    metrics: createMetrics(),
  };
  await seedInboxOrStop({ ...on, setting: null });
  const poller = new InboxPoller({
    ...on,
    options: { ...config.pipeline, maxMessageBytes: config.maxMessageBytes },
  });
  while ((await poller.round()).next === 'now');
}

/** Enqueued → terminal: everything is read in first, then the pump runs alone. */
export async function drainPump(setup: Setup, messages: number): Promise<number> {
  const { config, database, mailbox, dialect, clock } = setup;
  const { pipeline } = config;
  const metrics = createMetrics();
  await readAll(setup);
  const pump = new Pump({
    ...{ database, mailbox, dialect, clock, metrics },
    fence: { epoch: 0n },
    log: SILENT,
    timeZone: config.timeZone,
    operationDayCutoff: config.operationDayCutoff,
    includeDayBoundary: true,
    publication: { vipPersons: false },
    commitBatch: pipeline.commitBatch,
    batchBytes: pipeline.batchBytes,
    maxMessageBytes: config.maxMessageBytes,
    retry: pipeline.retry,
  });
  const started = performance.now();
  while ((await pump.tick()).next === 'now');
  const seconds = (performance.now() - started) / 1_000;
  await expectAllEnded(setup);
  return (messages + 1) / seconds;
}

/** In the mailbox → SENT to the journal and marked: all stations at once, as in service. */
export async function drainAll(setup: Setup, messages: number): Promise<number> {
  const pipeline = pipelineOf(setup);
  const started = performance.now();
  pipeline.start();
  try {
    await awaitAllDone(setup, messages + 1);
    return ((messages + 1) * 1_000) / (performance.now() - started);
  } finally {
    await pipeline.stop();
  }
}

/** Waits until everything in the mailbox has ended, is told and is marked. Throws an Error after two minutes. */
export async function awaitAllDone(setup: Setup, messages: number): Promise<void> {
  const { database } = setup;
  const deadline = performance.now() + 120_000;
  for (;;) {
    // The first entries of three small indexes tell; the rows are counted once, at the end.
    const [left] = await database.query<{ busy: boolean }>(BUSY);
    if (left?.busy === false) {
      const [done] = await database.query<{ marked: number }>(MARKED);
      if (done?.marked === messages) return;
    }
    if (performance.now() > deadline) throw new Error('the benchmark does not drain');
    // Asked seldom, because it costs what is measured; what it adds to the time counts against us.
    await sleep(50);
  }
}

const BUSY = statement(
  'bench.busy',
  // W behind the last ID of the mailbox, which is the benchmark's own table beside ours; then the partial indexes of
  // what is unfinished, pending and owed.
  `select (select watermark from inbox_cursor) < (select coalesce(max(cminmsgs_id), 0) from cminmsgs)
     or exists (select from proc_state where state in ('PENDING', 'FAILED'))
     or exists (select from msg_event where state = 'PENDING')
     or exists (select from proc_state where state in ('SUCCEEDED', 'SKIPPED', 'DEAD') and backfill_at is null
       and backfill_abandoned_at is null and not shadow) as busy`,
);
const MARKED = statement(
  'bench.marked',
  // Behind the seed: what a benchmark has put there before is not counted.
  `select count(*)::integer as marked from proc_state
   where backfill_at is not null and msg_id > (select seed from inbox_cursor)`,
);

async function expectAllEnded(setup: Setup): Promise<void> {
  const left = await countUnfinished(setup.database);
  if (left.length > 0)
    throw new Error(`the benchmark's messages did not all succeed: ${JSON.stringify(left)}`);
}
