/** Topics that their owner changes under a running service: deleted and made anew, then given other partitions. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { msgx } from '../cli/kit.ts';
import { kafkaMissing, TestKafka } from '../kit/kafka.ts';
import { deletion, gate, schedule } from '../kit/messages.ts';
import { startMsgx } from '../kit/msgx-process.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { preparePipeline, startPipeline, type TestPipeline } from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';

const missing = kafkaMissing ?? postgresMissing;
const PARTITIONS = 3;
const FLIGHTS = Array.from({ length: 40 }, (_, index) => String(810_001 + index));

describe.skipIf(missing !== null)(`topics change (${missing ?? 'here'})`, () => {
  let kafka: TestKafka;
  beforeAll(async () => {
    kafka = await TestKafka.start({ settings: { 'num.partitions': String(PARTITIONS) } });
  }, 200_000);
  afterAll(() => kafka.dispose());

  const topicsOf = ({ config }: TestPipeline) => ({
    msg: config.delivery.kafka.topicMsg,
    schd: config.delivery.kafka.topicSchd,
  });

  /** What a new consumer of the compacted topic ends up with: the last value per key, nulls removed. */
  async function compactedView(topic: string): Promise<ReadonlyMap<string, unknown>> {
    const view = new Map<string, unknown>();
    for (const { key, payload } of await kafka.read(topic)) {
      if (payload === null) view.delete(key);
      else view.set(key, JSON.parse(payload) as unknown);
    }
    return view;
  }
  async function stateOf(pipeline: TestPipeline): Promise<ReadonlyMap<string, unknown>> {
    const rows = await pipeline.rows<{ flid: string; version: number; state: object }>(
      `select flid, version, state from flight_schd where not deleted`,
    );
    return new Map(
      rows.map(({ flid, version, state }) => [
        flid,
        expect.objectContaining({ flid, stateVersion: version, flight: state }) as unknown,
      ]),
    );
  }
  async function readyz(url: string): Promise<{ readonly status: number; readonly delivery: string }> {
    const answer = await fetch(`${url}/readyz`);
    return { status: answer.status, delivery: ((await answer.json()) as { delivery: string }).delivery };
  }
  async function act(url: string, body: object): Promise<unknown> {
    const answer = await fetch(`${url}/api/v1/actions/republish`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    return { status: answer.status, ...((await answer.json()) as object) };
  }

  it(
    'deleted and made anew, republish --all: its compacted view equals the state',
    { timeout: 240_000 },
    async (test) => {
      const pipeline = await startPipeline(test, {
        kafka,
        settings: { schd: { 'flush-interval': '100ms', 'flush-limit': 10 } },
      });
      const { msg, schd } = topicsOf(pipeline);
      const { url, host } = pipeline.running;
      await pipeline.mailbox.insertAll([
        schedule(...FLIGHTS),
        ...FLIGHTS.map((flid) => gate(flid, 'A1')),
        ...FLIGHTS.slice(0, 5).map(deletion),
      ]);
      await pipeline.drained();
      expect(await compactedView(schd)).toEqual(await stateOf(pipeline));

      await kafka.deleteTopics(msg, schd);
      // Live traffic goes on: it waits in the outbox, is charged nothing, and msgx makes no topic of its own accord.
      await pipeline.mailbox.insertAll(FLIGHTS.slice(5, 15).map((flid) => gate(flid, 'B2')));
      const station = () => host.service.stations().find(({ name }) => name === 'delivery');
      await until('delivery to say what is missing', () =>
        /is missing and had 3/.test(station()?.reason ?? '') ? true : null,
      );
      expect(await readyz(url)).toEqual({ status: 200, delivery: 'degraded' });
      await until('the messages to be processed', async () =>
        (await pipeline.standing()).unfinished === 0 ? true : null,
      );
      expect((await pipeline.standing()).undelivered).toBeGreaterThanOrEqual(10);
      await kafka.createTopic(msg, PARTITIONS, 'delete');
      await kafka.createTopic(schd, PARTITIONS, 'compact');
      await pipeline.drained();
      // Goes on without a restart; what was told before is missing.
      expect((await compactedView(schd)).size).toBe(10);
      expect((await pipeline.verifyReport()).findings[5]?.answer).toBe('checked');

      const republished = act(url, { all: true, reason: 'topic made anew' });
      await pipeline.mailbox.insertAll(
        FLIGHTS.slice(20, 30).flatMap((flid) => [gate(flid, 'C3'), gate(flid, 'D4')]),
      );
      expect(await republished).toMatchObject({
        status: 200,
        outcome: 'done',
        plan: { flights: 40, deleted: 5 },
      });
      await pipeline.drained();
      const view = await compactedView(schd);
      expect(view.size).toBe(35);
      expect(view).toEqual(await stateOf(pipeline));
      const records = await kafka.read(schd);
      expect(records.filter(({ key, payload }) => key === FLIGHTS[0] && payload === null)).toHaveLength(1);
      const ids = records.map(({ headers }) => headers['ce_id']);
      expect(new Set(ids).size).toBe(records.length);
      const [charged] = await pipeline.rows<{ n: number }>(
        `select count(*)::int as n from msg_event where attempts > 0 or state <> 'SENT'`,
      );
      expect(charged?.n).toBe(0);
      expect(await pipeline.verifyReport()).toMatchObject({ clean: true });
    },
  );

  it(
    'with other partitions: a running service pauses delivery, a start is refused, an operator accepts',
    { timeout: 240_000 },
    async (test) => {
      const pipeline = await preparePipeline(test, { kafka });
      const { msg, schd } = topicsOf(pipeline);
      await writeFile(join(pipeline.directory, 'msgx.yaml'), stringify({ msgx: pipeline.settings }));
      const cwd = pipeline.directory;
      const service = await startMsgx(test, pipeline);
      await pipeline.mailbox.insertAll([schedule(...FLIGHTS.slice(0, 10))]);
      await pipeline.drained();
      expect((await msgx(['check'], { cwd })).stdout).toContain(`topic ${msg}`);

      await kafka.deleteTopics(msg, schd);
      await kafka.createTopic(msg, 5, 'delete');
      await kafka.createTopic(schd, 5, 'compact');
      await pipeline.mailbox.insertAll(FLIGHTS.slice(0, 10).map((flid) => gate(flid, 'B2')));
      const paused = await until(
        'the log to name the numbers',
        () => service.log.find(({ reason }) => String(reason).includes('has 5 partitions and had 3')) ?? null,
      );
      expect(paused).toMatchObject({
        station: 'delivery',
        msg: 'station paused: a dependency is not available',
      });
      expect(String(paused['reason'])).toContain('msgx republish --all --accept-partitions');
      expect(await readyz(await service.serving())).toEqual({ status: 200, delivery: 'degraded' });
      await until('the messages to be processed', async () => {
        const { unfinished, owed, unread } = await pipeline.standing();
        return unfinished + owed + unread === 0 ? true : null;
      });

      const line = new RegExp(
        `topic ${msg.replace('.', '\\.')} +failed +topic .* has 5 partitions and had 3 .*accept 5`,
      );
      const checked = await msgx(['check'], { cwd });
      expect(checked.stdout).toMatch(line);
      expect(checked.code).toBe(1);
      // A second instance is refused, the running one is left alone.
      const refused = await msgx(['run'], { cwd });
      expect(refused.code).toBe(2);
      expect(refused.stderr).toMatch(/^topic \S+ has 5 partitions and had 3 [^\n]*accept 5[^\n]*\n$/);

      const [sent] = await pipeline.rows<{ n: number }>(`select max(attempts)::int as n from msg_event`);
      expect(sent?.n).toBe(0);
      expect(await kafka.read(msg)).toEqual([]);
      expect((await msgx(['republish', '--all'], { cwd })).code).toBe(2);
      const planned = await msgx(['republish', '--all', '--dry-run', '--json'], { cwd });
      expect(JSON.parse(planned.stdout)).toMatchObject({ dryRun: true, flights: 10, deleted: 0 });
      const accepted = await msgx(
        ['republish', '--all', '--accept-partitions', '--reason', 'five brokers now'],
        { cwd },
      );
      expect(accepted, accepted.stderr).toMatchObject({ code: 0 });
      expect(accepted.stdout).toContain(`topic ${msg}: 5 partitions accepted, 3 before`);
      await pipeline.drained();
      expect(await compactedView(schd)).toEqual(await stateOf(pipeline));
      expect((await kafka.read(msg)).length).toBe(10);
      const audit = await msgx(['audit', '--json'], { cwd });
      const { entries } = JSON.parse(audit.stdout) as { entries: { action: string; target: string }[] };
      expect(entries.map(({ action, target }) => `${action} ${target}`).sort()).toEqual([
        `accept-partitions topic:${msg}`,
        `accept-partitions topic:${schd}`,
        'republish all',
      ]);
      expect((await msgx(['check'], { cwd })).stdout).not.toContain('failed');
      expect(await pipeline.verifyReport()).toMatchObject({ clean: true });
      const verified = await msgx(['verify'], { cwd });
      expect(verified, verified.stdout).toMatchObject({ code: 0 });
      expect(verified.stdout).not.toContain('not checkable');
    },
  );
});
