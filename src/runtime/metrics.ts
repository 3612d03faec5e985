/**
 * Every metric of msgx, in one place (contract, "Metrics"). The reference in docs/metrics.md is generated
 * from here. Names are part of the contract: they never change their meaning.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Creates the metrics in a registry of their own, so that two pipelines in one process do not mix. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const gauge = <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge<L>({ name, help, labelNames: [...labelNames], registers });
  const counter = <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter<L>({ name, help, labelNames: [...labelNames], registers });
  const histogram = <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Histogram<L>({ name, help, labelNames: [...labelNames], buckets: SECONDS, registers });

  return {
    registry,
    active: gauge('msgx_active', '1 where this instance holds the lease, 0 on a standby.'),
    buildInfo: gauge('msgx_build_info', 'Always 1; the labels tell the version.', ['version', 'node']),
    stationPaused: gauge('msgx_station_paused', '1 where a station is paused, by an operator or an outage.', [
      'station',
      'by',
    ]),
    watermark: gauge('msgx_watermark', 'W: every mailbox ID up to here has been read in.'),
    watermarkLag: gauge('msgx_watermark_lag_ids', 'Highest ID in the mailbox minus W.'),
    holeAge: gauge('msgx_hole_age_seconds', 'Age of the hole at W + 1; 0 where there is none.'),
    permanentHoles: counter('msgx_permanent_holes_total', 'IDs released as permanently missing.'),
    lateArrivals: counter('msgx_late_arrivals_total', 'Messages found at or below W by the late scan.'),
    oldestUnprocessed: gauge(
      'msgx_pipeline_backlog_oldest_unprocessed_seconds',
      'Age of the head of line since it was enqueued; 0 where the queue is empty.',
    ),
    headBlocked: gauge('msgx_head_blocked_seconds', 'How long the head of line has been failing.'),
    messages: counter('msgx_messages_total', 'Messages that reached a terminal state.', [
      'type',
      'styp',
      'outcome',
    ]),
    processSeconds: histogram('msgx_process_seconds', 'Time of one pump transaction.'),
    endToEndSeconds: histogram(
      'msgx_end_to_end_seconds',
      'Enqueued to acknowledged by the sink, per KAFKA:msg event.',
    ),
    lastMessageAge: gauge('msgx_last_message_age_seconds', 'Since the last message was enqueued.'),
    mailboxReadAge: gauge('msgx_mailbox_read_age_seconds', 'Since the mailbox was last read successfully.'),
    ackAge: gauge('msgx_ack_age_seconds', 'Since the sink last acknowledged a batch.'),
    outboxPending: gauge('msgx_outbox_pending', 'Events not yet sent.', ['target']),
    outboxOldest: gauge('msgx_outbox_oldest_seconds', 'Age of the oldest event not yet sent.', ['target']),
    delivery: counter('msgx_delivery_total', 'Events by what became of them.', ['target', 'outcome']),
    backfillOwed: gauge('msgx_backfill_owed', 'Terminal messages whose mailbox mark is still owed.'),
    backfillAbandoned: gauge('msgx_backfill_abandoned', 'Marks given up, waiting for a human.', ['reason']),
    deadMessages: gauge('msgx_dead_messages', 'Messages in state DEAD.', ['class']),
    deadSchedules: gauge('msgx_dead_schedules', 'Schedules (SCHD) in state DEAD: look at these first.'),
    deadEvents: gauge('msgx_dead_events', 'Events in state DEAD.'),
    duplicateMismatch: counter(
      'msgx_duplicate_mismatch_total',
      'Duplicates whose content differs from their original.',
    ),
    duplicateOfDead: counter('msgx_duplicate_of_dead_total', 'Duplicates whose original is DEAD.'),
    seqnReset: counter(
      'msgx_seqn_reset_suspected_total',
      'Duplicates with other content and a newer DTTM: has the sender restarted its counter?',
    ),
    unmatchedStand: counter(
      'msgx_unmatched_stand_total',
      'Push-backs or tractors for a stand the flight does not have.',
    ),
    unknownElements: counter('msgx_unknown_elements_total', 'XML elements the profile does not know.'),
    requests: gauge('msgx_requests', 'Upstream requests by state.', ['state']),
    jobSeconds: histogram(
      'msgx_job_seconds',
      'Duration of upkeep jobs: a run at work, its pauses excluded.',
      ['job'],
    ),
    jobRows: counter('msgx_job_rows_total', 'Rows that upkeep jobs have archived or deleted.', ['job']),
    jobFailures: gauge('msgx_job_failures', 'Failures of an upkeep job since it last went well.', ['job']),
    jobAge: gauge(
      'msgx_job_age_seconds',
      'Since an upkeep job last came to its end, or first began; 0 before.',
      ['job'],
    ),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
