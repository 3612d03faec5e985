/** The series of msgx as lines of charts: units that people read, and nothing where there is nothing. Pure. */
import type { Series } from '../api/operate.ts';

/** Values per moment; null leaves a gap. */
export type Line = readonly (number | null)[];

export interface Charts {
  /** Begins of the buckets, s since 1970. */
  readonly at: readonly number[];
  /** Per minute. */
  readonly throughput: { readonly enqueued: Line; readonly finished: Line; readonly sent: Line };
  /** Seconds. */
  readonly latency: { readonly processP50: Line; readonly processP99: Line; readonly deliverP99: Line };
  readonly backlog: Line;
}

export function chartsOf(series: Series): Charts {
  const { at, bucketSeconds, process, deliver } = series;
  // The newest bucket is not over yet: as a rate it would always fall.
  const rate = (counts: readonly number[]): Line =>
    counts.map((count, index) => (index === at.length - 1 ? null : (count * 60) / bucketSeconds));
  const seconds = (values: Line): Line => values.map((value) => (value === null ? null : value / 1_000));
  return {
    at,
    throughput: {
      ...{ enqueued: rate(series.enqueued), finished: rate(series.finished), sent: rate(series.sent) },
    },
    latency: {
      ...{ processP50: seconds(process.p50), processP99: seconds(process.p99) },
      deliverP99: seconds(deliver.p99),
    },
    backlog: series.backlog,
  };
}

/** What a line says in short: its last value and its highest; null where it has none. */
export function summaryOf(line: Line): { readonly newest: number | null; readonly peak: number | null } {
  const values = line.filter((value) => value !== null);
  return { newest: values.at(-1) ?? null, peak: values.length === 0 ? null : Math.max(...values) };
}
