/** Actions for more things than an answer names: the dialog counts all of them and says which are not listed. */
import { beforeAll, expect, it } from 'vitest';
import { describeLive, settles } from './live-pages.ts';

/** More than an answer names (MOST_TOLD, MOST_REPLAYED). */
const MANY = 10_040;

describeLive('the dialog of an action for very many', {}, (on) => {
  beforeAll(async () => {
    await on.pipeline.rows(
      `insert into msg_event (target, partition_key, event_type, state_version, state, msg_id, created_at, body,
         attempts, last_error)
       select 'KAFKA:msg', (700000 + n)::text, 'UPSERT', 1, 'DEAD', n, now(), '{}', 10, 'too large'
       from generate_series(1, $1::integer) n`,
      [MANY],
    );
    await on.pipeline.rows(
      `insert into proc_state (msg_id, type, styp, state, attempts, error_class, last_error, received_at, enqueued_at,
         terminal_at, terminal_seq, backfill_at)
       select n, 'FLOP', 'GTDT', 'DEAD', 3, 'UNSUPPORTED', 'unsupported:type', now(), now(), now(), n, now()
       from generate_series(1, $1::integer) n`,
      [MANY],
    );
    // As autovacuum would within a minute.
    await on.pipeline.rows('analyze');
  });
  const dialog = () => on.page.getByRole('dialog');
  const told = () => dialog().getByRole('status').innerText();

  it('sends all dead events again, and says how many are not listed', async () => {
    await on.open('#/delivery');
    await on.page.getByRole('button', { name: 'Send all again…' }).click();
    await settles(told).toContain('10,040 of 10,040 would be changed');
    expect(await told()).toContain('Only the first 10,000 are listed here; the other 40 are treated alike.');
    await dialog().getByLabel('Reason').fill('the limit was raised');
    await dialog().getByRole('button', { name: 'Send again' }).click();
    await settles(told).toContain('Done: 10,040 of 10,040.');
    expect(await told()).toContain('the other 40 were treated alike.');
    const left = await on.pipeline.rows("select 1 from msg_event where state = 'DEAD'");
    expect(left).toEqual([]);
    expect(on.faults).toEqual([]);
  });

  it('tries a whole class of messages, and says how many are not listed', async () => {
    await on.open();
    await on.page.getByRole('button', { name: 'Replay…' }).first().click();
    await dialog().getByLabel('Which messages').selectOption('UNSUPPORTED');
    await settles(told).toContain('None of 10,040 can be changed.');
    expect(await told()).toContain('Only the first 10,000 are listed here; the other 40 are treated alike.');
    expect(on.faults).toEqual([]);
  });
});
