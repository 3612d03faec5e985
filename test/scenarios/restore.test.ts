/** Our database is put back to a backup that was taken in the middle of the day (seed §9.2). */
import { describe, expect, it } from 'vitest';
import { registerRequest } from '../../src/store/req-track.ts';
import { restoreBackup, takeBackup } from '../kit/backup.ts';
import { gate, schedule } from '../kit/messages.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { productionMissing, productionParts } from '../kit/production-parts.ts';
import { preparePipeline, type PipelineOptions, type TestPipeline } from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';
import { expectClean, firstDeliveries } from './checks.ts';
import { daySteps, playInto } from './simulated.ts';

const COUNT = 500;
const MORE = 100;
const FOUND = 'our database was restored from a backup';

interface Flight extends Record<string, unknown> {
  readonly flid: string;
  readonly state: string;
}

const flightsOf = (pipeline: TestPipeline) =>
  pipeline.rows<Flight>(
    'select flid, operation_day::text as day, deleted, state::text as state from flight_schd order by flid',
  );

/** Known before the backup; its only change since is gone from the mailbox when the backup is put back. */
const LOST_FLID = '999001';

async function restores(
  test: { onTestFinished(close: () => Promise<void>): void },
  options: PipelineOptions,
): Promise<void> {
  const log: string[] = [];
  const pipeline = await preparePipeline(test, { ...options, onLog: (line) => log.push(line) });
  const found = () => log.filter((line) => line.includes(FOUND)).length;
  const steps = daySteps({ count: COUNT + MORE, duplicates: 0 });
  const first = steps.slice(0, Math.floor(COUNT / 3));
  const second = steps.slice(first.length, COUNT);

  let running = await pipeline.start();
  await pipeline.mailbox.insert(schedule(LOST_FLID));
  await playInto(pipeline, first, 200);
  await until('the flight to be known', async () =>
    (await pipeline.rows(`select 1 from flight_schd where flid = '${LOST_FLID}'`)).length > 0 ? true : null,
  );
  // In the middle: messages are read, processed, told and marked while it is taken.
  const playing = playInto(pipeline, second, 200);
  await takeBackup(pipeline.client);
  await playing;
  const lostMessage = await pipeline.mailbox.insert(gate(LOST_FLID, 'G9'));
  await pipeline.database.transaction((tx) =>
    registerRequest(
      tx,
      { rtype: 'ABDG', operationDay: null, sender: 'MSGX' },
      { by: 'msgx:on-start', now: Date.now() },
    ),
  );
  await until('the request to be sent', async () =>
    (await pipeline.rows("select 1 from req_track where state = 'SENT'")).length > 0 ? true : null,
  );
  await pipeline.drained();
  await running.stop();
  expect(found()).toBe(0);
  await expectClean(pipeline);
  const before = {
    flights: await flightsOf(pipeline),
    marks: await pipeline.mailboxSide.marks(),
    told: await pipeline.journal('msg'),
    states: await pipeline.journal('schd'),
  };
  const highestId = [...before.told, ...before.states]
    .map(({ headers }) => BigInt(headers['ce_id'] ?? '0'))
    .reduce((a, b) => (a > b ? a : b));
  const toldVersions = new Map<string, number>();
  for (const { key, value } of before.told)
    toldVersions.set(key, Math.max(Number(value?.['stateVersion']), toldVersions.get(key) ?? 0));

  await restoreBackup(pipeline.client);
  const pendingAtBackup = new Set(
    (
      await pipeline.rows<{ id: string }>(
        "select event_id::text as id from msg_event where state = 'PENDING'",
      )
    ).map(({ id }) => id),
  );
  await pipeline.mailboxSide.remove([lostMessage]);

  running = await pipeline.start();
  await pipeline.drained();
  await until('the restore to be settled', async () =>
    (await pipeline.rows('select 1 from version_floor where settled_at is null')).length === 0 ? true : null,
  );
  await pipeline.drained();
  // Marks, target and COUTMSGS: each station says what it has found.
  await until('all three signs to be told', async () => (found() === 3 ? true : null), {
    standing: () => log.filter((line) => line.includes(FOUND)),
  });

  // Converged: every flight is as it was, but for the one whose message is gone.
  const others = (flights: readonly Flight[]) => flights.filter(({ flid }) => flid !== LOST_FLID);
  expect(others(await flightsOf(pipeline))).toEqual(others(before.flights));
  // No mark was touched.
  const marks = await pipeline.mailboxSide.marks();
  for (const [id, mark] of before.marks) if (marks.has(id)) expect(marks.get(id), `mark of ${id}`).toBe(mark);
  expect((await pipeline.mailboxSide.rows()).filter(({ marked }) => !marked)).toEqual([]);

  // What was told afterwards: new IDs and new versions; repeated is only what the backup had not sent yet.
  const after = (await pipeline.journal('msg')).slice(before.told.length);
  const known = new Map(before.told.map((line) => [String(line.value?.['eventId']), line]));
  for (const line of after) {
    const id = String(line.value?.['eventId']);
    if (known.has(id)) {
      expect(pendingAtBackup).toContain(id);
      expect(line.value).toEqual(known.get(id)?.value);
      continue;
    }
    if (pendingAtBackup.has(id)) continue;
    expect(BigInt(id)).toBeGreaterThan(highestId);
    expect(Number(line.value?.['stateVersion'])).toBeGreaterThan(toldVersions.get(line.key) ?? 0);
  }
  expect(after.some(({ value }) => Number(value?.['stateVersion']) > 1)).toBe(true);
  for (const [key, lines] of firstDeliveries(await pipeline.journal('msg'))) {
    const versions = lines.map(({ value }) => Number(value?.['stateVersion']));
    expect(versions, `versions of ${key}`).toEqual([...new Set(versions)].sort((a, b) => a - b));
  }
  // The flight whose message is gone was told as it is.
  const own = after.findLast(({ key }) => key === LOST_FLID);
  expect(own?.value).toMatchObject({ stateVersion: toldVersions.get(LOST_FLID)! + 1, cause: null });
  const state = (await flightsOf(pipeline)).find(({ flid }) => flid === LOST_FLID)?.state;
  const toldState = (await pipeline.journal('schd')).findLast(({ key }) => key === LOST_FLID);
  expect(toldState?.value?.['flight']).toEqual(JSON.parse(state!));

  // No SEQN of ours stands twice in COUTMSGS.
  const sequences = (await pipeline.mailboxSide.outboundRows()).map(
    ({ text }) => /<SEQN>(\d+)<\/SEQN>/.exec(text)?.[1],
  );
  expect(sequences.length).toBeGreaterThan(0);
  expect(new Set(sequences).size).toBe(sequences.length);
  await expectClean(pipeline);
  const counted = (await pipeline.verifyReport()).findings.find(({ invariant }) => invariant === 5)?.counted;
  expect(counted?.['jumps']).toBeGreaterThan(0);

  // Found once: the next start has nothing to say, and the day goes on.
  await running.stop();
  const said = found();
  running = await pipeline.start();
  await playInto(pipeline, steps.slice(COUNT));
  await pipeline.drained();
  expect(found()).toBe(said);
  await expectClean(pipeline);
}

describe.skipIf(postgresMissing !== null)('restored from a backup of the middle of the day', () => {
  it('journal, mailbox in PostgreSQL', { timeout: 120_000 }, (test) => restores(test, {}));
});

describe.skipIf(productionMissing !== null)('restored from a backup, with MariaDB and Kafka', () => {
  it('topics, mailbox in MariaDB', { timeout: 180_000 }, async (test) =>
    restores(test, await productionParts()),
  );
});
