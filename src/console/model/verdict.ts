/** What is wrong, worst first: the judgement behind the page's one sentence. Pure. */
import type { Connection, Head, Hole, Station, Status, Target } from '../api/types.ts';

/** stop: nothing gets through. person: somebody has to act. wait: it passes by itself. info, ok: nothing to do. */
export type Severity = 'stop' | 'person' | 'wait' | 'info' | 'ok';

/** One finding. The sentence for it is in the dictionaries (i18n/). */
export type Finding = { readonly severity: Severity; readonly until: string | null } & (
  | { readonly kind: 'stream-lost'; readonly since: number }
  | { readonly kind: 'outage'; readonly station: Station }
  | { readonly kind: 'stopped'; readonly station: Station }
  | { readonly kind: 'paused'; readonly station: Station }
  | { readonly kind: 'head-failed'; readonly head: Head }
  | { readonly kind: 'head-waits'; readonly head: Head }
  | { readonly kind: 'dead-schedules'; readonly count: number }
  | { readonly kind: 'dead-messages'; readonly count: number }
  | { readonly kind: 'dead-events'; readonly count: number; readonly target: Target }
  | { readonly kind: 'hole'; readonly hole: Hole }
  | { readonly kind: 'mailbox-silent'; readonly readAt: string }
  | {
      readonly kind: 'outbox-old';
      readonly target: Target;
      readonly pending: number;
      readonly seconds: number;
    }
  | { readonly kind: 'abandoned'; readonly count: number }
  | { readonly kind: 'job-failing'; readonly job: string; readonly error: string | null }
  | { readonly kind: 'standby' }
  | { readonly kind: 'flowing'; readonly perMinute: number }
);

/** The mailbox is read at least each second; half a minute without is news. */
const READ_SILENCE_MS = 30_000;
/** A message that is due is taken within a moment; ten seconds at the head is news. */
const HEAD_PATIENCE_MS = 10_000;
const OUTBOX_PATIENCE_SECONDS = 60;

/**
 * Every finding, worst first; `flowing` where there is none.
 * @param now msgx's clock in ms
 */
export function judge(status: Status, connection: Connection, now: number): readonly [Finding, ...Finding[]] {
  const findings = [
    ...stream(connection),
    ...deadSchedules(status),
    ...stations(status),
    ...headOfLine(status, now),
    ...dead(status),
    ...inbox(status, now),
    ...outbox(status),
    ...abandoned(status),
    ...jobs(status),
    ...role(status),
  ].sort((left, right) => RANK[left.severity] - RANK[right.severity]);
  const [first, ...others] = findings;
  if (first !== undefined) return [first, ...others];
  const pump = status.stations.find((station) => station.name === 'pump');
  return [{ kind: 'flowing', severity: 'ok', until: null, perMinute: pump?.perMinute ?? 0 }];
}

const RANK: Readonly<Record<Severity, number>> = { stop: 0, person: 1, wait: 2, info: 3, ok: 4 };

function stream(connection: Connection): Finding[] {
  if (connection.state !== 'lost') return [];
  return [{ kind: 'stream-lost', severity: 'stop', until: null, since: connection.since }];
}

function stations(status: Status): Finding[] {
  return status.stations.flatMap((station): Finding[] => {
    // The messages themselves flow on without marks and requests.
    const beside = station.name === 'backfill' || station.name === 'requests';
    switch (station.state) {
      case 'running':
        return [];
      case 'outage':
        return [{ kind: 'outage', severity: beside ? 'wait' : 'stop', until: null, station }];
      case 'paused':
        return [{ kind: 'paused', severity: beside ? 'person' : 'stop', until: null, station }];
      case 'stopped':
        // A standby's stations stand still because another instance does the work.
        if (status.role === 'standby') return [];
        return [{ kind: 'stopped', severity: beside ? 'person' : 'stop', until: null, station }];
    }
  });
}

function headOfLine(status: Status, now: number): Finding[] {
  const head = status.head;
  if (head === null || status.role === 'standby') return [];
  // Everything behind the head waits too, so a failing head is a stop even though it is tried again.
  if (head.state === 'FAILED') {
    return [{ kind: 'head-failed', severity: 'stop', until: head.nextAttemptAt, head }];
  }
  const running = status.stations.some((station) => station.name === 'pump' && station.state === 'running');
  if (!running || now - Date.parse(head.enqueuedAt) < HEAD_PATIENCE_MS) return [];
  return [{ kind: 'head-waits', severity: 'wait', until: head.nextAttemptAt, head }];
}

/** A day without its schedule comes before everything: whatever follows for its flights finds none. */
function deadSchedules({ counts: { deadSchedules: count } }: Status): Finding[] {
  return count === 0 ? [] : [{ kind: 'dead-schedules', severity: 'stop', until: null, count }];
}

function dead(status: Status): Finding[] {
  const findings: Finding[] = [];
  const messages = (status.counts.byState.DEAD ?? 0) - status.counts.deadSchedules;
  if (messages > 0)
    findings.push({ kind: 'dead-messages', severity: 'person', until: null, count: messages });
  for (const { target, dead: count } of status.outbox) {
    if (count > 0) findings.push({ kind: 'dead-events', severity: 'person', until: null, count, target });
  }
  return findings;
}

function inbox(status: Status, now: number): Finding[] {
  const findings: Finding[] = [];
  // Only the hole right above the watermark holds the inbox; the others ripen behind it.
  const hole = status.inbox.holeSince === null ? undefined : status.inbox.holes[0];
  if (hole !== undefined) findings.push({ kind: 'hole', severity: 'wait', until: hole.releasesAt, hole });
  const { readAt } = status.inbox;
  const reading = status.stations.some((station) => station.name === 'inbox' && station.state === 'running');
  if (reading && readAt !== null && now - Date.parse(readAt) > READ_SILENCE_MS) {
    findings.push({ kind: 'mailbox-silent', severity: 'stop', until: null, readAt });
  }
  return findings;
}

function outbox(status: Status): Finding[] {
  const delivering = status.stations.some(({ name, state }) => name === 'delivery' && state === 'running');
  if (!delivering) return [];
  return status.outbox.flatMap(({ target, pending, oldestSeconds }): Finding[] => {
    const seconds = oldestSeconds ?? 0;
    if (pending === 0 || seconds < OUTBOX_PATIENCE_SECONDS) return [];
    return [{ kind: 'outbox-old', severity: 'wait', until: null, target, pending, seconds }];
  });
}

function abandoned(status: Status): Finding[] {
  const { MISSING_ROW: missing = 0, TRANSIENT_DEADLINE: deadline = 0 } = status.backfill.abandoned;
  const count = missing + deadline;
  return count === 0 ? [] : [{ kind: 'abandoned', severity: 'person', until: null, count }];
}

function jobs(status: Status): Finding[] {
  return status.jobs.flatMap(({ job, state, error }): Finding[] =>
    state === 'failing' ? [{ kind: 'job-failing', severity: 'person', until: null, job, error }] : [],
  );
}

function role(status: Status): Finding[] {
  return status.role === 'standby' ? [{ kind: 'standby', severity: 'info', until: null }] : [];
}
