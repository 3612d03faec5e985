/** Reference data through the pump: what is written, what is not, and what a row had been. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { emptyTables, intake } from '../kit/intake.ts';
import { reference } from '../kit/json-dialect.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';
import { createPump } from '../kit/pump.ts';

describe.skipIf(postgresMissing !== null)('reference data', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  beforeEach(async () => emptyTables(db));

  /** Rows with the transaction that wrote each last. */
  const rows = async () =>
    (
      await db.client.query<{ rkey: string; active: boolean; text: string; xmin: string; updated: string }>(
        `select rkey, active, body ->> 'TEXT' as text, xmin::text, updated_at::text as updated
         from ref_master order by rkey collate "C"`,
      )
    ).rows;
  const active = async () => (await rows()).filter((row) => row.active).map(({ rkey }) => rkey);
  const past = async () =>
    (
      await db.client.query<{ line: string }>(
        `select concat_ws(' ', rkey, 'by', msg_id, body ->> 'TEXT', active) as line from ref_history
         order by change_id`,
      )
    ).rows.map(({ line }) => line);
  const outcome = async (id: bigint) =>
    (
      await db.client.query<{ state: string; reason: string | null }>(
        'select state, reason from proc_state where msg_id = $1',
        [id.toString()],
      )
    ).rows[0];

  it('rewrites no row for a load that names the type as it is, and says so', async () => {
    const pump = createPump(db);
    await intake(db, [reference(1, 'DNLD', ['A', 'B', 'C'])]);
    await pump.drain();
    const before = await rows();
    pump.clock.advance(60_000);
    await intake(db, [reference(2, 'DNLD', ['A', 'B', 'C'])]);
    await pump.drain();
    expect(await rows()).toEqual(before);
    expect(await outcome(2n)).toEqual({ state: 'SUCCEEDED', reason: 'unchanged' });
    expect(await past()).toEqual([]);
  });

  it('writes of a load only the rows that differ', async () => {
    const pump = createPump(db);
    await intake(db, [reference(1, 'DNLD', ['A', 'B', 'C'])]);
    await pump.drain();
    const [, b] = await rows();
    await intake(db, [reference(2, 'UPD', ['A'], 'y'), reference(3, 'DNLD', ['A', 'B', 'D'])]);
    await pump.drain();
    const after = await rows();
    expect(after.map(({ rkey, active: is, text }) => [rkey, is, text])).toEqual([
      ['A', true, 'x'],
      ['B', true, 'x'],
      ['C', false, 'x'],
      ['D', true, 'x'],
    ]);
    expect(after[1]).toEqual(b);
    // Changed twice in one transaction: both are told, in their order.
    expect(await past()).toEqual(['A by 2 x t', 'A by 3 y t', 'C by 3 x t']);
  });

  it('keeps the time of a row whose stamp alone moves', async () => {
    const pump = createPump(db);
    await intake(db, [reference(1, 'ADD', ['A'])]);
    await pump.drain();
    const [before] = await rows();
    pump.clock.advance(60_000);
    await intake(db, [reference(2, 'UPD', ['A'])]);
    await pump.drain();
    const [after] = await rows();
    expect(after?.updated).toBe(before?.updated);
    expect(after?.xmin).not.toBe(before?.xmin);
    expect(await past()).toEqual([]);
  });

  it.each([
    ['one after the other', 1],
    ['in one batch', 500],
  ])('a load that runs after a later ADD leaves that row active (%s)', async (_how, commitBatch) => {
    const pump = createPump(db, { commitBatch });
    await intake(db, [reference(1, 'DNLD', ['A', 'B'])], { from: 1n });
    await intake(db, [reference(3, 'ADD', ['C'])], { from: 3n });
    await pump.drain();
    await intake(db, [reference(2, 'DNLD', ['B'])], { from: 2n, late: true, moveWatermark: false });
    await pump.drain();
    expect(await outcome(2n)).toEqual({ state: 'SUCCEEDED', reason: null });
    expect(await active()).toEqual(['B', 'C']);
    expect(await past()).toEqual(['A by 2 x t']);
  });

  it('does not let a message between two loads undo what the later one confirmed without writing it', async () => {
    const pump = createPump(db);
    await intake(db, [reference(1, 'DNLD', ['A'])], { from: 1n });
    await intake(db, [reference(9, 'DNLD', ['A'])], { from: 9n });
    await pump.drain();
    await intake(db, [reference(5, 'DEL', ['A']), reference(6, 'UPD', ['A'], 'older')], {
      from: 5n,
      late: true,
      moveWatermark: false,
    });
    await pump.drain();
    expect(await outcome(6n)).toMatchObject({ reason: 'superseded:A' });
    expect((await rows()).map(({ rkey, active: is, text }) => [rkey, is, text])).toEqual([['A', true, 'x']]);
  });

  it('keeps a row that was added after a load which is replayed, and one deleted after it deleted', async () => {
    const pump = createPump(db);
    await intake(db, [
      reference(1, 'DNLD', ['A', 'B']),
      reference(2, 'ADD', ['C']),
      reference(3, 'DEL', ['A']),
    ]);
    await pump.drain();
    const before = await rows();
    await db.client.query(
      `update proc_state set state = 'PENDING', replayed = true, terminal_at = null, terminal_seq = null
       where msg_id = 1`,
    );
    await pump.drain();
    expect(await outcome(1n)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await active()).toEqual(['B', 'C']);
    expect(await rows()).toEqual(before);
  });

  it('keeps them, too, where the load runs for the first time after them', async () => {
    const pump = createPump(db);
    await intake(db, [reference(2, 'ADD', ['C']), reference(3, 'DEL', ['A'])], { from: 2n });
    await pump.drain();
    await intake(db, [reference(1, 'DNLD', ['A', 'B'])], { from: 1n, late: true, moveWatermark: false });
    await pump.drain();
    expect(await outcome(1n)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await active()).toEqual(['B', 'C']);
  });
});
