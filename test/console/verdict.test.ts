/** What the console calls the worst. */
import { describe, expect, it } from 'vitest';
import type { Station, Status } from '../../src/console/api/types.ts';
import { judge } from '../../src/console/model/verdict.ts';
import { calmStatus, troubledStatus } from './fixture-status.ts';

const NOW = Date.parse('2026-03-14T00:00:00Z');
const LIVE = { state: 'live' } as const;
const kinds = (status: Status): readonly string[] => judge(status, LIVE, NOW).map(({ kind }) => kind);
const withStation = (status: Status, name: Station['name'], change: Partial<Station>): Status => ({
  ...status,
  stations: status.stations.map((station) => (station.name === name ? { ...station, ...change } : station)),
});

describe('judge', () => {
  it('finds nothing in a calm status', () => {
    expect(kinds(calmStatus(NOW))).toEqual(['flowing']);
  });

  it('puts what stops everything before what needs a person before what passes by itself', () => {
    expect(kinds(troubledStatus(NOW, NOW))).toEqual(['head-failed', 'paused', 'dead-messages', 'hole']);
  });

  it('puts the pause of the pump before the failed head that it keeps from being tried', () => {
    const paused = withStation(troubledStatus(NOW, NOW), 'pump', { state: 'paused', by: 'operator' });
    expect(kinds(paused).slice(0, 2)).toEqual(['paused', 'head-failed']);
  });

  it('trusts nothing once the stream is lost', () => {
    const lost = { state: 'lost', since: NOW - 9_000, retryAt: NOW } as const;
    expect(judge(troubledStatus(NOW, NOW), lost, NOW)[0].kind).toBe('stream-lost');
  });

  it('minds a waiting head only after ten seconds, and not while the pump stands', () => {
    const head = { ...troubledStatus(NOW, NOW).head!, state: 'PENDING', attempts: 0 } as const;
    const since = (seconds: number): Status => ({
      ...calmStatus(NOW),
      head: { ...head, enqueuedAt: new Date(NOW - seconds * 1000).toISOString() },
    });
    expect(kinds(since(9))).toEqual(['flowing']);
    expect(kinds(since(11))).toEqual(['head-waits']);
    expect(kinds(withStation(since(11), 'pump', { state: 'outage', by: 'outage' }))).toEqual(['outage']);
  });

  it('minds a hole only where it holds the watermark', () => {
    const holes = troubledStatus(NOW, NOW).inbox.holes;
    const calm = calmStatus(NOW);
    expect(kinds({ ...calm, inbox: { ...calm.inbox, holes } })).toEqual(['flowing']);
  });

  it('reports dead events, given-up marks, an old outbox and a silent mailbox', () => {
    const calm = calmStatus(NOW);
    const [msg] = calm.outbox;
    const status: Status = {
      ...calm,
      inbox: { ...calm.inbox, readAt: new Date(NOW - 31_000).toISOString() },
      outbox: [{ ...msg!, dead: 1, pending: 5, oldestSeconds: 61 }],
      backfill: { ...calm.backfill, abandoned: { MISSING_ROW: 2 } },
    };
    expect(kinds(status)).toEqual(['mailbox-silent', 'dead-events', 'abandoned', 'outbox-old']);
  });

  it('puts a dead schedule before everything but a lost stream, and counts it once; a failing job after that', () => {
    const troubled = troubledStatus(NOW, NOW);
    const job = { job: 'raw', startedAt: null, endedAt: null, nextAt: null, rows: 0, rowsTotal: 0 };
    const status: Status = {
      ...troubled,
      counts: { ...troubled.counts, byState: { DEAD: 1 }, deadSchedules: 1 },
      jobs: [{ ...job, state: 'failing', failures: 2, error: 'disk full' }],
    };
    expect(kinds(status)).toEqual(['dead-schedules', 'head-failed', 'paused', 'job-failing', 'hole']);
    const lost = { state: 'lost', since: NOW - 9_000, retryAt: NOW } as const;
    expect(judge(status, lost, NOW)[0].kind).toBe('stream-lost');
  });

  it('expects no work of a standby', () => {
    const calm = calmStatus(NOW);
    const stations = calm.stations.map((station) => ({ ...station, state: 'stopped' as const }));
    expect(kinds({ ...calm, role: 'standby', stations })).toEqual(['standby']);
  });
});
