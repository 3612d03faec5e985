import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Mailbox } from '../../src/mailbox/port.ts';
import { Outage } from '../../src/runtime/outage.ts';
import type { VerifyReport } from '../../src/upkeep/verify/index.ts';
import { withMethods } from '../inbox/kit.ts';
import {
  createPipeline,
  freeze,
  sendExampleDay,
  type FrozenPipeline,
  type TestPipeline,
} from '../kit/pipeline.ts';
import { deletion, gate, schedule } from '../kit/messages.ts';
import { postgresMissing } from '../kit/postgres.ts';

/** Invariants by their answer. */
function answers(report: VerifyReport): { broken: number[]; notCheckable: number[] } {
  const of = (answer: string) => report.findings.filter((f) => f.answer === answer).map((f) => f.invariant);
  return { broken: of('broken'), notCheckable: of('not-checkable') };
}

function notes(report: VerifyReport, invariant: number): string {
  return report.findings.find((finding) => finding.invariant === invariant)?.notes.join('\n') ?? '';
}

function counted(report: VerifyReport, invariant: number): Readonly<Record<string, number>> {
  return report.findings.find((finding) => finding.invariant === invariant)?.counted ?? {};
}

describe.skipIf(postgresMissing !== null)('verify', () => {
  let healthy: FrozenPipeline;
  let pipeline: TestPipeline;

  beforeAll(async () => {
    const built = await createPipeline();
    await sendExampleDay(built);
    await built.send(schedule('840001'));
    await built.drain();
    await built.send(deletion('840001'));
    await built.drain();
    healthy = await freeze(built);
  });
  afterAll(() => healthy.drop());
  beforeEach(async () => {
    pipeline = await healthy.thaw();
  });
  afterEach(() => pipeline.close());

  const query: TestPipeline['query'] = (sql, values) => pipeline.query(sql, values);
  const journal = (stream: 'msg' | 'schd') => join(pipeline.directory, `${stream}.jsonl`);
  const lines = async (stream: 'msg' | 'schd') =>
    (await readFile(journal(stream), 'utf8')).split('\n').slice(0, -1);
  const writeLines = (stream: 'msg' | 'schd', kept: readonly string[]) =>
    writeFile(journal(stream), kept.map((line) => `${line}\n`).join(''));

  async function expectBroken(invariant: number, note: RegExp): Promise<void> {
    const report = await pipeline.verify();
    expect(answers(report), JSON.stringify(report, null, 1)).toEqual({
      broken: [invariant],
      notCheckable: [],
    });
    expect(report.clean).toBe(false);
    expect(notes(report, invariant)).toMatch(note);
  }

  it('is clean on a healthy pipeline, with nothing not checkable', async () => {
    const report = await pipeline.verify();
    expect(answers(report), JSON.stringify(report, null, 1)).toEqual({ broken: [], notCheckable: [] });
    expect(report.clean).toBe(true);
    expect(report.findings.map(({ invariant }) => invariant)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(counted(report, 1)).toEqual({ messages: 39, unfinished: 0 });
    expect(counted(report, 4)).toEqual({ owed: 0 });
    expect(counted(report, 6)).toMatchObject({ pendingEvents: 0, deadEvents: 0, beforeJournal: 0 });
    expect(counted(report, 6)['sentEvents']).toBeGreaterThan(15);
    expect(counted(report, 7)).toMatchObject({ notCheckable: 0 });
    expect(counted(report, 7)['flights']).toBeGreaterThan(3);
    expect(counted(report, 8)).toEqual({ rows: 39, marked: 39 });
  });

  it('stays clean while work is pending or owed, and counts it', async () => {
    await pipeline.send(schedule('810001', '810002'), gate('810001', 'A1'));
    await pipeline.round(['inbox']);
    let report = await pipeline.verify();
    expect(answers(report)).toEqual({ broken: [], notCheckable: [] });
    expect(counted(report, 1)).toEqual({ messages: 41, unfinished: 2 });
    await pipeline.round(['pump']);
    report = await pipeline.verify();
    expect(answers(report)).toEqual({ broken: [], notCheckable: [] });
    expect(counted(report, 4)).toEqual({ owed: 2 });
    expect(counted(report, 6)).toMatchObject({ pendingEvents: 5 });
    await pipeline.drain();
    expect(answers(await pipeline.verify())).toEqual({ broken: [], notCheckable: [] });
  });

  it('stays clean while the pipeline runs', async () => {
    const reports: VerifyReport[] = [];
    const stop = new AbortController();
    const auditing = (async () => {
      while (!stop.signal.aborted) reports.push(await pipeline.verify());
    })();
    for (let turn = 0; turn < 40; turn++) {
      const flid = `82000${turn % 10}`;
      await pipeline.send(
        schedule(flid),
        gate(flid, `G${turn}`),
        ...(turn % 7 === 3 ? [deletion(flid)] : []),
      );
      await pipeline.round();
      pipeline.clock.advance(1_000);
    }
    stop.abort();
    await auditing;
    expect(reports.length).toBeGreaterThan(2);
    for (const report of reports) {
      expect(answers(report), JSON.stringify(report, null, 1)).toEqual({ broken: [], notCheckable: [] });
    }
  });

  it('reads archived messages and flights', async () => {
    await query(`insert into proc_state_hst select *, now() from proc_state where msg_id <= 20`);
    await query(`delete from proc_state where msg_id <= 20`);
    await query(
      `insert into flight_schd_hst select flid, version, operation_day, deleted, state, stamps, last_msg_id, updated_at, now()
       from flight_schd where deleted`,
    );
    await query(`delete from flight_schd where deleted`);
    const report = await pipeline.verify();
    expect(answers(report), JSON.stringify(report, null, 1)).toEqual({ broken: [], notCheckable: [] });
    expect(counted(report, 1)).toEqual({ messages: 39, unfinished: 0 });
    expect(counted(report, 8)).toEqual({ rows: 39, marked: 39 });
    await query(`update flight_schd_hst set stamps = jsonb_set(stamps, '{deleted}', '"1"')`);
    await query(`update proc_state_hst set backfill_at = null, backfill_next_at = null where msg_id = 3`);
    expect(answers(await pipeline.verify()).broken).toEqual([4, 7]);
  });

  describe('1: coverage', () => {
    it('a message that has vanished', async () => {
      // 5 is an ignored message: no flight, no event depends on it.
      await query('delete from proc_state where msg_id = 5');
      await query('delete from message_identity where msg_id = 5');
      await expectBroken(1, /^ID 5 is neither/);
    });
    it('a watermark moved over IDs that were never read', async () => {
      await query('update inbox_cursor set watermark = 47');
      await expectBroken(1, /^IDs 41–47 are neither/);
    });
    it('a hole that was not released', async () => {
      await query('update inbox_hole set released_at = null');
      await expectBroken(1, /^ID 7 is neither/);
    });
  });

  describe('2: identities', () => {
    it('an identity whose owner is somebody else', async () => {
      await query('update message_identity set msg_id = 999 where msg_id = 5');
      await expectBroken(2, /message 5 has identity .* which message 999 owns/);
    });
    it('an identity that nobody owns', async () => {
      await query('delete from message_identity where msg_id = 5');
      await expectBroken(2, /message 5 has identity .* which nobody owns/);
    });
    it('a duplicate that names no original', async () => {
      const [row] = await query<{ id: string }>(
        `select msg_id as id from proc_state where reason like 'duplicate-of:%' limit 1`,
      );
      await query(`update proc_state set reason = 'duplicate-of:36' where msg_id = $1`, [row?.id]);
      await expectBroken(2, /is duplicate-of:36, which does not own/);
    });
  });

  describe('3: order', () => {
    it('two messages that ended the wrong way round', async () => {
      await query(
        `update proc_state set terminal_seq = case msg_id when 2 then 3 else 2 end where msg_id in (2, 3)`,
      );
      await expectBroken(3, /message 2 ended after message 3/);
    });
    it('late, replayed and operator-skipped ones are excused', async () => {
      await query(`update proc_state set terminal_seq = 1000, late = true where msg_id = 5`);
      expect(answers(await pipeline.verify()).broken).toEqual([]);
      await query(`update proc_state set late = false where msg_id = 5`);
      await expectBroken(3, /message \d+ ended after|message 5/);
    });
  });

  describe('4: backfill facts', () => {
    it('a terminal message without one', async () => {
      // 5's mark is taken away too: it is nobody's fault any more, but nothing owes it.
      await query(`update proc_state set backfill_at = null, backfill_next_at = null where msg_id = 5`);
      await expectBroken(4, /message 5 ended SKIPPED without/);
    });
    it('an unfinished message with one', async () => {
      await pipeline.send(gate('700001', 'Z9'));
      await pipeline.round(['inbox']);
      await query(`update proc_state set backfill_next_at = now() where state = 'PENDING'`);
      await expectBroken(4, /message 41 has a backfill fact but never ended/);
      await query(`update proc_state set replayed = true where state = 'PENDING'`);
      await query(
        `insert into op_audit (at, who, action, target, reason) values (now(), 'ann', 'replay', 'message:41', 'x')`,
      );
      expect(answers(await pipeline.verify()).broken).toEqual([]);
    });
    it('shadow rows owe nothing', async () => {
      await query(
        `update proc_state set backfill_at = null, backfill_next_at = null, shadow = true where msg_id = 5`,
      );
      expect(answers(await pipeline.verify()).broken).toEqual([]);
    });
  });

  describe('5: versions', () => {
    const events = `(select event_id from msg_event where target = 'KAFKA:msg' and partition_key = '700001' and state_version = 3)`;
    it('a gap in the middle', async () => {
      await query(`delete from msg_event where event_id = ${events}`);
      await expectBroken(5, /flight 700001: event \d+ has version 4 after 2/);
    });
    it('a version told twice', async () => {
      await query(`update msg_event set state_version = 2 where event_id = ${events}`);
      await expectBroken(5, /flight 700001: event \d+ has version 2 after 2/);
    });
    it('a flight beyond its last event', async () => {
      await query(
        `delete from msg_event where event_id = (select max(event_id) from msg_event where target = 'KAFKA:msg' and partition_key = '700001')`,
      );
      await expectBroken(5, /flight 700001: its last event has version \d+, the flight \d+/);
    });
    it('cleaned events are no gap, not even around an old dead one', async () => {
      await query(`update msg_event set state = 'DEAD', sent_at = null where event_id = ${events}`);
      await query(
        `update msg_event set sent_at = sent_at + interval '1 hour' where state = 'SENT' and state_version > 4`,
      );
      await query(
        `delete from msg_event where target = 'KAFKA:msg' and state = 'SENT' and state_version <= 4`,
      );
      const report = await pipeline.verify();
      expect(answers(report), JSON.stringify(report, null, 1)).toEqual({ broken: [], notCheckable: [] });
      expect(counted(report, 5)).toMatchObject({ dead: 1 });
    });
    it('a gap behind a dead event that is too young for cleaning', async () => {
      await query(
        `update msg_event set state = 'DEAD', sent_at = null, created_at = now() where event_id = ${events}`,
      );
      await query(
        `delete from msg_event where target = 'KAFKA:msg' and partition_key = '700001' and state_version = 4`,
      );
      await expectBroken(5, /flight 700001: event \d+ has version 5 after 3/);
    });
  });

  describe('6: delivery', () => {
    it('a SENT event that is not in the journal', async () => {
      const all = await lines('msg');
      await writeLines('msg', [...all.slice(0, 6), ...all.slice(7)]);
      await expectBroken(6, /event \d+ of flight \d+, version \d+, is SENT but not in the journal/);
    });
    it('first deliveries out of order', async () => {
      const all = await lines('msg');
      const [first, second] = all
        .map((line, at) => ({ line, at }))
        .filter(({ line }) => line.includes('"key":"700001"'));
      if (first === undefined || second === undefined) throw new Error('two events expected');
      const swapped = all.with(first.at, second.line).with(second.at, first.line);
      await writeLines('msg', swapped);
      await expectBroken(6, /flight 700001: version 1 first delivered after 2/);
    });
    it('an event repeated later is in order', async () => {
      const all = await lines('msg');
      await writeLines('msg', [...all, all[0] ?? '']);
      expect(answers(await pipeline.verify()).broken).toEqual([]);
    });
    it('a last state that is not the current one', async () => {
      const all = await lines('schd');
      const at = all.findLastIndex((line) => line.includes('"key":"700001"'));
      await writeLines('schd', [...all, (all[at] ?? '').replace(/"stateVersion":\d+/, '"stateVersion":1')]);
      await expectBroken(6, /flight 700001: the last state told is not version/);
    });
    it('a deletion that was not told', async () => {
      const all = await lines('schd');
      const kept = all.filter((line) => !(line.includes('"key":"840001"') && line.endsWith('"value":null}')));
      expect(kept.length).toBeLessThan(all.length);
      await writeLines('schd', kept);
      await expectBroken(6, /flight 840001: the last state told/);
    });
    it('a torn last line is no record, what a rotation took away is out of sight', async () => {
      await writeFile(journal('msg'), `${(await lines('msg')).join('\n')}\n{"topic":"fl`);
      expect(answers(await pipeline.verify())).toEqual({ broken: [], notCheckable: [] });
      await rename(journal('msg'), `${journal('msg')}.1`);
      await rename(journal('schd'), `${journal('schd')}.1`);
      pipeline.clock.advance(5_000);
      await pipeline.send(gate('700001', 'R1'), schedule('830001'));
      await pipeline.drain();
      const report = await pipeline.verify();
      expect(answers(report), JSON.stringify(report, null, 1)).toEqual({ broken: [], notCheckable: [] });
      expect(counted(report, 6)['beforeJournal']).toBeGreaterThan(15);
      await writeLines('msg', (await lines('msg')).slice(0, 1));
      await expectBroken(6, /is SENT but not in the journal/);
    });
    it('a missing or empty journal is not checkable', async () => {
      await writeLines('msg', []);
      let report = await pipeline.verify();
      expect(answers(report)).toEqual({ broken: [], notCheckable: [6] });
      expect(notes(report, 6)).toMatch(/is empty/);
      await rm(journal('msg'));
      report = await pipeline.verify();
      expect(answers(report)).toEqual({ broken: [], notCheckable: [6] });
      expect(notes(report, 6)).toMatch(/there is no journal in/);
    });
  });

  describe('7: state', () => {
    it('stamps that no message set', async () => {
      await query(
        `update flight_schd set stamps = jsonb_set(stamps, '{fields,gates}', '"1"') where flid = '700001'`,
      );
      await expectBroken(7, /flight 700001: stamps differ/);
    });
    it('a value that no message gave, told as it stands', async () => {
      await query(
        `update flight_schd set state = jsonb_set(state, '{remark}', '"forged"') where flid = '700001'`,
      );
      const all = await lines('schd');
      const at = all.findLastIndex((line) => line.includes('"key":"700001"'));
      await writeLines(
        'schd',
        all.map((line, index) =>
          index === at ? line.replace(/"remark":(null|"[^"]*")/, '"remark":"forged"') : line,
        ),
      );
      await expectBroken(7, /flight 700001: differs from its messages in remark/);
    });
    it('a message that is recorded and was not applied', async () => {
      await query(`insert into flight_message values ('700002', 2, null, '{}', '{}') on conflict do nothing`);
      await query(
        `insert into flight_message select '700003', 20, null, '{}', '{}' where exists (select from proc_state where msg_id = 20)
         on conflict do nothing`,
      );
      // Neither message names the flight: nothing to apply, nothing broken.
      expect(answers(await pipeline.verify()).broken).toEqual([]);
      await query(`delete from flight_message where flid = '700001' and msg_id = 2`);
      await expectBroken(7, /flight 700001/);
    });
    it('a flight that was lost', async () => {
      await query(`delete from msg_event where partition_key = '700003'`);
      await query(`delete from flight_schd where flid = '700003'`);
      await expectBroken(7, /flight 700003: has messages and is not stored/);
    });
    it('a text no longer kept, or another profile, is not checkable', async () => {
      await query('delete from raw_message where msg_id = 2');
      let report = await pipeline.verify();
      expect(answers(report)).toEqual({ broken: [], notCheckable: [7] });
      expect(counted(report, 7)['notCheckable']).toBe(1);
      await query(`update proc_state set profile_hash = 'another' where msg_id = 1`);
      report = await pipeline.verify();
      expect(answers(report)).toEqual({ broken: [], notCheckable: [7] });
      expect(counted(report, 7)['notCheckable']).toBe(3);
      expect(notes(report, 7)).toMatch(/^3 flights/);
    });
  });

  describe('8: marks', () => {
    it('a mark on a message that never ended', async () => {
      await pipeline.send(gate('700001', 'Z9'));
      await pipeline.round(['inbox']);
      await query('update cminmsgs set cminmsgs_date_processed = now() where cminmsgs_id = 41');
      await expectBroken(8, /message 41 is marked but has not ended/);
      await query('update proc_state set marked_at_intake = true where msg_id = 41');
      expect(answers(await pipeline.verify()).broken).toEqual([]);
    });
    it('a confirmed mark that is gone, archived or not', async () => {
      await query('update cminmsgs set cminmsgs_date_processed = null where cminmsgs_id = 2');
      await expectBroken(8, /the confirmed mark of message 2 is gone/);
      await query(`insert into proc_state_hst select *, now() from proc_state where msg_id = 2`);
      await query(`delete from proc_state where msg_id = 2`);
      await expectBroken(8, /the confirmed mark of message 2 is gone/);
    });
    it('a row that its owner has deleted is no fault', async () => {
      await query('delete from cminmsgs where cminmsgs_id < 30');
      const report = await pipeline.verify();
      expect(answers(report)).toEqual({ broken: [], notCheckable: [] });
      expect(counted(report, 8)).toEqual({ rows: 11, marked: 11 });
    });
    it('a mailbox that is away or unreadable is not checkable', async () => {
      const away = (error: Error): Mailbox =>
        withMethods(pipeline.mailbox, { rowsAfter: () => Promise.reject(error) });
      let report = await pipeline.verify({ mailbox: away(new Outage('mailbox', new Error('gone'))) });
      expect(answers(report)).toEqual({ broken: [], notCheckable: [8] });
      expect(notes(report, 8)).toMatch(/mailbox is not available: gone/);
      report = await pipeline.verify({ mailbox: away(new Error('permission denied')) });
      expect(answers(report)).toEqual({ broken: [], notCheckable: [8] });
    });
  });

  describe('9: audit', () => {
    const audited = (action: string, target: string) =>
      query(`insert into op_audit (at, who, action, target, reason) values (now(), 'ann', $1, $2, 'why')`, [
        action,
        target,
      ]);

    it.each([
      [
        'a skip',
        `update proc_state set state = 'SKIPPED', error_class = null, last_error = null, reason = 'operator:known' where msg_id = 6`,
        ['skip', 'message:6'],
        /skip of message 6/,
      ],
      [
        'a replay',
        `update proc_state set replayed = true where msg_id = 6`,
        ['replay', 'message:6'],
        /replay of message 6/,
      ],
      [
        'a confirmation',
        `update proc_state set backfill_confirmed_at = now(), backfill_confirmed_by = 'ann' where msg_id = 6`,
        ['confirm', 'message:6'],
        /confirmation of mark 6/,
      ],
      [
        'a pause',
        `insert into station_pause values ('pump', 'ann', 'why', now())`,
        ['pause', 'station:pump'],
        /pause of station pump/,
      ],
      [
        'a request',
        `insert into req_track (rtype, sender, requested_at, requested_by)
         values ('ARPT', 'MSGX', now(), 'cli:ann'), ('AIRL', 'MSGX', now(), 'msgx:on-start')`,
        ['request', 'request:1'],
        /^request 1 has no audit row$/m,
      ],
    ] as const)('%s without an audit row', async (_name, sql, [action, target], note) => {
      await query(sql);
      await expectBroken(9, note);
      await audited(action, target);
      expect(answers(await pipeline.verify()).broken).toEqual([]);
    });

    it('a dropped event without an audit row', async () => {
      const [event] = await query<{ id: string }>(
        `update msg_event set state = 'DROPPED' where event_id = (select min(event_id) from msg_event where target = 'KAFKA:msg')
         returning event_id as id`,
      );
      await expectBroken(9, new RegExp(`drop of event ${event?.id ?? ''} has no audit row`));
      await audited('drop', `event:${event?.id ?? ''}`);
      expect(answers(await pipeline.verify()).broken).toEqual([]);
    });
  });

  it('a corrupt state is an answer, not a crash', async () => {
    await query(`update flight_schd set state = '{}' where flid = '700001'`);
    expect(answers(await pipeline.verify()).broken).toEqual([6, 7]);
  });

  it('an inbox that was never seeded is not checkable', async () => {
    const fresh = await createPipeline();
    try {
      const report = await fresh.verify();
      expect(answers(report)).toEqual({ broken: [], notCheckable: [1] });
      expect(report.clean).toBe(true);
    } finally {
      await fresh.close();
    }
  });
});
