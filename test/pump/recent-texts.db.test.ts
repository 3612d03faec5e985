/** Texts that the inbox hands over in memory are what the database holds, wherever they are read. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RecentTexts } from '../../src/store/recent-texts.ts';
import { operation, record, scalar, schedule, unreadable } from '../kit/json-dialect.ts';
import { emptyTables, intake } from '../kit/intake.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';
import { createPump } from '../kit/pump.ts';
import { readOutcome } from '../kit/rows.ts';

const FLID = '700001';

describe.skipIf(postgresMissing !== null)('texts from memory', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  beforeEach(async () => emptyTables(db));

  const given = [
    schedule(1, [record(FLID)]),
    operation(2, FLID, [scalar('terminal', 'T1')]),
    unreadable(),
    operation(4, FLID, [scalar('terminal', 'T2')]),
    'no JSON',
  ];
  /** Inbox and pump of one process; those of the given places are held. */
  async function run(places: readonly number[], commitBatch: number): Promise<unknown> {
    await emptyTables(db);
    const ids = await intake(db, given);
    const recentTexts = new RecentTexts();
    recentTexts.hold(places.map((place) => ({ id: ids[place] ?? 0n, text: given[place] ?? null })));
    await createPump(db, { recentTexts, commitBatch }).drain();
    expect(recentTexts.range).toEqual({ from: 0n, to: -1n });
    return readOutcome(db);
  }

  it.each([1, 500])(
    'end as those from the database do, all, some or none of them, in batches of %s',
    async (batch) => {
      const without = await run([], batch);
      for (const held of [[0, 1, 2, 3, 4], [0, 4], [1, 3], [2]])
        expect(await run(held, batch)).toEqual(without);
    },
  );

  it('are not read again, and what fails later is read from the database', async () => {
    const texts = [0, 1, 3, 4, 2].map((place) => given[place] ?? null);
    const ids = await intake(db, texts);
    const recentTexts = new RecentTexts();
    recentTexts.hold(ids.map((id, index) => ({ id, text: texts[index] ?? null })));
    // Whoever inflates this fails.
    await db.client.query(`update raw_message set body = '\\x00' where msg_id <> $1`, [String(ids[4])]);
    await createPump(db, { recentTexts }).drain();
    const { messages } = await readOutcome(db);
    expect(messages.map((row) => [row['state'], row['attempts'], row['last_error']])).toEqual([
      ['SUCCEEDED', 0, null],
      ['SUCCEEDED', 0, null],
      ['SUCCEEDED', 0, null],
      ['DEAD', 0, 'not-well-formed'],
      ['DEAD', 5, 'unknown-format:ESTM'],
    ]);
  });
});
