import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { metricsReference } from '../../src/runtime/metrics-reference.ts';

/** As the contract names them, with their labels. */
const CONTRACT = `msgx_active msgx_build_info{version,node} msgx_station_paused{station,by} msgx_watermark
  msgx_watermark_lag_ids msgx_hole_age_seconds msgx_permanent_holes_total msgx_late_arrivals_total
  msgx_pipeline_backlog_oldest_unprocessed_seconds msgx_head_blocked_seconds msgx_messages_total{type,styp,outcome}
  msgx_process_seconds msgx_end_to_end_seconds msgx_last_message_age_seconds msgx_mailbox_read_age_seconds
  msgx_ack_age_seconds msgx_outbox_pending{target} msgx_outbox_oldest_seconds{target}
  msgx_delivery_total{target,outcome} msgx_backfill_owed msgx_backfill_abandoned{reason} msgx_dead_messages{class}
  msgx_dead_schedules msgx_dead_events msgx_duplicate_mismatch_total msgx_duplicate_of_dead_total
  msgx_seqn_reset_suspected_total msgx_unmatched_stand_total msgx_unknown_elements_total msgx_requests{state}
  msgx_job_seconds{job}`
  .split(/\s+/)
  .sort();
/** Beyond the contract. */
const OWN = ['msgx_job_rows_total{job}', 'msgx_job_failures{job}', 'msgx_job_age_seconds{job}'];

test('the metrics are those of the contract and a few of our own, labels included', () => {
  const { registry, ...metrics } = createMetrics();
  const names = Object.values(metrics).map((metric) => {
    const { name, labelNames } = metric as unknown as { name: string; labelNames: readonly string[] };
    return labelNames.length === 0 ? name : `${name}{${labelNames.join(',')}}`;
  });
  expect(names.sort()).toEqual([...CONTRACT, ...OWN].sort());
  expect(registry.getMetricsAsArray()).toHaveLength(names.length);
});

test('docs/metrics.md is current (scripts/generate-reference.ts)', async () => {
  const committed = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
  expect(committed).toBe(metricsReference());
});
