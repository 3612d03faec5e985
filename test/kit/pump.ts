/** A pump on a test database, with a clock that moves only when the pump waits. */
import { ManualClock } from '../../src/runtime/clock.ts';
import { SILENT, type Log } from '../../src/runtime/log.ts';
import { createMetrics, type Metrics } from '../../src/runtime/metrics.ts';
import type { Round } from '../../src/runtime/station.ts';
import type { PumpContext } from '../../src/pump/context.ts';
import { Pump } from '../../src/pump/pump.ts';
import { JSON_DIALECT } from './json-dialect.ts';
import type { TestDatabase } from './postgres.ts';

/** 2026-03-14T06:00 at the airport. */
export const START = Date.UTC(2026, 2, 13, 22);

/** The default tiers (contract, `pipeline.retry`). */
export const TIERS = {
  maxAttempts: 5,
  backoffMs: [1_000, 5_000, 30_000, 120_000],
  capabilityBackoffMs: [1_000, 1_000, 1_000, 1_000],
} as const;

export interface TestPump {
  readonly pump: Pump;
  readonly clock: ManualClock;
  readonly metrics: Metrics;
  readonly log: readonly LogLine[];
  /** Messages that ended, as told by `onProgress`. */
  progress(): number;
  tick(): Promise<Round>;
  /** Ticks until the pump rests with nothing to wait for; the clock jumps to each due time. Gives the ticks made. */
  drain(): Promise<number>;
}

export interface LogLine {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** Creates a pump; what is given overrides the defaults of the configuration. */
export function createPump({ database }: TestDatabase, overrides: Partial<PumpContext> = {}): TestPump {
  const clock = new ManualClock(START);
  const metrics = createMetrics();
  const log: LogLine[] = [];
  let progress = 0;
  const pump = new Pump({
    database,
    mailbox: { texts: async () => new Map() },
    dialect: JSON_DIALECT,
    fence: null,
    clock,
    log: logInto(log),
    metrics,
    timeZone: 'Asia/Shanghai',
    operationDayCutoff: '00:00',
    includeDayBoundary: true,
    publication: { vipPersons: false },
    commitBatch: 500,
    batchBytes: 16 << 20,
    maxMessageBytes: 8 << 20,
    retry: TIERS,
    onProgress: (ended) => {
      progress += ended;
    },
    ...overrides,
  });
  return {
    pump,
    clock,
    metrics,
    log,
    progress: () => progress,
    tick: () => pump.tick(),
    drain: async () => {
      for (let ticks = 1; ticks < 100_000; ticks++) {
        const round = await pump.tick();
        if (round.next === 'now') continue;
        if (round.until === null) return ticks;
        clock.advance(round.until - clock.now());
      }
      throw new Error('the pump does not come to rest');
    },
  };
}

function logInto(lines: LogLine[]): Log {
  const at = (level: string) => (fields: object, message: string) => {
    lines.push({ level, fields: fields as Record<string, unknown>, message });
  };
  return { ...SILENT, info: at('info'), warn: at('warn'), error: at('error') };
}

/** Value of a counter or gauge with these labels; 0 where it was never set. */
export async function metricValue(
  metric: { get(): Promise<{ values: readonly { value: number; labels: object }[] }> },
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const { values } = await metric.get();
  const wanted = Object.entries(labels);
  return values
    .filter((entry) =>
      wanted.every(([name, value]) => (entry.labels as Record<string, string>)[name] === value),
    )
    .reduce((sum, { value }) => sum + value, 0);
}
