/**
 * The stations of the active instance, wired: inbox → pump → delivery; backfill and requests beside. Built anew for each
 * lease, with its fence and a clock anchored to the database, and stopped as a whole.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Backfill } from '../backfill/backfill.ts';
import type { Config } from '../config/schema.ts';
import { Delivery } from '../delivery/delivery.ts';
import type { Sink, SinkRecord } from '../delivery/port.ts';
import type { Dialect } from '../dialect/port.ts';
import type { Clock } from '../domain/clock.ts';
import type { Publication } from '../domain/event.ts';
import { InboxFault } from '../inbox/fault.ts';
import { LateScan } from '../inbox/late-scan.ts';
import { InboxPoller } from '../inbox/poller.ts';
import { seedInboxOrStop } from '../inbox/seeding.ts';
import type { Mailbox } from '../mailbox/port.ts';
import type { Log } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { RequestCoordinator } from '../requests/coordinator.ts';
import { AGAIN, restUntil, type Round, type StationName } from '../runtime/station.ts';
import type { Database } from '../store/database.ts';
import { RecentTexts } from '../store/recent-texts.ts';
import type { Fence } from '../store/transaction.ts';
import { Pump } from '../pump/pump.ts';
import { Upkeep } from '../upkeep/jobs/upkeep.ts';
import { StationLoop } from './loop.ts';
import { partitionMemory } from './partitions.ts';
import type { Rates } from './rates.ts';
import type { Resources } from './resources.ts';
import { RestoreCheck } from './restore.ts';
import { openSink } from './sink.ts';
import { verifyTargetOf } from './verify-target.ts';

/** Pause between two looks for requests to be sent or expired, ms: a request of an operator waits no longer. */
const REQUESTS_INTERVAL_MS = 1_000;
/** Longest pause between two looks whether an upkeep job is due, ms. */
const UPKEEP_INTERVAL_MS = 60_000;

/** A pause that an operator has set. */
export interface Pause {
  readonly by: string;
  readonly reason: string;
  readonly since: number;
}

export interface PipelineOptions {
  readonly resources: Resources;
  readonly fence: Fence;
  readonly clock: Clock;
  readonly log: Log;
  readonly logOf: (station: StationName) => Log;
  readonly metrics: Metrics;
  readonly rates: Rates;
  readonly pauseOf: (station: StationName) => Pause | null;
  /** The lease is lost: stop everything. */
  readonly onLost: () => void;
  /** Told of every batch that the sink has accepted. */
  readonly onAccepted?: (records: readonly SinkRecord[]) => void;
  /** A station cannot go on and says why (e.g. the mailbox's IDs have started again). */
  readonly onFault: (fault: InboxFault) => void;
}

export class Pipeline {
  readonly loops: readonly StationLoop[];
  readonly #sink: Sink;
  readonly #databases: readonly Database[];
  readonly #mailbox: Mailbox;
  readonly #delivery: Delivery;
  readonly #poller: InboxPoller;

  constructor(options: PipelineOptions) {
    const { resources, clock, metrics, rates, fence } = options;
    const { config, database, dialect } = resources;
    const { pipeline } = config;
    const common = { database, fence, clock, metrics };
    const mailbox = resources.mailbox;
    this.#databases = [database, resources.upkeepDatabase];
    this.#mailbox = mailbox;
    this.#sink = openSink(config, {
      // A transaction that begins with the fence and does nothing: it throws LostLease.
      confirmActive: () => database.transaction(async () => undefined, { fence }),
      partitions: partitionMemory(database, fence, clock),
    });

    const restore = new RestoreCheck({
      ...{ database, mailbox, dialect, fence, clock, log: options.log },
      target: verifyTargetOf(config),
      airport: config.airport,
      timeZone: config.timeZone,
      sender: config.sender,
      clockSkewMs: config.requests.clockSkewMs,
      publication: publicationOf(config, dialect),
      shadow: pipeline.shadow,
    });
    const bounds = {
      claimBatch: pipeline.claimBatch,
      batchBytes: pipeline.batchBytes,
      maxMessageBytes: config.maxMessageBytes,
      shadow: pipeline.shadow,
    };
    const recentTexts = new RecentTexts();
    const inboxOn = { database, mailbox, clock, metrics, fence: () => fence, logger: options.logOf('inbox') };
    this.#poller = new InboxPoller({
      ...inboxOn,
      recentTexts,
      options: {
        ...bounds,
        maxCommitDelayMs: pipeline.maxCommitDelayMs,
        maxHoleHoldMs: pipeline.maxHoleHoldMs,
        holeRelease: pipeline.holeRelease,
        pollIntervalMs: pipeline.pollIntervalMs,
      },
      onProgress: ({ enqueued }) => {
        rates.add('inbox', enqueued);
        this.#wake('pump');
      },
    });
    const lateScan = new LateScan({
      ...inboxOn,
      options: {
        ...bounds,
        intervalMs: pipeline.lateScanIntervalMs,
        window: pipeline.lateScanWindow,
        retentionMs: config.mailbox.retentionMs,
      },
      onFound: (messages) => {
        rates.add('inbox', messages);
        this.#wake('pump');
      },
    });
    const pump = new Pump({
      ...common,
      mailbox,
      dialect,
      log: options.logOf('pump'),
      timeZone: config.timeZone,
      operationDayCutoff: config.operationDayCutoff,
      includeDayBoundary: config.identity.includeDayBoundary,
      publication: publicationOf(config, dialect),
      commitBatch: pipeline.commitBatch,
      batchBytes: pipeline.batchBytes,
      maxMessageBytes: config.maxMessageBytes,
      retry: pipeline.retry,
      recentTexts,
      versionFloors: restore.floors,
      ...(pipeline.shadow
        ? {}
        : {
            requests: {
              sender: config.sender,
              clockSkewMs: config.requests.clockSkewMs,
              errorReports: config.requests.errorReports,
              onDeadSchedule: config.requests.onDeadSchedule,
            },
          }),
      onProgress: (messages) => {
        rates.add('pump', messages);
        this.#wake('delivery');
      },
    });
    this.#delivery = new Delivery({
      ...common,
      sink: counted(this.#sink, (records) => {
        rates.add('delivery', records.length);
        options.onAccepted?.(records);
      }),
      log: options.logOf('delivery'),
      airport: config.airport,
      timeZone: config.timeZone,
      publication: publicationOf(config, dialect),
      batch: config.delivery.batch,
      retry: config.delivery.retry,
      flushLimit: config.schd.flushLimit,
      flushIntervalMs: config.schd.flushIntervalMs,
    });
    const backfill = new Backfill({
      database,
      fence,
      clock,
      mailbox: {
        mark: async (ids) => {
          const results = await mailbox.mark(ids);
          rates.add('backfill', results.size);
          return results;
        },
        probe: () => mailbox.probe(),
      },
      log: options.logOf('backfill'),
      batch: pipeline.backfillBatch,
      deadlineMs: pipeline.backfillDeadlineMs,
      alarmAttempts: pipeline.backfillMaxAttempts,
      shadow: pipeline.shadow,
    });

    const requests = new RequestCoordinator({
      database,
      fence,
      clock,
      mailbox,
      dialect,
      log: options.logOf('requests'),
      sender: config.sender,
      timeZone: config.timeZone,
      operationDayCutoff: config.operationDayCutoff,
      mailboxTimeoutMs: config.mailbox.timeoutMs,
      timeoutMs: config.requests.timeoutMs,
      onStart: config.requests.onStart,
      dailyAt: config.requests.dailyAt,
      routing: config.requests.routing,
      shadow: pipeline.shadow,
      onSent: () => rates.add('requests', 1),
    });

    const upkeep = new Upkeep({
      ...{ database: resources.upkeepDatabase, fence, clock, metrics, log: options.log },
      timeZone: config.timeZone,
      operationDayCutoff: config.operationDayCutoff,
      publication: publicationOf(config, dialect),
      retention: {
        flightsMs: config.flights.retentionMs,
        procStateMs: config.procState.retentionMs,
        rawMs: config.raw.retentionMs,
        eventsMs: pipeline.eventRetentionMs,
        snapLogMs: config.snapLog.retentionMs,
      },
    });

    let seeded = false;
    const inboxRound = async (): Promise<Round> => {
      if (!seeded) {
        await seedInboxOrStop({ ...inboxOn, setting: pipeline.cutoverWatermark });
        seeded = true;
      }
      await restore.beforeInbox();
      const polled = await this.#poller.round();
      const scanned = await lateScan.round();
      await restore.settle();
      return polled.next === 'now' || scanned.next === 'now' ? AGAIN : earlier(polled, scanned);
    };
    const loop = (name: StationName | 'upkeep', intervalMs: number, round: () => Promise<Round>) =>
      new StationLoop({
        name,
        intervalMs,
        clock,
        log: options.log,
        // Upkeep is no station: nobody pauses it.
        paused: () => (name === 'upkeep' ? null : options.pauseOf(name)),
        onLost: options.onLost,
        isFatal: (error) => {
          if (!(error instanceof InboxFault)) return false;
          options.onFault(error);
          return true;
        },
        round,
      });
    this.loops = [
      loop('inbox', pipeline.pollIntervalMs, inboxRound),
      loop('pump', pipeline.pollIntervalMs, async () => {
        await restore.beforePump();
        return pump.tick();
      }),
      loop('delivery', Math.min(config.schd.flushIntervalMs, 1_000), async () => {
        await restore.beforeDelivery();
        return this.#delivery.round();
      }),
      loop('backfill', pipeline.backfillIntervalMs, () => backfill.round()),
      loop('requests', REQUESTS_INTERVAL_MS, async () => {
        await restore.beforeRequests();
        return requests.round();
      }),
      loop('upkeep', UPKEEP_INTERVAL_MS, async () => {
        // An archived flight is told: versions and event IDs must be known to be new.
        await restore.beforePump();
        return upkeep.round();
      }),
    ];
  }

  /** When the sink last acknowledged something, ms; null where it has not yet. */
  get lastAckAt(): number | null {
    return this.#delivery.lastAckAt;
  }

  /** When the mailbox was last read, ms; null where it was not yet. */
  get mailboxReadAt(): number | null {
    return this.#poller.readAt;
  }

  start(): void {
    this.#mailbox.onInsert?.(() => {
      this.wakeInbox();
    });
    for (const loop of this.loops) loop.start();
  }

  /** Looks into the mailbox at once. */
  wakeInbox(): void {
    this.#wake('inbox');
  }

  /**
   * Lets each station finish its round, then closes the sink. Rounds that take longer than `graceMs` wait for
   * somebody who does not answer: their sends and their sessions in our database are ended.
   */
  async stop(graceMs = 60_000): Promise<void> {
    this.#mailbox.onInsert?.(null);
    const over = new AbortController();
    const stopped = Promise.all(this.loops.map((loop) => loop.stop())).finally(() => over.abort());
    const inTime = await sleep(graceMs, false, { signal: over.signal }).catch(() => true);
    const closed = this.#sink.close();
    if (!inTime) for (const database of this.#databases) database.dropConnections();
    await Promise.all([stopped, closed]);
  }

  #wake(name: StationName): void {
    this.loops.find((loop) => loop.name === name)?.wake();
  }
}

/** A sink that tells what it has accepted. */
function counted(sink: Sink, tell: (records: readonly SinkRecord[]) => void): Sink {
  return {
    kind: sink.kind,
    send: async (records) => {
      const sent = await sink.send(records);
      if (sent.outcome === 'accepted') tell(records);
      return sent;
    },
    probe: () => sink.probe(),
    close: () => sink.close(),
  };
}

/** The rest that ends first. */
function earlier(left: Round, right: Round): Round {
  if (left.next === 'now' || right.next === 'now') return AGAIN;
  if (left.until === null) return right;
  return right.until === null ? left : restUntil(Math.min(left.until, right.until));
}

/** What events carry (contract, `events.*`). */
function publicationOf({ events }: Config, { names }: Dialect): Publication {
  const { vipPersons } = events;
  return events.names && names !== undefined ? { vipPersons, names } : { vipPersons };
}
