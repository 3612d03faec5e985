/** Plays commands against the real stations on a real PostgreSQL, and looks after each at what must hold at any time. */
import type pg from 'pg';
import { republish } from '../../src/actions/republish.ts';
import { openPostgresMailbox } from '../../src/mailbox/postgres.ts';
import type { Mailbox } from '../../src/mailbox/port.ts';
import { ManualClock } from '../../src/runtime/clock.ts';
import { LostLease, Outage } from '../../src/runtime/outage.ts';
import { raiseEpoch, selectLease, terminateSessions } from '../../src/store/lease.ts';
import { MAILBOX_NAMES } from '../kit/mailbox.ts';
import { postgresSide, type MailboxSide } from '../kit/mailbox-side.ts';
import { emptyTables } from '../kit/intake.ts';
import { session, START, testDialect, TIME_ZONE } from '../kit/pipeline.ts';
import { createTestDatabase, type TestDatabase } from '../kit/postgres.ts';
import { check } from '../torture/checker/check.ts';
import { readFacts } from '../torture/read-facts.ts';
import { MailboxModel, type HoleRules } from '../model/mailbox.ts';
import { STATIONS, textOf, type Command, type Meanwhile, type Setting, type Station } from './commands.ts';
import { createInstance, type Instance } from './instance.ts';
import { Topics } from './topics.ts';
import { FINGERPRINT, LEFT, Watch } from './watch.ts';

const dialect = testDialect();
/** Turns of draining; each moves the clock by more than the wait of an attempt. */
const TURNS = 200;
const TURN_MS = 10_000;

/** A database with a mailbox in it, for one run after the other. */
export interface Stage {
  readonly db: TestDatabase;
  readonly mailbox: Mailbox;
  readonly side: MailboxSide;
  close(): Promise<void>;
}

/** What was found wrong, during the run and at its end, and what the run met at all. */
export interface Played {
  readonly findings: readonly string[];
  readonly met: ReadonlySet<string>;
}

export async function createStage(): Promise<Stage> {
  const db = await createTestDatabase();
  const options = { url: db.url, names: MAILBOX_NAMES, schema: 'public', timeoutMs: 10_000 };
  const mailbox = await openPostgresMailbox(options);
  await mailbox.init();
  const side = await postgresSide(db.url);
  return {
    db,
    mailbox,
    side,
    close: async () => {
      await Promise.allSettled([mailbox.close(), side.close()]);
      await db.drop();
    },
  };
}

/** Plays on an emptied stage. */
export async function play(stage: Stage, setting: Setting, commands: readonly Command[]): Promise<Played> {
  await emptyTables(stage.db);
  await stage.db.client.query(EMPTY);
  const player = new Player(stage, setting);
  try {
    await player.begin();
    for (const command of commands) await player.run(command);
    await player.drain();
    return await player.judge();
  } finally {
    await player.close();
  }
}

const EMPTY = `delete from cminmsgs;
  alter sequence public.cminmsgs_cminmsgs_id_seq restart;
  delete from inbox_cursor;
  insert into inbox_cursor default values`;

class Player {
  readonly #db: TestDatabase;
  readonly #mailbox: Mailbox;
  readonly #side: MailboxSide;
  readonly #setting: Setting;
  readonly #rules: HoleRules;
  readonly #model: MailboxModel;
  readonly #clock = new ManualClock(START);
  readonly #topics = new Topics();
  readonly #watch: Watch;
  readonly #writers = new Map<number, pg.Client>();
  readonly #open = new Set<number>();
  readonly #reserved: bigint[] = [];
  readonly #instances: Instance[] = [];
  readonly #met = new Set<string>();
  /** Replaced by a takeover and still alive. */
  #former: Instance | null = null;

  constructor({ db, mailbox, side }: Stage, setting: Setting) {
    this.#db = db;
    this.#mailbox = mailbox;
    this.#side = side;
    this.#setting = setting;
    this.#rules = { maxCommitDelayMs: 30_000, maxHoleHoldMs: 120_000, mode: setting.holeRelease };
    this.#model = new MailboxModel(this.#rules);
    this.#watch = new Watch(db.client);
  }

  async begin(): Promise<void> {
    await this.#replace();
  }

  async run(command: Command): Promise<void> {
    this.#watch.doing(command);
    switch (command.do) {
      case 'insert':
        return this.#insert(command.writer, await this.#nextId(), textOf(command.message));
      case 'reserve':
        this.#reserved.push(await this.#nextId());
        return;
      case 'fill': {
        const id = this.#reserved.shift();
        if (id !== undefined) await this.#insert(command.writer, id, textOf(command.message));
        return;
      }
      case 'commit':
        return this.#end(command.writer, 'commit');
      case 'rollback':
        return this.#end(command.writer, 'rollback');
      case 'round':
        return this.#round(command.station, command.meanwhile);
      case 'stale':
        return this.#stale(command.station);
      case 'advance':
        this.#clock.advance(command.seconds * 1_000);
        return;
      case 'crash':
        this.#current.gate.kill();
        return this.#replace();
      case 'takeover':
        return this.#takeOver();
      case 'refuse':
        this.#topics.refuse = true;
        return;
      case 'republish': {
        const rate = { flushLimit: 500, flushIntervalMs: 1_000 };
        const operator = { who: 'model', reason: 'test', now: this.#clock.now() };
        await republish(this.#db.database, { scope: { kind: 'all' }, rate, dryRun: false }, operator);
      }
    }
  }

  /** Every writer ends, nothing goes wrong any more, and all is done that can be done. */
  async drain(): Promise<void> {
    for (const writer of [...this.#open]) await this.#end(writer, 'commit');
    this.#topics.refuse = false;
    for (let turn = 0; turn < TURNS; turn++) {
      for (const station of STATIONS) {
        this.#watch.doing({ do: 'round', station, meanwhile: null });
        while ((await this.#current.round(station)).next === 'now');
      }
      await this.#watch.look();
      const { rows } = await this.#db.client.query<{ left: number }>(LEFT);
      if (rows[0]?.left === 0) return;
      this.#clock.advance(TURN_MS);
    }
  }

  /** What the run left behind against the model. */
  async judge(): Promise<Played> {
    const facts = await readFacts({
      config: { timeZone: TIME_ZONE },
      mailboxSide: this.#side,
      rows: async <T extends pg.QueryResultRow>(sql: string) => (await this.#db.client.query<T>(sql)).rows,
      journal: async (stream) => this.#topics.lines[stream],
    });
    const committed = this.#model.committed();
    // Marks bear the server's time, which is not the pipeline's here: the watch has seen when they were set.
    const mailbox = facts.mailbox.map((row) => ({
      ...row,
      markedAt: row.markedAt === null ? null : Infinity,
    }));
    const found = check({
      ...facts,
      mailbox,
      acknowledged: new Set(committed.keys()),
      seenMarkedEarly: this.#watch.markedEarly,
    }).map(({ kind, subject, detail }) => `${kind}: ${subject}: ${detail}`);
    for (const { id, late } of facts.messages) {
      const allowed = this.#model.allowed(id);
      if (allowed === 'never') found.push(`invented: message ${String(id)} was never committed`);
      else if (late && allowed !== 'any')
        found.push(`passed too early: message ${String(id)} came late, and its ID had to be waited for`);
    }
    for (const { state, errorClass, reason, late } of facts.messages) {
      this.#met.add([state, errorClass, reason?.split(/[: ]/)[0]].filter((word) => word != null).join(' '));
      if (late) this.#met.add('late');
    }
    if (facts.released.length > 0) this.#met.add('passed a hole');
    return { findings: [...this.#watch.findings, ...found], met: this.#met };
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#writers.values()].map((client) => client.end()));
    await Promise.allSettled(this.#instances.map((instance) => instance.close()));
  }

  get #current(): Instance {
    const instance = this.#instances.at(-1);
    if (instance === undefined) throw new Error('no instance has begun');
    return instance;
  }

  async #round(station: Station, meanwhile: Meanwhile | null): Promise<void> {
    const instance = this.#current;
    const seen: string[] = [];
    instance.gate.plan(meanwhile, async (what) => {
      if (what === 'commit') {
        const [writer] = this.#open;
        if (writer !== undefined) await this.#end(writer, 'commit');
      } else {
        await this.#takeOver();
        seen.push(await this.#fingerprint());
      }
    });
    await settled(instance.round(station));
    if (meanwhile !== null && instance.gate.done) this.#met.add(`${meanwhile.what} in ${station}`);
    instance.gate.plan(null, async () => undefined);
    for (const before of seen) {
      if (before !== (await this.#fingerprint())) this.#watch.note('written after a takeover');
    }
    if (instance.gate.dead) await this.#replace();
    await this.#watch.look();
  }

  async #stale(station: Station): Promise<void> {
    if (this.#former === null) return;
    const before = await this.#fingerprint();
    await settled(this.#former.round(station));
    this.#met.add(`stale ${station}`);
    if (before !== (await this.#fingerprint())) this.#watch.note('written by a former instance');
    await this.#watch.look();
  }

  async #takeOver(): Promise<void> {
    this.#former = this.#current;
    await this.#replace();
  }

  /** As a standby does: ends the sessions of the holder, raises the epoch and begins. */
  async #replace(): Promise<void> {
    const former = this.#instances.at(-1);
    const name = `instance ${String(this.#instances.length + 1)} of ${this.#db.name}`;
    const epoch = await this.#db.database.transaction(async (tx) => {
      const lease = await selectLease(tx);
      if (former !== undefined) await terminateSessions(tx, former.name);
      return raiseEpoch(tx, lease.epoch, name, 0);
    });
    if (epoch === null) throw new Error('somebody else has raised the epoch');
    this.#instances.push(
      createInstance({
        url: this.#db.url,
        name,
        epoch,
        mailbox: this.#mailbox,
        sink: this.#topics.open(),
        dialect: await dialect,
        clock: this.#clock,
        setting: this.#setting,
        rules: this.#rules,
      }),
    );
  }

  async #fingerprint(): Promise<string> {
    const { rows } = await this.#db.client.query<{ text: string }>(FINGERPRINT);
    return `${rows[0]?.text ?? ''} ${JSON.stringify(Object.values(this.#topics.lines).map(({ length }) => length))}`;
  }

  async #nextId(): Promise<bigint> {
    const sql = `select nextval(pg_get_serial_sequence('public.cminmsgs', 'cminmsgs_id')) as id`;
    const { rows } = await this.#db.client.query<{ id: string }>(sql);
    return BigInt(rows[0]?.id ?? 0);
  }

  async #insert(writer: number, id: bigint, text: string): Promise<void> {
    const client = this.#writers.get(writer) ?? (await session(this.#db.url));
    this.#writers.set(writer, client);
    if (!this.#open.has(writer)) await client.query('begin');
    this.#open.add(writer);
    await client.query('insert into cminmsgs (cminmsgs_id, cminmsgs_clob_msg) values ($1, $2)', [id, text]);
    this.#model.insert(writer, id, text);
  }

  async #end(writer: number, how: 'commit' | 'rollback'): Promise<void> {
    if (!this.#open.delete(writer)) return;
    await this.#writers.get(writer)?.query(how);
    if (how === 'commit') this.#model.commit(writer, this.#clock.now());
    else this.#model.rollback(writer);
  }
}

/** A round that a fault has ended is what the station says it is: an outage or a lost lease, and nothing else. */
async function settled(round: Promise<unknown>): Promise<void> {
  try {
    await round;
  } catch (error) {
    if (!(error instanceof Outage) && !(error instanceof LostLease)) throw error;
  }
}
