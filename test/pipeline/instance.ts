/** One instance of msgx as far as its stations go: built anew after a crash and at each takeover. */
import { Backfill } from '../../src/backfill/backfill.ts';
import { Delivery } from '../../src/delivery/delivery.ts';
import type { Sink } from '../../src/delivery/port.ts';
import type { Clock } from '../../src/domain/clock.ts';
import { LateScan } from '../../src/inbox/late-scan.ts';
import { InboxPoller } from '../../src/inbox/poller.ts';
import type { Mailbox } from '../../src/mailbox/port.ts';
import { Pump } from '../../src/pump/pump.ts';
import type { Dialect } from '../../src/dialect/port.ts';
import { SILENT } from '../../src/runtime/log.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import type { Round } from '../../src/runtime/station.ts';
import { Database } from '../../src/store/database.ts';
import { TIME_ZONE } from '../kit/pipeline.ts';
import type { HoleRules } from '../model/mailbox.ts';
import type { Setting, Station } from './commands.ts';
import { Gate } from './gate.ts';

export interface InstanceParts {
  readonly url: string;
  /** Its sessions bear it. */
  readonly name: string;
  readonly epoch: bigint;
  readonly mailbox: Mailbox;
  readonly sink: Sink;
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly setting: Setting;
  readonly rules: HoleRules;
}

export interface Instance {
  readonly name: string;
  readonly gate: Gate;
  round(station: Station): Promise<Round>;
  close(): Promise<void>;
}

const SECOND = 1_000;

export function createInstance(parts: InstanceParts): Instance {
  const { url, name, epoch, clock, setting, rules, dialect } = parts;
  const database = new Database({ url, schema: 'msgx', applicationName: name, maxConnections: 3 });
  const gate = new Gate(database);
  const mailbox = gate.mailbox(parts.mailbox);
  const metrics = createMetrics();
  const fence = { epoch };
  const bounds = { maxMessageBytes: 1 << 20, batchBytes: 1 << 20 };
  const publication = { vipPersons: false };
  const inboxOn = { database, mailbox, clock, metrics, logger: SILENT, fence: () => fence };
  const common = { database, fence, clock, metrics, log: SILENT };
  const { claimBatch, commitBatch, holeRelease } = setting;
  const poller = new InboxPoller({
    ...inboxOn,
    options: { ...bounds, ...rules, claimBatch, holeRelease, pollIntervalMs: 500, shadow: false },
  });
  const scan = new LateScan({
    ...inboxOn,
    // A window of one ID: what is found is found in the released holes.
    options: {
      ...bounds,
      claimBatch,
      intervalMs: 10 * SECOND,
      window: 1,
      retentionMs: 72 * 3_600 * SECOND,
      shadow: false,
    },
  });
  const waits = [SECOND, SECOND, SECOND, SECOND];
  const pump = new Pump({
    ...common,
    ...bounds,
    mailbox,
    dialect,
    publication,
    commitBatch,
    timeZone: TIME_ZONE,
    operationDayCutoff: '00:00',
    includeDayBoundary: true,
    retry: { maxAttempts: 5, backoffMs: waits, capabilityBackoffMs: waits },
  });
  const delivery = new Delivery({
    ...common,
    publication,
    sink: gate.sink(parts.sink),
    airport: 'HGH',
    timeZone: TIME_ZONE,
    batch: 500,
    retry: { maxAttempts: 100, backoffMs: Array.from({ length: 99 }, () => SECOND) },
    flushLimit: 500,
    flushIntervalMs: SECOND,
  });
  const backfill = new Backfill({
    ...common,
    mailbox,
    batch: 500,
    deadlineMs: 24 * 3_600 * SECOND,
    alarmAttempts: 20,
    shadow: false,
  });
  const rounds: Readonly<Record<Station, () => Promise<Round>>> = {
    inbox: () => poller.round(),
    scan: () => scan.round(),
    pump: () => pump.tick(),
    delivery: () => delivery.round(),
    backfill: () => backfill.round(),
  };
  return {
    name,
    gate,
    round: (station) => rounds[station](),
    close: () => database.close(),
  };
}
