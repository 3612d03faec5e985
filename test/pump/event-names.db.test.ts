/** `events.names`: names in the events of KAFKA:msg, and nothing of them anywhere else. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { emptyTables, intake } from '../kit/intake.ts';
import { deletion, operation, record, reference, scalar, schedule } from '../kit/json-dialect.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';
import { createPump } from '../kit/pump.ts';

/** Terminals are named by what the messages of this kit call ABDG. */
const names = { elements: { ABDG: ['NONE', 'TEXT'] }, fields: { terminal: 'ABDG', currentStand: 'ABDG' } };
const publication = { vipPersons: false, names };
const at = (sequence: number, terminal: string) =>
  operation(sequence, '700001', [scalar('terminal', terminal)]);

describe.skipIf(postgresMissing !== null)('names in events', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  beforeEach(async () => emptyTables(db));

  const bodies = async () =>
    (
      await db.client.query<{ body: string }>(
        `select body::text from msg_event where target = 'KAFKA:msg' order by event_id`,
      )
    ).rows.map(({ body }) => body);
  const told = async () =>
    (await bodies()).map((body) => (JSON.parse(body) as { readonly names?: unknown }).names);

  const MESSAGES = [
    schedule(1, [record('700001', scalar('terminal', 'T1'))]),
    reference(2, 'ADD', ['T1'], 'old'),
    at(3, 'T2'),
    at(4, 'T1'),
    reference(5, 'UPD', ['T1', 'T2'], 'new'),
    at(6, 'T2'),
    reference(7, 'DEL', ['T1']),
    at(8, 'T1'),
    deletion(9, '700001'),
  ];
  const NAMES = [
    {},
    {},
    { ABDG: { T1: 'old' } },
    { ABDG: { T2: 'new' } },
    // No longer valid, and still called so.
    { ABDG: { T1: 'new' } },
    {},
  ];

  it.each([1, 3, 500])('are those that the message met, in batches of %i', async (commitBatch) => {
    await intake(db, MESSAGES);
    await createPump(db, { publication, commitBatch }).drain();
    expect(await told()).toEqual(NAMES);
    const { rows } = await db.client.query('select 1 from flight_schd where state::text like $1', [
      '%names%',
    ]);
    expect(rows).toEqual([]);
  });

  it('are the last member; without the switch everything else is the same to the byte', async () => {
    await intake(db, MESSAGES);
    await createPump(db, { publication }).drain();
    const named = await bodies();
    await emptyTables(db);
    await intake(db, MESSAGES);
    await createPump(db).drain();
    expect(named.map((body) => body.replace(/,"names":\{.*?\}*\}$/, '}'))).toEqual(await bodies());
    expect((await bodies()).join('')).not.toContain('"names"');
  });
});
