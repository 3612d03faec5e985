/**
 * A message of any legal size: its transaction never idles long enough for the server to end it, and the lease can be
 * renewed in between. Otherwise one schedule would hold the line for ever, with no attempt charged to it.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { operation, record, scalar, schedule } from '../kit/json-dialect.ts';
import { intake } from '../kit/intake.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';
import { createPump } from '../kit/pump.ts';
import type { Queryable } from '../../src/store/statement.ts';
import { interceptTransactions } from '../kit/transactions.ts';

const FLIGHTS = 4_500;

describe.skipIf(postgresMissing !== null)('small messages about a flight that has much to tell', () => {
  it('end in as many transactions as their events need', async () => {
    const db = await createTestDatabase();
    const texts = ['T1', 'T2', 'T3'].map((terminal, index) =>
      operation(index + 2, '700001', [scalar('terminal', terminal)]),
    );
    await intake(db, [schedule(1, [record('700001', scalar('remark', 'x'.repeat(5_000)))]), ...texts]);
    const pump = createPump(db, { eventCharacters: 7_000 });
    const ended: number[] = [];
    for (let before = 0; (await pump.tick()).next === 'now'; before = pump.progress()) {
      ended.push(pump.progress() - before);
    }
    expect(ended).toEqual([2, 2]);
    const { rows } = await db.client.query<{ versions: number[] }>(
      `select array_agg(state_version order by event_id) as versions from msg_event where target = 'KAFKA:msg'`,
    );
    expect(rows).toEqual([{ versions: [1, 2, 3, 4] }]);
    const { rows: states } = await db.client.query('select distinct state, attempts from proc_state');
    expect(states).toEqual([{ state: 'SUCCEEDED', attempts: 0 }]);
  });
});

describe.skipIf(postgresMissing !== null)('a big message', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });

  /** Counts the statements of transactions by name. */
  function counting(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
    const counted =
      (query: Queryable['query']): Queryable['query'] =>
      async (...args) => {
        count(args[0].name);
        return query(...args);
      };
    interceptTransactions(
      db.database,
      (tx) => ({
        ...tx,
        query: counted((statement, values) => tx.query(statement, values)),
        last: (...args) => {
          count(args[0].name);
          tx.last(...args);
        },
      }),
      counted,
    );
    return counts;
  }

  it('pauses between its flights and writes in parts, in one transaction and in order', async () => {
    const flids = Array.from({ length: FLIGHTS }, (_, index) => String(900_000 - index));
    await intake(db, [
      schedule(
        1,
        flids.map((flid) => record(flid)),
      ),
    ]);
    const counts = counting();
    const pump = createPump(db);
    await pump.tick();
    // Once after each message is what a batch of small ones does.
    expect(counts.get('procState.keepAlive')).toBeGreaterThan(1);
    for (const statement of ['flight.select', 'batch.write']) {
      expect([statement, counts.get(statement)]).toEqual([statement, 3]);
    }
    const { rows } = await db.client.query<{ flids: string[]; transactions: number }>(
      `select array_agg(partition_key order by event_id) as flids, count(distinct xmin::text)::integer as transactions
       from msg_event where target = 'KAFKA:msg'`,
    );
    expect(rows).toEqual([{ flids, transactions: 1 }]);
    const { rows: states } = await db.client.query(
      `select (select state from proc_state) as state, (select count(*)::integer from flight_schd) as flights,
         (select count(*)::integer from msg_event where target = 'KAFKA:schd') as latest`,
    );
    expect(states).toEqual([{ state: 'SUCCEEDED', flights: FLIGHTS, latest: FLIGHTS }]);
  });
});
