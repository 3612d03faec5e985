/** What msgx might say of itself: all well, and several things wrong at once. */
import type { Status } from '../../src/console/api/types.ts';

/** A status in which everything flows. */
export function calmStatus(now: number): Status {
  const ago = (seconds: number): string => new Date(now - seconds * 1000).toISOString();
  const station = (
    name: Status['stations'][number]['name'],
    perMinute: number,
  ): Status['stations'][number] => ({
    name,
    state: 'running',
    by: null,
    reason: null,
    since: null,
    perMinute,
  });
  return {
    airport: 'CSX',
    timeZone: 'Asia/Shanghai',
    version: '0.1.0',
    role: 'active',
    now: new Date(now).toISOString(),
    shadow: false,
    stations: [
      station('inbox', 44),
      station('pump', 42),
      station('delivery', 61),
      station('backfill', 42),
      station('requests', 0),
    ],
    inbox: {
      watermark: '18234',
      highest: '18234',
      lag: 0,
      holeSince: null,
      holes: [],
      permanentHoles: 12,
      lateArrivals: 1,
      readAt: ago(0.4),
    },
    head: null,
    counts: { byState: { SUCCEEDED: 17_820, SKIPPED: 402 }, byClass: {}, deadSchedules: 0 },
    jobs: [],
    outbox: [
      { target: 'KAFKA:msg', pending: 0, oldestSeconds: null, sent: 21_456, dead: 0 },
      { target: 'KAFKA:schd', pending: 0, oldestSeconds: null, sent: 9_120, dead: 0 },
    ],
    backfill: { owed: 6, confirmed: 18_210, abandoned: {} },
    requests: {
      byState: { PENDING: 1, SENT: 1, DONE: 60, EXPIRED: 2 },
      reports: { waiting: 13, sent: 27 },
    },
    last: { enqueuedAt: ago(1), processedAt: ago(1), sentAt: ago(2), markedAt: ago(4) },
  };
}

/** The same with a failing head, a hole behind it, dead messages and a paused station. */
export function troubledStatus(now: number, since: number): Status {
  const calm = calmStatus(now);
  const ahead = (seconds: number): string => new Date(since + seconds * 1000).toISOString();
  return {
    ...calm,
    stations: calm.stations.map((station) =>
      station.name === 'requests'
        ? {
            ...station,
            state: 'paused',
            by: 'operator',
            reason: 'upstream asked for quiet until 04:00',
            since: ahead(-900),
          }
        : station.name === 'pump' || station.name === 'delivery'
          ? { ...station, perMinute: Math.max(0, station.perMinute - Math.floor((now - since) / 1000)) }
          : station,
    ),
    inbox: {
      ...calm.inbox,
      highest: '18261',
      lag: 27,
      holeSince: ahead(-10),
      holes: [
        { from: '18235', to: '18235', ids: 1, firstSeenAt: ahead(-10), releasesAt: ahead(20), held: false },
        { from: '18240', to: '18243', ids: 4, firstSeenAt: ahead(-4), releasesAt: ahead(26), held: true },
      ],
    },
    head: {
      msgId: '18201',
      type: 'FLOP',
      styp: 'GTDT',
      state: 'FAILED',
      attempts: 2,
      maxAttempts: 5,
      errorClass: 'CODEC_ERROR',
      lastError: 'unknown-format:ESTM',
      nextAttemptAt: ahead(40),
      enqueuedAt: ahead(-35),
      why: 'a retry is waiting for its time',
    },
    counts: {
      byState: { ...calm.counts.byState, PENDING: 33, FAILED: 1, DEAD: 3 },
      byClass: { MALFORMED: 2, EXHAUSTED: 1, CODEC_ERROR: 1 },
      deadSchedules: 0,
    },
    outbox: [
      { target: 'KAFKA:msg', pending: 4, oldestSeconds: 2, sent: 21_456, dead: 0 },
      { target: 'KAFKA:schd', pending: 2, oldestSeconds: 1, sent: 9_120, dead: 0 },
    ],
  };
}
