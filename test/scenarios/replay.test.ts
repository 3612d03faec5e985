import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ReplayOutcome } from '../../src/actions/replay.ts';
import { gate, schedule, xml } from '../kit/messages.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { startPipeline } from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';
import { expectClean, expectTold } from './checks.ts';

/** Messages of each kind that die: for a fault that goes away, and for good. */
const EACH = 500;
const FLIGHTS = Array.from({ length: 50 }, (_, index) => String(810_001 + index));
/** Flights whose gate newer messages have set before the replay. */
const OVERTAKEN = FLIGHTS.slice(0, 25);
/** Flights that live traffic is about, those overtaken among them; nothing newer is known of the others. */
const LIVE = FLIGHTS.slice(0, 40);
/** ms between two live messages. */
const LIVE_EVERY = 10;

describe.skipIf(postgresMissing !== null)('replay under traffic', () => {
  it('puts back what passes, leaves the rest, overwrites nothing newer, and does nothing twice', async (test) => {
    const once = { 'max-attempts': 1, backoff: [], 'capability-backoff': [] };
    const pipeline = await startPipeline(test, { settings: { pipeline: { retry: once } } });
    const { mailbox, client, running } = pipeline;
    /** The newest message of each flight says what its gate is. */
    const newest = new Map<string, string>();
    const send = async (...gates: readonly (readonly [flid: string, code: string])[]) => {
      for (const [flid, code] of gates) newest.set(flid, code);
      return mailbox.insertAll(gates.map(([flid, code]) => gate(flid, code)));
    };
    const ask = async (request: object): Promise<ReplayOutcome & { readonly status: number }> => {
      const answer = await fetch(`${running.url}/api/v1/actions/replay`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ class: 'EXHAUSTED', reason: 'index repaired', ...request }),
      });
      return { status: answer.status, ...((await answer.json()) as ReplayOutcome) };
    };
    const dead = () =>
      pipeline.rows<{ id: string; seq: string }>(
        `select msg_id::text as id, terminal_seq::text as seq from proc_state
         where state = 'DEAD' and error_class = 'EXHAUSTED' and not replayed order by msg_id`,
      );
    const audits = () =>
      pipeline.rows<{ target: string; who: string; reason: string; before: object; after: object }>(
        `select target, who, reason, before, after from op_audit where action = 'replay' order by audit_id`,
      );

    // A thousand die, half of them for a fault of the database.
    await mailbox.insertAll([schedule(...FLIGHTS)]);
    await pipeline.drained();
    await client.query(`create function refuse() returns trigger language plpgsql as $$
      begin raise exception 'index is damaged'; end $$`);
    await client.query(
      'create trigger refuse before insert on flight_message for each row execute function refuse()',
    );
    const texts = Array.from({ length: EACH }, (_, index) => [
      gate(FLIGHTS[index % FLIGHTS.length] ?? '', `D${String(index)}`),
      xml('SCHS', 'DNLD', ''),
    ]).flat();
    const ids = await mailbox.insertAll(texts);
    for (const [index, flid] of Array.from(
      { length: EACH },
      (_, at) => FLIGHTS[at % FLIGHTS.length],
    ).entries())
      newest.set(flid ?? '', `D${String(index)}`);
    await pipeline.drained();
    await client.query('drop function refuse() cascade');
    const passing = ids.filter((_, index) => index % 2 === 0).map(String);
    const hopeless = ids.filter((_, index) => index % 2 === 1).map(String);
    const before = await dead();
    expect(before.map(({ id }) => id)).toEqual(ids.map(String));
    await send(...OVERTAKEN.map((flid) => [flid, `N${flid.slice(-2)}`] as const));
    await pipeline.drained();

    // Traffic until the replay has been processed.
    const live: string[] = [];
    const stop = new AbortController();
    const traffic = (async () => {
      for (let turn = 0; !stop.signal.aborted; turn++) {
        const sent = await send([LIVE[turn % LIVE.length] ?? '', `L${String(turn)}`]);
        live.push(...sent.map(String));
        await sleep(LIVE_EVERY);
      }
    })();
    try {
      const planned = await ask({ dryRun: true });
      expect(planned).toMatchObject({ status: 200, outcome: 'planned' });
      expect(planned.message).toMatch(/^would replay 500 of 1000 messages; /);
      expect(await dead()).toEqual(before);
      expect(await audits()).toEqual([]);

      const sentBefore = live.length;
      const done = await ask({});
      expect(live.length).toBeGreaterThan(sentBefore);
      expect(done).toMatchObject({ status: 200, outcome: 'done' });
      const refused = done.messages.filter((each) => each.refused !== null);
      expect(refused.map(({ msgId }) => msgId)).toEqual(hopeless);
      expect(refused[0]?.refused).toBe(`message ${hopeless[0] ?? ''} would not pass: unsupported:SCHS/DNLD`);
      await until('the replayed messages to end', async () => {
        const [left] = await pipeline.rows<{ n: number }>(
          `select count(*)::int as n from proc_state where replayed and terminal_at is null`,
        );
        return left?.n === 0 ? true : null;
      });
    } finally {
      stop.abort();
      await traffic;
    }
    await pipeline.drained();

    // Those that cannot pass were never in the line again: they have ended once, when they did.
    expect(await dead()).toEqual(before.filter(({ id }) => hopeless.includes(id)));
    const states = new Map(
      (
        await pipeline.rows<{ id: string; told: string; flid: string }>(
          `select msg_id::text as id, concat_ws(' ', state, reason) as told,
             coalesce((select min(flid) from flight_message m where m.msg_id = p.msg_id), '') as flid
           from proc_state p`,
        )
      ).map(({ id, told, flid }) => [id, { told, flid }]),
    );
    for (const id of live) expect(states.get(id)?.told, `live message ${id}`).toBe('SUCCEEDED');
    for (const id of passing) {
      const { told = '', flid = '' } = states.get(id) ?? {};
      if (OVERTAKEN.includes(flid)) expect(told).toBe('SUCCEEDED superseded:gates');
      else if (!LIVE.includes(flid)) expect(told).toBe('SUCCEEDED');
      // Whichever of the two came first.
      else expect(['SUCCEEDED', 'SUCCEEDED superseded:gates']).toContain(told);
    }
    const flights = await pipeline.rows<{ flid: string; gate: string }>(
      `select flid, state #>> '{gates,0,code}' as gate from flight_schd order by flid`,
    );
    expect(flights).toEqual(FLIGHTS.map((flid) => ({ flid, gate: newest.get(flid) })));

    const audited = await audits();
    expect(audited.map(({ target }) => target)).toEqual(passing.map((id) => `message:${id}`));
    expect(audited[0]).toMatchObject({
      ...{ who: 'http:operator', reason: 'index repaired' },
      before: { state: 'DEAD', errorClass: 'EXHAUSTED', lastError: 'index is damaged', attempts: 1 },
      after: { state: 'PENDING', expected: 'SUCCEEDED superseded:gates', superseded: ['810001 gates'] },
    });
    await expectClean(pipeline);
    await expectTold(pipeline);

    const digest = await pipeline.digest();
    expect(await ask({})).toMatchObject({ status: 409, outcome: 'refused' });
    await pipeline.drained();
    expect(await pipeline.digest()).toEqual(digest);
    expect(await audits()).toHaveLength(EACH);
  }, 90_000);
});
