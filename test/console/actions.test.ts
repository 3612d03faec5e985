/**
 * Every action of an operator in the console of a running pipeline, once by mouse and once by keyboard alone: what the
 * trial says before anything is done, what is told at the end, and the entry in the audit.
 */
import { readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { gate, schedule, xml } from '../kit/messages.ts';
import { describeLive, settles } from './live-pages.ts';
import { operate, tabTo } from './operating.ts';

const WHO = 'http:operator';

describeLive('actions in the console', {}, (on) => {
  /** Sends texts and gives their IDs. */
  const send = async (...texts: readonly string[]): Promise<readonly string[]> =>
    (await on.pipeline.mailbox.insertAll(texts)).map(String);

  const FLIGHTS = ['700001', '700002', '700003', '700004'] as const;
  beforeAll(async () => {
    await send(schedule(...FLIGHTS), ...FLIGHTS.map((flid) => gate(flid, 'A1')));
    await on.pipeline.drained();
  });
  const turn = async (change: 'pause' | 'resume', station: string): Promise<void> => {
    const answer = await fetch(`${on.running.url}/api/v1/stations/${station}/${change}`, {
      method: 'POST',
      body: JSON.stringify({ reason: 'for the test' }),
    });
    expect(answer.status).toBe(200);
    const wanted = change === 'pause' ? 'paused' : 'running';
    await settles(async () => {
      const { stations } = (await (await fetch(`${on.running.url}/api/v1/status`)).json()) as {
        stations: readonly { name: string; state: string }[];
      };
      return stations.find(({ name }) => name === station)?.state;
    }).toBe(wanted);
  };
  /** The answer to one question to our own tables, as text. */
  const value = async (sql: string, ...values: readonly unknown[]): Promise<string | undefined> =>
    (await on.pipeline.rows<{ value: string }>(sql, values))[0]?.value;
  const stateOf = (msgId: string) =>
    value("select concat_ws(' ', state, reason) as value from proc_state where msg_id = $1", msgId);

  it('pauses and resumes each station', async () => {
    await on.open();
    for (const station of ['Pump', 'Inbox', 'Delivery', 'Backfill', 'Requests']) {
      const name = station.toLowerCase();
      const turns = [
        ['mouse', 'Pause'],
        ['keyboard', 'Resume'],
        ['keyboard', 'Pause'],
        ['mouse', 'Resume'],
      ] as const;
      // It is the same button for all: the others take a turn of each.
      for (const [hands, turn] of turns.slice(0, station === 'Pump' ? 4 : 2)) {
        const reason = `${turn} ${name} by ${hands}`;
        await operate(on.page, hands, {
          ...{ button: `${turn} ${station}…`, confirm: turn, reason },
          trial: new RegExp(`Nothing has been done yet.*would ${turn.toLowerCase()} ${name}`, 's'),
        });
        expect(await on.audits(1)).toEqual([
          { who: WHO, action: turn.toLowerCase(), target: `station:${name}`, reason },
        ]);
      }
    }
    expect(on.faults).toEqual([]);
  });

  it('skips the head of the line, beside what says why it waits', async () => {
    await turn('pause', 'pump');
    const [first = '', second = ''] = await send(gate('700001', 'B1'), gate('700001', 'B2'));
    await settles(() => stateOf(second)).toBe('PENDING');
    await on.open();
    for (const [hands, msgId] of [
      ['mouse', first],
      ['keyboard', second],
    ] as const) {
      await settles(() => on.page.locator('.head-name').innerText()).toContain(msgId);
      const reason = `the upstream took ${msgId} back`;
      await operate(on.page, hands, {
        ...{ button: 'Skip…', confirm: 'Skip it', reason, trial: new RegExp(`would skip message ${msgId}`) },
      });
      expect(await stateOf(msgId)).toBe(`SKIPPED operator:${reason}`);
      expect(await on.audits(1)).toEqual([{ who: WHO, action: 'skip', target: `message:${msgId}`, reason }]);
    }
    await turn('resume', 'pump');
    expect(on.faults).toEqual([]);
  });

  it('replays by class and by IDs what would pass, and says which fields newer messages keep', async () => {
    await turn('pause', 'pump');
    const [old = '', empty = '', other = ''] = await send(
      gate('700001', 'C1'),
      xml('SCHS', 'DNLD', ''),
      gate('700002', 'C1'),
    );
    await settles(() => stateOf(other)).toBe('PENDING');
    // As if each had failed to its last attempt for a fault that is gone.
    await on.pipeline.rows(
      `update proc_state set state = 'DEAD', error_class = 'EXHAUSTED', last_error = 'disk full', attempts = 5,
         terminal_at = now(), terminal_seq = nextval('terminal_seq'), backfill_next_at = now()
       where msg_id = any($1::bigint[])`,
      [[old, empty, other]],
    );
    await turn('resume', 'pump');
    await send(gate('700001', 'C2'));
    await on.pipeline.drained();
    await on.open();
    await operate(on.page, 'keyboard', {
      ...{ button: 'Replay…', confirm: 'Replay', reason: 'disk repaired, this one first' },
      fields: { 'Which messages': 'by their IDs', 'IDs, separated by spaces': `${other} ${empty}` },
      trial: /1 of 2 would be changed\. Nothing has been done yet\..*left alone/s,
      done: /^Done: 1 of 2/,
    });
    expect(await on.audits(2)).toEqual([
      { who: WHO, action: 'replay', target: `message:${other}`, reason: 'disk repaired, this one first' },
      expect.objectContaining({ action: 'resume' }),
    ]);
    await operate(on.page, 'mouse', {
      ...{ button: 'Replay…', confirm: 'Replay', reason: 'disk repaired' },
      fields: { 'Which messages': 'all dead ones of class EXHAUSTED' },
      trial: /1 of 2 would be changed.*newer messages keep gates of flight 700001/s,
      done: /^Done: 1 of 2/,
    });
    expect(await on.audits(1)).toEqual([
      { who: WHO, action: 'replay', target: `message:${old}`, reason: 'disk repaired' },
    ]);
    await on.pipeline.drained();
    expect(await stateOf(old)).toMatch(/^SUCCEEDED superseded:gates/);
    expect(await stateOf(empty)).toBe('DEAD');
    expect(on.faults).toEqual([]);
  });

  it('sends dead events again, by force where later versions were delivered, and drops them', async () => {
    await turn('pause', 'delivery');
    await send(...FLIGHTS.map((flid) => gate(flid, 'D1')));
    await settles(() =>
      value("select count(*)::text as value from msg_event where state = 'PENDING' and target = 'KAFKA:msg'"),
    ).toBe('4');
    await on.pipeline.rows(
      `update msg_event set state = 'DEAD', attempts = 10, last_error = 'too large'
       where state = 'PENDING' and target = 'KAFKA:msg'`,
    );
    await send(gate('700001', 'D2'), gate('700002', 'D2'));
    await turn('resume', 'delivery');
    await on.pipeline.drained();
    const eventOf = async (flid: string): Promise<string> =>
      (await value(
        "select event_id::text as value from msg_event where state = 'DEAD' and partition_key = $1",
        flid,
      )) ?? '';
    const ids = await Promise.all(FLIGHTS.map(eventOf));
    await on.open('#/delivery');
    const table = on.page.getByTestId('dead-events');
    const boxOf = (id: string) => table.getByLabel(`Choose event ${id}`);
    await settles(() => table.locator('tbody tr').count()).toBe(4);
    expect(await table.locator(`tr[data-event="${ids[0] ?? ''}"]`).innerText()).toMatch(/700001.*too large/s);

    const force = { 'Send also where later versions were delivered already': 'on' };
    for (const [hands, change, at, fields] of [
      ['mouse', 'retry', 0, force],
      ['keyboard', 'retry', 2, {}],
      ['mouse', 'drop', 1, {}],
      ['keyboard', 'drop', 3, {}],
    ] as const) {
      const id = ids[at] ?? '';
      if (hands === 'mouse') await boxOf(id).click();
      else {
        await tabTo(on.page, boxOf(id));
        await on.page.keyboard.press('Space');
      }
      const reason = `${change} ${id}`;
      const names =
        change === 'retry' ? (['Send again…', 'Send again'] as const) : (['Drop…', 'Drop'] as const);
      await operate(on.page, hands, {
        ...{ button: names[0], confirm: names[1], reason, fields, back: true },
        trial: at < 2 ? /1 of 1 would be changed.*version \d+ delivered already/s : /1 of 1 would be changed/,
        done: /^Done: 1 of 1/,
      });
      expect(await on.audits(1)).toEqual([{ who: WHO, action: change, target: `event:${id}`, reason }]);
      await settles(() => table.locator(`tr[data-event="${id}"]`).count()).toBe(0);
    }
    await on.page.getByText('No dead event.').waitFor();
    await on.pipeline.drained();
    const states = 'select state as value from msg_event where event_id = $1';
    expect(await Promise.all(ids.map((id) => value(states, id)))).toEqual([
      ...['SENT', 'DROPPED', 'SENT', 'DROPPED'],
    ]);
    expect(on.faults).toEqual([]);
  });

  it('owes marks again and confirms them, and gives the list to the owner of the mailbox', async () => {
    await turn('pause', 'backfill');
    const ids = await send(...FLIGHTS.map((flid) => gate(flid, 'E1')));
    await settles(() => stateOf(ids[3] ?? '')).toBe('SUCCEEDED');
    await on.pipeline.rows(
      `update proc_state set backfill_next_at = null, backfill_attempts = 20, backfill_abandoned_at = now(),
         backfill_abandoned_reason = 'TRANSIENT_DEADLINE' where msg_id = any($1::bigint[])`,
      [ids],
    );
    await on.open('#/backfill');
    const table = on.page.getByTestId('abandoned');
    const boxOf = (id: string) => table.getByLabel(`Choose message ${id}`);
    await settles(() => table.locator('tbody tr').count()).toBe(4);
    const download = on.page.waitForEvent('download');
    await on.page.getByRole('link', { name: 'CSV for the owner of the mailbox' }).click();
    const csv = await readFile(await (await download).path(), 'utf8');
    for (const id of ids) expect(csv).toContain(`${id},`);

    for (const [hands, change, at] of [
      ['mouse', 'reopen', 0],
      ['keyboard', 'reopen', 1],
      ['mouse', 'confirm', 2],
      ['keyboard', 'confirm', 3],
    ] as const) {
      const id = ids[at] ?? '';
      if (hands === 'mouse') await boxOf(id).click();
      else {
        await tabTo(on.page, boxOf(id));
        await on.page.keyboard.press('Space');
      }
      const reason = `${change} ${id}`;
      const names =
        change === 'reopen' ? (['Owe again…', 'Owe again'] as const) : (['Confirm…', 'Confirm'] as const);
      await operate(on.page, hands, {
        ...{ button: names[0], confirm: names[1], reason, back: true },
        ...{ trial: /1 of 1 would be changed/, done: /^Done: 1 of 1/ },
      });
      expect(await on.audits(1)).toEqual([{ who: WHO, action: change, target: `message:${id}`, reason }]);
      await settles(() => table.locator(`tr[data-mark="${id}"]`).count()).toBe(0);
    }
    await turn('resume', 'backfill');
    await on.pipeline.drained();
    await on.page.getByLabel('Confirmed ones too').click();
    await settles(() => table.locator('tbody tr').count()).toBe(2);
    expect(await table.innerText()).toContain('confirmed by http:operator');
    expect(on.faults).toEqual([]);
  });

  it('sends current states again, of a day and of a flight', async () => {
    await on.open('#/delivery');
    const day = (await value('select max(operation_day)::text as value from flight_schd')) ?? '';
    const common = { button: 'Send states again…', confirm: 'Send the states' };
    await operate(on.page, 'mouse', {
      ...{ ...common, reason: 'a consumer began anew', trial: /4 flights, 0 deleted, 0 waiting already/ },
      fields: { 'Operation day': day },
    });
    expect(await on.audits(1)).toEqual([
      { who: WHO, action: 'republish', target: `day:${day}`, reason: 'a consumer began anew' },
    ]);
    await operate(on.page, 'keyboard', {
      ...{ ...common, reason: 'a single one', trial: /1 flight, 0 deleted/ },
      fields: { 'Which flights': 'one flight', FLID: '700002' },
    });
    expect(await on.audits(1)).toEqual([
      { who: WHO, action: 'republish', target: 'flid:700002', reason: 'a single one' },
    ]);
    await on.pipeline.drained();
    expect(on.faults).toEqual([]);
  });

  it('asks the upstream for a schedule and for reference data', async () => {
    await on.open('#/requests');
    await operate(on.page, 'mouse', {
      ...{ button: 'Ask the upstream…', confirm: 'Ask', reason: 'two days are missing' },
      fields: { What: 'Schedule', 'First day': '2026-03-20', 'Last day (else the first)': '2026-03-21' },
      trial: /2 of 2 would be changed.*Schedule 2026-03-20.*Schedule 2026-03-21/s,
      done: /^Done: 2 of 2/,
    });
    expect((await on.audits(2)).map(({ reason }) => reason)).toEqual([
      ...['two days are missing', 'two days are missing'],
    ]);
    await settles(() => on.page.getByTestId('requests').innerText()).toContain('Schedule 2026-03-21');
    await on.open('#/reference');
    await operate(on.page, 'keyboard', {
      ...{ button: 'Ask the upstream…', confirm: 'Ask', reason: 'airports are old' },
      fields: { What: 'ARPT' },
      ...{ trial: /1 of 1 would be changed.*ARPT/s, done: /^Done: 1 of 1/ },
    });
    expect(await on.audits(1)).toEqual([
      { who: WHO, action: 'request', target: 'request:3', reason: 'airports are old' },
    ]);
    expect(on.faults).toEqual([]);
  });

  it('does nothing without a reason, after Escape, or where the state has changed meanwhile', async () => {
    await on.open();
    const before = (await on.audits(1000)).length;
    const opener = on.page.getByRole('button', { name: 'Pause Inbox…' });
    const dialog = on.page.getByRole('dialog', { name: 'Pause Inbox' });
    const why = dialog.getByLabel('Reason');
    const doIt = dialog.getByRole('button', { name: 'Pause', exact: true });
    await opener.click();
    await settles(() => dialog.getByRole('status').innerText()).toContain('would pause inbox');
    expect(await doIt.isDisabled()).toBe(true);
    await why.fill('   ');
    await on.page.keyboard.press('Enter');
    expect(await doIt.isDisabled()).toBe(true);
    for (let presses = 0; presses < 6; presses += 1) {
      await on.page.keyboard.press('Tab');
      const outside =
        "document.activeElement.closest('dialog') === null && document.activeElement !== document.body";
      expect(await on.page.evaluate<boolean>(outside)).toBe(false);
    }
    await why.fill('never mind');
    await on.page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await on.page.locator(':focus').innerText()).toBe('Pause Inbox…');

    await opener.click();
    await why.fill('too late');
    await settles(() => doIt.isEnabled()).toBe(true);
    await turn('pause', 'inbox');
    await why.press('Enter');
    await settles(() => dialog.getByRole('status').innerText()).toMatch(
      /^It cannot be done\..*inbox is paused already/s,
    );
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await turn('resume', 'inbox');
    // Those of the test itself.
    expect((await on.audits(1000)).length).toBe(before + 2);
    expect(on.faults).toEqual([]);
  });
});
