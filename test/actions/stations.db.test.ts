import { describe, expect, it } from 'vitest';
import { pauseStation, resumeStation } from '../../src/actions/stations.ts';
import { MAX_ID } from '../../src/domain/ids.ts';
import { selectAudit } from '../../src/store/op-audit.ts';
import { selectPauses } from '../../src/store/status.ts';
import { createPipeline } from '../kit/pipeline.ts';
import { createTestDatabase, postgresMissing } from '../kit/postgres.ts';

const NOW = Date.parse('2026-03-14T00:00:00Z');

describe.skipIf(postgresMissing !== null)('pausing a station', () => {
  it('is kept, audited, and refused where it is so already', async () => {
    const { database } = await createTestDatabase();
    const lin = { who: 'cli:lin', reason: 'broker maintenance', now: NOW };
    expect(await pauseStation(database, 'delivery', lin)).toMatchObject({ outcome: 'done' });
    expect(await pauseStation(database, 'delivery', lin)).toMatchObject({ outcome: 'refused' });
    expect(await selectPauses(database)).toEqual([
      { station: 'delivery', by: 'cli:lin', reason: 'broker maintenance', since: '2026-03-14 00:00:00+00' },
    ]);
    const wu = { who: 'http:operator', reason: 'done', now: NOW + 1_000 };
    expect(await resumeStation(database, 'delivery', wu)).toMatchObject({ outcome: 'done' });
    expect(await resumeStation(database, 'delivery', wu)).toMatchObject({ outcome: 'refused' });
    expect(await resumeStation(database, 'pump', wu)).toMatchObject({ outcome: 'refused' });
    expect(await selectPauses(database)).toEqual([]);
    const entries = await selectAudit(database, MAX_ID, 10);
    expect(entries.map(({ who, action, target, reason }) => [who, action, target, reason])).toEqual([
      ['http:operator', 'resume', 'station:delivery', 'done'],
      ['cli:lin', 'pause', 'station:delivery', 'broker maintenance'],
    ]);
    expect(entries[0]).toMatchObject({ before: { paused: true, by: 'cli:lin' }, after: { paused: false } });
  });

  it('of two at once lets one through, with one audit row', async () => {
    const { database } = await createTestDatabase();
    const operator = { who: 'cli:lin', reason: 'twice', now: NOW };
    const outcomes = await Promise.all([1, 2, 3].map(() => pauseStation(database, 'pump', operator)));
    expect(outcomes.filter(({ outcome }) => outcome === 'done')).toHaveLength(1);
    expect(await selectAudit(database, MAX_ID, 10)).toHaveLength(1);
  });

  it('is what the audit of operator changes accepts; a pause by hand is not', async () => {
    const pipeline = await createPipeline();
    await pipeline.drain();
    const operator = { who: 'cli:lin', reason: 'look at the head', now: NOW };
    await pauseStation(pipeline.db.database, 'pump', operator);
    const answer = async () =>
      (await pipeline.verify()).findings.find(({ invariant }) => invariant === 9)?.answer;
    expect(await answer()).toBe('checked');
    await pipeline.query(`insert into station_pause values ('inbox', 'x', 'y', now())`);
    expect(await answer()).toBe('broken');
    await pipeline.close();
  });
});
