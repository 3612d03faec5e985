/**
 * The service: waits for the lease as a standby, runs the stations as the active one, demotes itself when the
 * lease is lost, and serves HTTP all the time. Everything it starts it stops.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../runtime/logger.ts';
import { stationLogger } from '../runtime/logger.ts';
import { AnchoredClock } from '../runtime/clock.ts';
import { createMetrics, type Metrics } from '../runtime/metrics.ts';
import { Outage, messageOf } from '../runtime/outage.ts';
import { STATIONS, type StationName } from '../runtime/station.ts';
import { Database } from '../store/database.ts';
import { fixSetting } from '../store/fixed-setting.ts';
import { checkGrants, checkSchema } from '../store/migrate.ts';
import { selectPauses } from '../store/status.ts';
import { toMillis } from '../store/time.ts';
import { refreshGauges } from './gauges.ts';
import { acquireLease, type HeldLease } from './lease.ts';
import { changedPartitions } from './partitions.ts';
import { Pipeline, type Pause } from './pipeline.ts';
import { Rates } from './rates.ts';
import type { Resources } from './resources.ts';
import { StatusReader, type LiveView, type StationStatus } from './status.ts';
import { VERSION } from './version.ts';

/** A loop without a sign of life this long is stuck, ms: longer than every deadline of a single call. */
const STUCK_MS = 120_000;
/** SIGTERM must end within 10 s, whoever does not answer. What a stop may take, one after the other, ms: */
const STOP = {
  /** Rounds finish; after that sends and sessions in our database are ended. */
  graceMs: 4_000,
  /** Nobody waits any more for rounds that wait for the mailbox, or for a disk. */
  roundsMs: 5_000,
  /** Nobody waits any more for our database either. */
  allMs: 6_500,
};
/** Grace of the rounds where the lease is lost, ms: they can write nothing any more. */
const LOST_GRACE_MS = 1_000;

/** What ends the service by itself: a fault that only an operator can mend. */
export class ServiceFault extends Error {
  override readonly name = 'ServiceFault';
  /** Whether the configuration has to be changed, or something else be done first (e.g. migrate). */
  readonly mend: 'configuration' | 'preparation';

  constructor(message: string, mend: 'configuration' | 'preparation', options?: ErrorOptions) {
    super(message, options);
    this.mend = mend;
  }
}

export class Service implements LiveView {
  readonly metrics: Metrics = createMetrics();
  readonly clock: AnchoredClock;
  readonly status: StatusReader;
  readonly #resources: Resources;
  readonly #log: Logger;
  readonly #rates = new Rates();
  readonly #leaseDatabase: Database;
  readonly #stop = new AbortController();
  #pipeline: Pipeline | null = null;
  #pauses: ReadonlyMap<string, Pause> = new Map();
  #task: Promise<void> | null = null;
  #fault: Error | null = null;
  /** Since when our own database is away while no station runs, ms; null where it is not. */
  #awaySince: number | null = null;

  /** @param clock is anchored to our database whenever the lease is taken */
  constructor(resources: Resources, log: Logger, clock = new AnchoredClock(Date.now())) {
    this.clock = clock;
    this.#resources = resources;
    this.#log = log;
    this.status = new StatusReader(resources.config, resources.askedDatabase, resources.mailbox, this);
    // Renewals have connections and short deadlines of their own: they never queue behind a station.
    this.#leaseDatabase = new Database({
      url: resources.databaseUrl,
      schema: resources.config.database.schema,
      applicationName: 'msgx lease',
      maxConnections: 2,
      statementTimeoutMs: 2_000,
      connectTimeoutMs: 2_000,
    });
    this.metrics.buildInfo.set({ version: VERSION, node: process.version }, 1);
    this.metrics.active.set(0);
  }

  get role(): 'active' | 'standby' {
    return this.#pipeline === null ? 'standby' : 'active';
  }

  /** Starts; `ended` resolves when the service has stopped, and rejects with ServiceFault where it cannot go on. */
  start(): { readonly ended: Promise<void> } {
    this.#task ??= this.#run();
    return { ended: this.#task };
  }

  /** Stops: the current transactions are finished, the lease is given back. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const late = setTimeout(() => {
      this.#resources.database.dropConnections();
      void this.#leaseDatabase.close();
    }, STOP.allMs);
    await this.#task?.catch(() => undefined);
    clearTimeout(late);
  }

  stations(): readonly StationStatus[] {
    return STATIONS.map((name) => {
      const loop = this.#pipeline?.loops.find((candidate) => candidate.name === name);
      const perMinute = this.#rates.perMinute(name);
      if (loop === undefined && this.#awaySince !== null) {
        const reason = 'own database is not available';
        return { name, state: 'outage', by: 'outage', reason, since: iso(this.#awaySince), perMinute };
      }
      if (loop === undefined) {
        return { name, state: 'stopped', by: null, reason: 'standby', since: null, perMinute };
      }
      const { state } = loop;
      const since = iso(state.since);
      switch (state.state) {
        case 'running':
          return { name, state: 'running', by: null, reason: null, since, perMinute };
        case 'paused':
          return { name, state: 'paused', by: state.by, reason: state.reason, since, perMinute };
        case 'outage':
          return { name, state: 'outage', by: 'outage', reason: state.reason, since, perMinute };
        case 'stopped':
          return { name, state: 'stopped', by: null, reason: state.reason, since, perMinute };
      }
    });
  }

  /** Names of loops without a sign of life; a resting or paused loop beats. */
  stuck(): readonly string[] {
    const now = performance.now();
    return (this.#pipeline?.loops ?? [])
      .filter(({ state, beat }) => state.state !== 'stopped' && now - beat > STUCK_MS)
      .map(({ name }) => name);
  }

  /** Something was written into the mailbox. */
  wakeInbox(): void {
    this.#pipeline?.wakeInbox();
  }

  /**
   * Whether a station, or the lease, could not use our own database at its last try. It may still answer a question:
   * with a full disk, or read-only.
   */
  databaseAway(): boolean {
    const loops = this.#pipeline?.loops ?? [];
    return (
      this.#awaySince !== null ||
      loops.some(({ state }) => state.state === 'outage' && state.dependency === 'database')
    );
  }

  /** Whether delivery works, and the age of the last acknowledgement. */
  delivery(): { readonly state: 'ok' | 'degraded'; readonly ackAgeSeconds: number | null } {
    const loop = this.#pipeline?.loops.find(({ name }) => name === 'delivery');
    const ackAt = this.#pipeline?.lastAckAt ?? null;
    return {
      state: loop?.state.state === 'outage' ? 'degraded' : 'ok',
      ackAgeSeconds: ackAt === null ? null : Math.max(0, (this.clock.now() - ackAt) / 1000),
    };
  }

  /** Brings the gauges up to date before they are scraped; an outage leaves them as they are. */
  async refreshMetrics(): Promise<void> {
    await refreshGauges(this.metrics, this.status, {
      now: this.clock.now(),
      lastAckAt: this.#pipeline?.lastAckAt ?? null,
      mailboxReadAt: this.#pipeline?.mailboxReadAt ?? null,
    });
  }

  async #run(): Promise<void> {
    const sampling = setInterval(() => this.#rates.sample(), 1_000);
    try {
      await this.#awaitSchema();
      await this.#refuseChangedPartitions();
      while (!this.#stop.signal.aborted) await this.#lead();
    } finally {
      clearInterval(sampling);
      await this.#leaseDatabase.close();
    }
    if (this.#fault !== null) throw this.#fault;
  }

  /** Checks schema and grants; waits for a database that is away. */
  async #awaitSchema(): Promise<void> {
    for (let said = false; !this.#stop.signal.aborted;) {
      try {
        await checkSchema(this.#resources.database);
        await checkGrants(this.#resources.database);
        return;
      } catch (error) {
        if (!(error instanceof Outage))
          throw new ServiceFault(messageOf(error), 'preparation', { cause: error });
        if (!said) this.#log.warn({ error: error.message }, 'own database is not available, waiting');
        said = true;
        this.#awaySince ??= this.clock.now();
        await sleep(1_000, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      }
    }
  }

  /**
   * Once, before this instance can become the active one: whoever starts it is there to decide. Later, and where a
   * standby takes over, a changed topic pauses delivery alone, because messages must not wait for it.
   */
  async #refuseChangedPartitions(): Promise<void> {
    try {
      const fault = await changedPartitions(this.#resources.config, this.#resources.database);
      if (fault !== null) this.#end(fault);
    } catch (error) {
      // Waited for when the lease is taken.
      if (!(error instanceof Outage)) throw error;
    }
  }

  /** One term: from standby through active until the lease is lost or the service stops. */
  async #lead(): Promise<void> {
    const { database, instance, config } = this.#resources;
    const lease = await acquireLease(
      {
        database: this.#leaseDatabase,
        holder: instance,
        backendPids: () => database.backendPids,
        log: this.#log,
        onWaiting: (why) => {
          this.#awaySince = why === 'outage' ? (this.#awaySince ?? this.clock.now()) : null;
        },
      },
      this.#stop.signal,
    );
    if (lease === null) return;
    this.clock.anchor(lease.now);
    const over = new AbortController();
    let watching: Promise<void> = Promise.resolve();
    try {
      // While it waited as a standby, a newer version may have changed the schema.
      await this.#awaitSchema();
      // A pause survives a restart: it has to be known before the first round.
      await this.#readPauses();
      watching = this.#watchPauses(over.signal);
      const fixed = await fixSetting(
        database,
        'identity.include-day-boundary',
        String(config.identity.includeDayBoundary),
        this.clock.now(),
      );
      if (fixed !== String(config.identity.includeDayBoundary)) {
        this.#end(
          `identity.include-day-boundary was ${fixed} at the first start and cannot be changed: duplicates would not be known again`,
        );
        return;
      }
      await this.#serve(lease);
    } catch (error) {
      if (!(error instanceof Outage)) throw error;
      this.#log.warn({ error: error.message }, 'own database was lost while starting');
    } finally {
      over.abort();
      await watching;
      await lease.release();
    }
  }

  async #serve(lease: HeldLease): Promise<void> {
    let onOver: () => void = () => undefined;
    const over = new Promise<void>((resolve) => {
      onOver = resolve;
    });
    const pipeline = new Pipeline({
      resources: this.#resources,
      fence: lease.fence,
      clock: this.clock,
      log: this.#log,
      logOf: (station) => stationLogger(this.#log, station),
      metrics: this.metrics,
      rates: this.#rates,
      pauseOf: (station: StationName) => this.#pauses.get(station) ?? null,
      onLost: onOver,
      onFault: (fault) => {
        this.#log.error({ fault: fault.kind }, fault.message);
        // Without a seed nothing can start; restarted IDs stop the inbox alone, the rest goes on.
        if (fault.kind === 'seeding-refused') this.#end(fault.message);
      },
    });
    this.#pipeline = pipeline;
    this.#awaySince = null;
    this.metrics.active.set(1);
    this.#stop.signal.addEventListener('abort', onOver, { once: true });
    try {
      pipeline.start();
      if (!this.#stop.signal.aborted) await Promise.race([over, lease.lost]);
    } finally {
      this.#pipeline = null;
      this.metrics.active.set(0);
      this.#stop.signal.removeEventListener('abort', onOver);
      const stopped = pipeline.stop(this.#stop.signal.aborted ? STOP.graceMs : LOST_GRACE_MS);
      await Promise.race([stopped, sleep(STOP.roundsMs, undefined, { ref: false })]);
    }
  }

  #end(message: string): void {
    this.#fault ??= new ServiceFault(message, 'configuration');
    this.#stop.abort();
  }

  /** Pauses are facts in the database, so that any command can set them; looked at each second. */
  async #watchPauses(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(1_000, undefined, { signal }).catch(() => undefined);
      // The stations notice an outage of the database themselves; an end is not held up by it.
      await Promise.race([this.#readPauses(signal).catch(() => undefined), aborted(signal)]);
    }
  }

  async #readPauses(signal?: AbortSignal): Promise<void> {
    const rows = await selectPauses(this.#leaseDatabase);
    if (signal?.aborted === true) return;
    this.#pauses = new Map(
      rows.map(({ station, by, reason, since }) => [station, { by, reason, since: toMillis(since) }]),
    );
  }
}

function iso(millis: number): string {
  return new Date(millis).toISOString();
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
