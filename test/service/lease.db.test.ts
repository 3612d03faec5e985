import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LEASE_TTL_MS, acquireLease, type HeldLease, type LeaseOptions } from '../../src/service/lease.ts';
import { LostLease } from '../../src/runtime/outage.ts';
import type { Log } from '../../src/runtime/log.ts';
import { Database } from '../../src/store/database.ts';
import { statement } from '../../src/store/statement.ts';
import { databaseNow, renewLease, selectLease } from '../../src/store/lease.ts';
import { session } from '../kit/pipeline.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';
import { startProxy, targetOf, through } from '../kit/tcp-proxy.ts';

const NOTE = statement('test.note', `insert into fixed_setting values ($1, 'x', now())`);

describe.skipIf(postgresMissing !== null)('lease', () => {
  let db: TestDatabase;
  let databases: Database[];
  let stop: AbortController;
  let held: HeldLease[];

  beforeEach(async () => {
    db = await createTestDatabase();
    databases = [];
    held = [];
    stop = new AbortController();
  });

  afterEach(async () => {
    stop.abort();
    for (const lease of held) await lease.release();
    await Promise.allSettled(databases.map((database) => database.close()));
    await db.drop();
  });

  function open(applicationName: string, url = db.url, options: { short?: boolean } = {}): Database {
    const short = options.short === true ? { statementTimeoutMs: 2_000, connectTimeoutMs: 2_000 } : {};
    const database = new Database({ url, schema: 'msgx', applicationName, maxConnections: 3, ...short });
    databases.push(database);
    return database;
  }

  interface Instance {
    readonly log: { text: string; fields: object }[];
    acquire(signal?: AbortSignal): Promise<HeldLease | null>;
  }

  function instance(holder: string, overrides: Partial<LeaseOptions> = {}): Instance {
    const log: { text: string; fields: object }[] = [];
    const note = (fields: object, text: string) => void log.push({ text, fields });
    const logger: Log = { debug: note, info: note, warn: note, error: note };
    const database = overrides.database ?? open('msgx lease', db.url, { short: true });
    return {
      log,
      acquire: async (signal = stop.signal) => {
        const options = { database, holder, backendPids: () => [], log: logger, ...overrides };
        const lease = await acquireLease(options, signal);
        if (lease !== null) held.push(lease);
        return lease;
      },
    };
  }

  async function acquired(instance: Instance): Promise<HeldLease> {
    const lease = await instance.acquire();
    if (lease === null) throw new Error('no lease');
    return lease;
  }

  it('is acquired at once where nobody holds it, with the time of the database', async () => {
    const lease = await acquired(instance('a'));
    expect(lease.fence.epoch).toBe(1n);
    expect(Math.abs(lease.now - (await databaseNow(db.database)))).toBeLessThan(2_000);
    expect(await selectLease(db.database)).toMatchObject({ epoch: 1n, holder: 'a', expired: false });
  });

  it('goes to one of several, the others stand by and say so once', async () => {
    const instances = ['a', 'b', 'c'].map((name) => instance(name));
    const waiting = instances.map((each) => each.acquire());
    const first = await Promise.race(
      waiting.map(async (lease, index) => ((await lease) === null ? -1 : index)),
    );
    expect(first).toBeGreaterThanOrEqual(0);
    await sleep(1_500);
    stop.abort();
    const leases = await Promise.all(waiting);
    expect(leases.filter((lease) => lease !== null)).toHaveLength(1);
    for (const [index, { log }] of instances.entries()) {
      const standing = log.filter(({ text }) => text.startsWith('standby:'));
      if (index !== first) expect(standing).toHaveLength(1);
    }
  });

  it('is renewed past its time to live, and stores the PIDs of the sessions', async () => {
    const lease = await acquired(instance('a', { backendPids: () => [11, 12] }));
    let lost = false;
    void lease.lost.then(() => (lost = true));
    await sleep(LEASE_TTL_MS + 1_000);
    expect(await selectLease(db.database)).toEqual({
      epoch: 1n,
      holder: 'a',
      expired: false,
      backendPids: [11, 12],
    });
    expect(lost).toBe(false);
  });

  it('brings no warning of the runtime where the process stood still beyond the deadline', async () => {
    const warnings: string[] = [];
    const note = ({ message }: Error) => warnings.push(message);
    process.on('warning', note);
    try {
      await acquired(instance('a'));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LEASE_TTL_MS + 200);
      // Nobody has taken it meanwhile: whether the renewal that is overdue still comes in time is a race.
      await sleep(1_000);
      expect(warnings).toEqual([]);
    } finally {
      process.off('warning', note);
    }
  });

  it('passes on at once where it is given back', async () => {
    const lease = await acquired(instance('a'));
    const next = instance('b').acquire();
    await lease.release();
    const released = performance.now();
    expect((await next)?.fence.epoch).toBe(2n);
    expect(performance.now() - released).toBeLessThan(1_500);
  });

  it('is taken over within 5 s of silence; the former holder is fenced out and demotes itself', async () => {
    const proxy = await startProxy(targetOf(db.url));
    const database = open('msgx lease', through(db.url, proxy), { short: true });
    const silent = instance('a', { database });
    const former = await acquired(silent);
    const stations = open('a');
    await stations.transaction((tx) => tx.query(NOTE, ['before']), { fence: former.fence });
    const standby = instance('b').acquire();
    // Just after a renewal: the longest it can take.
    const renewed = await selectExpiry();
    await vi.waitFor(async () => expect(await selectExpiry()).not.toBe(renewed), {
      timeout: 3_000,
      interval: 20,
    });
    proxy.silence();
    const since = performance.now();
    const lostAt = former.lost.then(() => performance.now() - since);
    const next = await standby;
    expect(next?.fence.epoch).toBe(2n);
    expect(performance.now() - since).toBeLessThan(5_000);
    expect(await lostAt).toBeLessThan(5_000);
    // The takeover has ended its sessions. Once the pool knows and has connected anew, the fence is what stops it.
    await vi.waitFor(() => stations.probe().then((answers) => expect(answers).toBe(true)));
    await expect(
      stations.transaction((tx) => tx.query(NOTE, ['after']), { fence: former.fence }),
    ).rejects.toBeInstanceOf(LostLease);
    await stations.transaction((tx) => tx.query(NOTE, ['new']), { fence: next?.fence ?? null });
    const { rows } = await db.client.query<{ name: string }>(
      'select name from fixed_setting order by fixed_at',
    );
    expect(rows.map(({ name }) => name)).toEqual(['before', 'new']);
    proxy.cut();
  }, 20_000);

  async function selectExpiry(): Promise<string> {
    const { rows } = await db.client.query<{ at: string }>('select expires_at::text as at from lease');
    return rows[0]?.at ?? '';
  }

  it('a demoted holder that is reachable again stays demoted: its renewal finds another epoch', async () => {
    const a = instance('a');
    const former = await acquired(a);
    await db.client.query(
      `update lease set epoch = epoch + 1, holder = 'b', expires_at = now() + interval '1 hour'`,
    );
    await former.lost;
    expect(a.log.at(-1)?.text).toBe('lease lost: another instance is active');
    await former.release();
    expect(await selectLease(db.database)).toMatchObject({ epoch: 2n, holder: 'b', expired: false });
  });

  it('ends the sessions of a stopped holder, also those younger than its last renewal', async () => {
    const former = await acquired(instance('stopped one'));
    const stations = open('stopped one');
    let reached: () => void = () => undefined;
    const inTransaction = new Promise<void>((resolve) => (reached = resolve));
    const stuck = stations.transaction(
      async (tx) => {
        await tx.query(NOTE, ['stuck']);
        reached();
        await sleep(60_000, undefined, { signal: stop.signal }).catch(() => undefined);
      },
      { fence: former.fence },
    );
    const ended = stuck.catch((error: unknown) => error);
    await inTransaction;
    // As a stopped process: it neither renews nor ends its transaction.
    await db.client.query(`update lease set expires_at = now()`);
    const since = performance.now();
    const next = await instance('b').acquire();
    expect(next?.fence.epoch).toBe(2n);
    expect(performance.now() - since).toBeLessThan(1_500);
    const { rowCount } = await db.client.query('select from fixed_setting');
    expect(rowCount).toBe(0);
    stop.abort();
    expect(await ended).toBeInstanceOf(Error);
  });

  it('waits for whoever holds the row FOR KEY SHARE before the epoch is raised', async () => {
    await acquired(instance('a'));
    const other = await session(db.url);
    await other.query('begin');
    await other.query('select from lease where epoch = 1 for key share');
    await db.client.query(`update lease set expires_at = now(), holder = null`);
    const taking = instance('b').acquire();
    await vi.waitFor(async () => {
      const { rowCount } = await db.client.query(
        `select from pg_stat_activity where application_name = 'msgx lease' and wait_event_type = 'Lock' and query like 'update lease%'`,
      );
      expect(rowCount).toBe(1);
    });
    expect(await selectLease(db.database)).toMatchObject({ epoch: 1n });
    await other.query('commit');
    await other.end();
    expect((await taking)?.fence.epoch).toBe(2n);
  });

  it('renewals never wait for stations, nor stations for renewals', async () => {
    const lease = await acquired(instance('a'));
    const stations = open('a');
    await stations.transaction(
      async (tx) => {
        await tx.query(NOTE, ['held']);
        // The station's row lock is held all the while.
        const started = performance.now();
        expect(await renewLease(db.database, 1n, 'a', LEASE_TTL_MS, [])).toBe(true);
        expect(performance.now() - started).toBeLessThan(500);
      },
      { fence: lease.fence },
    );
    const other = await session(db.url);
    await other.query('begin');
    await other.query(`update lease set expires_at = now() + interval '1 minute'`);
    const started = performance.now();
    await stations.transaction((tx) => tx.query(NOTE, ['beside']), { fence: lease.fence });
    expect(performance.now() - started).toBeLessThan(500);
    await other.query('rollback');
    await other.end();
  });

  it('waits for a database that is away, with one line, and takes the lease when it is back', async () => {
    const proxy = await startProxy(targetOf(db.url));
    proxy.refuse();
    const a = instance('a', { database: open('msgx lease', through(db.url, proxy), { short: true }) });
    const waiting = a.acquire();
    await vi.waitFor(() => expect(a.log).toHaveLength(1));
    await sleep(1_500);
    expect(a.log.map(({ text }) => text)).toEqual(['standby: own database is not available, waiting']);
    proxy.heal();
    expect((await waiting)?.fence.epoch).toBe(1n);
    proxy.cut();
  });

  it('a fenced transaction with an old epoch writes nothing, whatever it was about to do', async () => {
    await acquired(instance('a'));
    let ran = false;
    await expect(
      db.database.transaction(
        async (tx) => {
          ran = true;
          await tx.query(NOTE, ['old']);
        },
        { fence: { epoch: 0n } },
      ),
    ).rejects.toBeInstanceOf(LostLease);
    expect(ran).toBe(false);
    // The connection is usable again.
    await db.database.transaction((tx) => tx.query(NOTE, ['new']), { fence: { epoch: 1n } });
  });
});
