/** Actions on messages that the pump has read already, and several actions at once. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replay } from '../../src/actions/replay.ts';
import { skip } from '../../src/actions/skip.ts';
import { MAX_ID } from '../../src/domain/ids.ts';
import { selectAudit } from '../../src/store/op-audit.ts';
import { gate, schedule, xml } from '../kit/messages.ts';
import { createPipeline, TIME_ZONE, type TestPipeline } from '../kit/pipeline.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { interceptTransactions } from '../kit/transactions.ts';

describe.skipIf(postgresMissing !== null)('actions while the pump is at work', () => {
  let pipeline: TestPipeline;
  let restore: () => void = () => undefined;
  const pipelineOf = async (commitBatch: number) => {
    pipeline = await createPipeline({ commitBatch });
  };
  afterEach(async () => {
    restore();
    restore = () => undefined;
    await pipeline.close();
  });

  const operator = () => ({ who: 'cli:lin', reason: 'agreed', now: pipeline.clock.now() });
  const skipOne = (msgId: bigint) => skip(pipeline.db.database, { msgId, dryRun: false }, operator());
  const replayOne = (msgId: bigint) =>
    replay(
      {
        ...{ database: pipeline.db.database, dialect: pipeline.dialect, timeZone: TIME_ZONE },
        ...{ operationDayCutoff: '00:00', includeDayBoundary: true, clockSkewMs: 30_000 },
      },
      { scope: { kind: 'ids', msgIds: [msgId] }, dryRun: false },
      operator(),
    );

  /** Does something when the identities of the batch of this number are bound, before it is decided; once. */
  const whileDeciding = (number: number, act: () => Promise<unknown>) => {
    let left = number;
    restore = interceptTransactions(
      pipeline.db.database,
      (tx) => tx,
      (query) =>
        async (...args) => {
          const rows = await query(...args);
          if (args[0].name === 'identity.bind' && (left -= 1) === 0) await act();
          return rows as never;
        },
    );
  };
  /** Does something before a statement of this name is sent; once. */
  const beforeStatement = (name: string, act: () => Promise<unknown>) => {
    let done = false;
    restore = interceptTransactions(pipeline.db.database, (tx) => ({
      ...tx,
      query: async (statement, values) => {
        if (statement.name === name && !done) {
          done = true;
          await act();
        }
        return tx.query(statement, values);
      },
    }));
  };

  /** `ID STATE` with what is told of it, by ID; attempts where there are any. */
  const standing = async () =>
    (
      await pipeline.query<{ line: string }>(
        `select concat_ws(' ', msg_id, state, reason, case when attempts > 0 then attempts || ' attempts' end) as line
         from proc_state order by msg_id`,
      )
    ).map(({ line }) => line);
  const ended = async () =>
    (
      await pipeline.query<{ id: number }>(
        'select msg_id::integer as id from proc_state where terminal_seq is not null order by terminal_seq',
      )
    ).map(({ id }) => id);
  const applied = async () =>
    (
      await pipeline.query<{ id: number }>(
        'select msg_id::integer as id from flight_message order by msg_id, flid',
      )
    ).map(({ id }) => id);
  const actions = async () =>
    (await selectAudit(pipeline.db.database, MAX_ID, 50)).map(({ action }) => action);
  const exhaust = async (id: number) => {
    await pipeline.query(
      `update proc_state set state = 'DEAD', error_class = 'EXHAUSTED', last_error = 'disk full', attempts = 5,
         terminal_at = $2, terminal_seq = nextval('terminal_seq'), backfill_next_at = $2
       where msg_id = $1`,
      [id, new Date(pipeline.clock.now()).toISOString()],
    );
  };
  /** A schedule, then a gate in each message: ID 2 says A2, ID 3 says A3 … */
  const sendGates = async (last: number) => {
    const gates = Array.from({ length: last - 1 }, (_, index) => gate('810001', `A${String(index + 2)}`));
    await pipeline.send(schedule('810001'), ...gates);
    await pipeline.round(['inbox']);
  };
  const gateNow = async () =>
    (await pipeline.query<{ gate: string }>(`select state #>> '{gates,0,code}' as gate from flight_schd`))[0]
      ?.gate;

  // The second batch of the pump is about to be decided: its own message, those that are being read, and later ones.
  it.each([
    [1, 2],
    [1, 3],
    [1, 4],
    [1, 7],
    [2, 3],
    [2, 5],
    [2, 6],
    [2, 7],
  ])('in batches of %s, message %s on the line does nothing once it is skipped', async (commitBatch, id) => {
    await pipelineOf(commitBatch);
    await sendGates(8);
    const outcomes: string[] = [];
    whileDeciding(2, async () => outcomes.push((await skipOne(BigInt(id))).outcome));
    await pipeline.drain();
    expect(outcomes).toEqual(['done']);
    const all = [1, 2, 3, 4, 5, 6, 7, 8];
    const others = all.filter((other) => other !== id);
    expect(await standing()).toEqual(
      all.map((each) => `${String(each)} ${each === id ? 'SKIPPED operator:agreed' : 'SUCCEEDED'}`),
    );
    // Each of the others once, in order; no trace of the skipped one in flights or events.
    expect(await applied()).toEqual(others);
    expect((await ended()).filter((each) => each !== id)).toEqual(others);
    const versions = await pipeline.query<{ v: number }>(
      `select state_version as v from msg_event where target = 'KAFKA:msg' order by event_id`,
    );
    expect(versions.map(({ v }) => v)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(await gateNow()).toBe('A8');
    expect(await actions()).toEqual(['skip']);
    expect((await pipeline.verify()).clean).toBe(true);
  });

  it('what is skipped as its failure is being recorded stays skipped, and charged with nothing', async () => {
    await pipelineOf(1);
    await pipeline.send(xml('SCHS', 'DNLD', ''), schedule('810001'));
    await pipeline.round(['inbox']);
    beforeStatement('procState.fail', () => skipOne(1n));
    await pipeline.drain();
    expect(await standing()).toEqual(['1 SKIPPED operator:agreed', '2 SUCCEEDED']);
    expect((await pipeline.verify()).clean).toBe(true);
  });

  it('an older message that is replayed has its turn within half a second, and loses to newer ones', async () => {
    await pipelineOf(1);
    await sendGates(12);
    await exhaust(2);
    whileDeciding(4, async () => {
      // The line was read without it; what is on it already goes on for so long.
      expect(await replayOne(2n)).toMatchObject({ outcome: 'done' });
      pipeline.clock.advance(500);
    });
    await pipeline.drain();
    const order = await ended();
    expect(order.filter((id) => id !== 2)).toEqual([1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    // The fourth batch is message 5: with those before it, it is the last that may go out.
    expect(order.indexOf(2)).toBeGreaterThanOrEqual(3);
    expect(order.indexOf(2)).toBeLessThanOrEqual(4);
    expect((await standing())[1]).toBe('2 SUCCEEDED superseded:gates');
    expect(await applied()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(await gateNow()).toBe('A12');
    expect((await pipeline.verify()).clean).toBe(true);
  });

  describe('several at once', () => {
    /** A head that failed once for something that is gone, so that it may be skipped, replayed, and tried again. */
    beforeEach(async () => {
      await pipelineOf(1);
      await sendGates(2);
      await pipeline.query(
        `update proc_state set state = 'FAILED', attempts = 1, error_class = 'INFRA', last_error = 'disk full'
         where msg_id = 1`,
      );
    });

    it('a skip between precheck and change of a replay wins, and the replay says so', async () => {
      beforeStatement('replay.reenqueue', () => skipOne(1n));
      expect(await replayOne(1n)).toMatchObject({
        messages: [{ msgId: '1', refused: 'message 1 has changed meanwhile: look again' }],
      });
      expect(await actions()).toEqual(['skip']);
      expect((await standing())[0]).toBe('1 SKIPPED operator:agreed 1 attempts');
    });

    it('a replay between precheck and change of a skip wins, and the skip says so', async () => {
      beforeStatement('messageActions.skip', () => replayOne(1n));
      expect(await skipOne(1n)).toMatchObject({ outcome: 'refused' });
      expect(await actions()).toEqual(['replay']);
      await pipeline.drain();
      expect(await standing()).toEqual(['1 SUCCEEDED', '2 SUCCEEDED']);
      expect(await applied()).toEqual([1, 2]);
      expect((await pipeline.verify()).clean).toBe(true);
    });

    it('a message that the pump ends between precheck and change of a replay is not done again', async () => {
      beforeStatement('replay.reenqueue', () => pipeline.round(['pump']));
      expect(await replayOne(1n)).toMatchObject({
        messages: [{ msgId: '1', refused: 'message 1 has changed meanwhile: look again' }],
      });
      await pipeline.drain();
      expect(await standing()).toEqual(['1 SUCCEEDED 1 attempts', '2 SUCCEEDED']);
      expect(await applied()).toEqual([1, 2]);
      expect(await actions()).toEqual([]);
      expect((await pipeline.verify()).clean).toBe(true);
    });

    it('a head that is replayed while the pump ends it ends once, with a charge for nothing', async () => {
      whileDeciding(1, () => replayOne(1n));
      await pipeline.drain();
      expect(await standing()).toEqual(['1 SUCCEEDED', '2 SUCCEEDED']);
      expect(await applied()).toEqual([1, 2]);
      expect(await ended()).toEqual([1, 2]);
      expect(await actions()).toEqual(['replay']);
      expect((await pipeline.verify()).clean).toBe(true);
    });
  });
});
