/** Judges PromQL queries by the metrics that msgx has. */
import { metricsCatalogue, type MetricEntry } from '../../src/runtime/metrics-reference.ts';
import { readQuery } from './promql.ts';

/** Labels that Prometheus puts on every series of a target. */
const TARGET_LABELS = ['job', 'instance'];
const COUNTING = ['rate', 'irate', 'increase', 'resets'];
const GAUGING = ['delta', 'idelta', 'deriv', 'predict_linear'];

/** Everything wrong with a query, one line each; empty where it can work. */
export function faultsOf(text: string, catalogue: readonly MetricEntry[] = metricsCatalogue()): string[] {
  const query = readQuery(text);
  const faults = query.errors.map((error) => `is no PromQL ${error}`);
  const known = new Set<string>();
  for (const { metric: name, labels, rangeFunction } of query.selected) {
    const series = seriesOf(catalogue, name);
    if (series === null) {
      faults.push(`no metric ${name}`);
      continue;
    }
    series.labels.forEach((label) => known.add(label));
    for (const label of labels)
      if (!series.labels.includes(label)) faults.push(`${name} has no label ${label}`);
    if (rangeFunction !== null && COUNTING.includes(rangeFunction) && !series.counts) {
      faults.push(`${rangeFunction} of the gauge ${name}`);
    }
    if (rangeFunction !== null && GAUGING.includes(rangeFunction) && series.counts) {
      faults.push(`${rangeFunction} of ${name}, which is no gauge`);
    }
  }
  for (const label of query.grouped)
    if (!known.has(label)) faults.push(`no metric here has the label ${label}`);
  return faults;
}

/** The metrics of the catalogue that a query reads. */
export function metricsIn(text: string, catalogue: readonly MetricEntry[] = metricsCatalogue()): string[] {
  return readQuery(text).selected.flatMap(({ metric }) => seriesOf(catalogue, metric)?.metric ?? []);
}

interface Series {
  readonly metric: string;
  readonly labels: readonly string[];
  /** Whether it only ever rises. */
  readonly counts: boolean;
}

function seriesOf(catalogue: readonly MetricEntry[], name: string): Series | null {
  for (const { name: metric, type, labels } of catalogue) {
    // A scraped label that a target has too is put aside: `job` of an upkeep job is read as `exported_job`.
    const scraped = labels.map((label) => (TARGET_LABELS.includes(label) ? `exported_${label}` : label));
    const all = [...TARGET_LABELS, ...scraped];
    if (type !== 'histogram' && name === metric) return { metric, labels: all, counts: type === 'counter' };
    if (type !== 'histogram') continue;
    if (name === `${metric}_bucket`) return { metric, labels: [...all, 'le'], counts: true };
    if (name === `${metric}_sum` || name === `${metric}_count`) return { metric, labels: all, counts: true };
  }
  return null;
}
