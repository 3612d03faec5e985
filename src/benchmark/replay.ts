/**
 * What a replay costs the messages that flow meanwhile: dead messages, of which half would pass now, are replayed as an
 * operator does it, in one window and not in the next. Each replay has dead messages of its own that pass; those that
 * cannot are the same for all.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { replay } from '../actions/replay.ts';
import { AnchoredClock } from '../runtime/clock.ts';
import { openResources } from '../service/resources.ts';
import { trialContext } from '../service/trial-context.ts';
import { startEmbedded } from '../store/embedded.ts';
import { migrate } from '../store/migrate.ts';
import { brokenIn } from './audit.ts';
import { drainPump, readAll } from './drain.ts';
import { FLIGHTS } from './inputs.ts';
import { LiveTraffic } from './live.ts';
import { flids, gateChange, schedule, unsupported } from './messages.ts';
import { configOf } from './task.ts';
import type { Setup } from './setup.ts';
import { median, Windows, type WindowsTold } from './windows.ts';

export interface ReplayInputs {
  /** Replays, one in a window. */
  readonly replays: number;
  /** Dead messages of each kind in a replay: those that pass, and those that do not. */
  readonly each: number;
  /** Live messages per second. */
  readonly rate: number;
}

export interface ReplayReport extends WindowsTold {
  readonly inputs: ReplayInputs;
  /** Medians of the windows' p99, and what the one with a replay is to the one without. */
  readonly p99: { readonly with: number; readonly without: number; readonly ratio: number };
  /** From asking for a replay until what it put back had ended, s: the median. */
  readonly replaySeconds: number;
  readonly reenqueued: readonly number[];
  /** Of replays that were asked for a second time: how many changed nothing. */
  readonly rerunsRefused: number;
  readonly auditRows: number;
  /** Dead messages that never went back to the line. */
  readonly left: number;
  /** What `verify` found broken afterwards. */
  readonly broken: readonly string[];
}

/** Flights that only dead messages name, beside those of the traffic: nothing newer is known of them. */
const QUIET = 200;
/** SEQN of the first dead message; those of the traffic are smaller. */
const FIRST_SEQUENCE = 500_000;
/** Shortest window without a replay, ms. */
const SHORTEST_MS = 2_000;
/** What came shortly before a replay may have met it, ms. */
const EDGE_MS = 300;

/** Runs it on an embedded PostgreSQL of its own. */
export async function replayUnderTraffic(
  inputs: ReplayInputs,
  onProgress: (step: string) => void,
): Promise<ReplayReport> {
  const directory = await mkdtemp(join(tmpdir(), 'msgx-replay-'));
  const server = await startEmbedded({ directory });
  try {
    await migrate(server.url, 'msgx');
    const config = configOf({ url: server.url, journal: join(directory, 'journal'), commitBatch: 500 });
    const resources = await openResources(config);
    const client = new pg.Client({ connectionString: server.url, options: '-c search_path=msgx,public' });
    await client.connect();
    try {
      const setup = { ...resources, clock: new AnchoredClock(Date.now()) };
      onProgress('writing what is dead');
      const dead = await makeDead(setup, client, inputs);
      const replays = new Replays(setup, client, dead);
      const windows = new Windows({
        work: () => replays.next(),
        through: () => replays.through,
        // A window without is as long as the one with before it.
        full: (window, before) =>
          window.working
            ? !replays.underway
            : window.to - window.from >=
              Math.max(SHORTEST_MS, before === undefined ? 0 : before.to - before.from),
        ...{ least: 0, edgeMs: { with: 0, without: EDGE_MS }, onProgress },
      });
      const before = 1 + inputs.each * (inputs.replays + 1);
      const passages = await new LiveTraffic(setup).run(before, inputs.rate, () => windows.over());
      const failed = windows.failed();
      if (failed !== undefined) throw failed;
      onProgress('verifying');
      const told = windows.told(passages);
      const [live, alone] = [told.windows.with, told.windows.without].map((all) =>
        median(all.map(({ p99 }) => p99)),
      );
      const count = async (what: string) =>
        Number((await client.query<{ n: string }>(`select count(*) as n from ${what}`)).rows[0]?.n);
      return {
        inputs,
        ...told,
        p99: { with: live ?? NaN, without: alone ?? NaN, ratio: (live ?? NaN) / (alone ?? NaN) },
        replaySeconds: median(replays.seconds),
        reenqueued: replays.reenqueued,
        rerunsRefused: replays.rerunsRefused,
        auditRows: await count(`op_audit where action = 'replay'`),
        left: await count(`proc_state where state = 'DEAD' and not replayed`),
        broken: await brokenIn(resources),
      };
    } finally {
      await client.end();
      await resources.close();
    }
  } finally {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

interface Dead {
  /** Of each replay. */
  readonly passing: readonly (readonly bigint[])[];
  readonly hopeless: readonly bigint[];
}

/** Messages as they are read from the mailbox, and then as if each had failed to its last attempt for a fault that is gone. */
async function makeDead(setup: Setup, client: pg.Client, { replays, each }: ReplayInputs): Promise<Dead> {
  const { mailbox } = setup;
  await mailbox.init();
  await mailbox.insert(schedule(FLIGHTS + QUIET, 1));
  await drainPump(setup, 0);
  const names = flids(FLIGHTS + QUIET);
  const numbers = Array.from({ length: replays * each }, (_, index) => index);
  const ids = await mailbox.insertAll(
    // Their gates are other ones than those of the traffic, of which each message has to tell a change.
    numbers.map((number) =>
      gateChange(names[number % names.length] ?? '', number, FIRST_SEQUENCE + number, 'D'),
    ),
  );
  const hopeless = await mailbox.insertAll(
    Array.from({ length: each }, (_, index) => unsupported(FIRST_SEQUENCE + numbers.length + index)),
  );
  await readAll(setup);
  await client.query(
    // They end in the order of their IDs.
    `update proc_state p set state = 'DEAD', error_class = 'EXHAUSTED', last_error = 'disk full', attempts = 5,
       terminal_at = now(), terminal_seq = ended.seq, backfill_next_at = now()
     from (select msg_id, nextval('terminal_seq') as seq
       from (select msg_id from proc_state where state = 'PENDING' order by msg_id) listed) ended
     where p.msg_id = ended.msg_id`,
  );
  await client.query('vacuum analyze');
  return {
    passing: Array.from({ length: replays }, (_, index) => ids.slice(index * each, (index + 1) * each)),
    hopeless,
  };
}

/** One replay after the other, each asked for again when what it put back has ended. */
class Replays {
  readonly #setup: Setup;
  readonly #client: pg.Client;
  readonly #dead: Dead;
  readonly seconds: number[] = [];
  readonly reenqueued: number[] = [];
  rerunsRefused = 0;
  underway = false;
  #done = 0;

  constructor(setup: Setup, client: pg.Client, dead: Dead) {
    this.#setup = setup;
    this.#client = client;
    this.#dead = dead;
  }

  get through(): boolean {
    return this.#done === this.#dead.passing.length;
  }

  async next(): Promise<void> {
    const passing = this.#dead.passing[this.#done] ?? [];
    this.underway = true;
    const from = performance.now();
    const first = await this.#ask(passing);
    this.reenqueued.push(first.messages.filter(({ refused }) => refused === null).length);
    for (;;) {
      const { rowCount } = await this.#client.query(
        `select from proc_state where replayed and state in ('PENDING', 'FAILED') limit 1`,
      );
      if (rowCount === 0) break;
      await sleep(10);
    }
    this.seconds.push((performance.now() - from) / 1_000);
    const again = await this.#ask(passing);
    if (again.outcome === 'refused') this.rerunsRefused += 1;
    this.#done += 1;
    this.underway = false;
  }

  /** As the API does it, over the connections of its own. */
  #ask(passing: readonly bigint[]) {
    const { config, askedDatabase, dialect, clock } = this.#setup;
    const msgIds = [...passing, ...this.#dead.hopeless];
    return replay(
      trialContext(config, askedDatabase, dialect),
      { scope: { kind: 'ids', msgIds }, dryRun: false },
      { who: 'bench', reason: 'bench', now: clock.now() },
    );
  }
}
