/**
 * Pausing and resuming a station: precheck, conditional update and audit in one transaction. A dry run says what stands
 * and does nothing.
 */
import type { StationName } from '../runtime/station.ts';
import type { Database } from '../store/database.ts';
import { insertAudit } from '../store/op-audit.ts';
import { deletePause, insertPause, selectPause } from '../store/station-pause.ts';
import type { Operator, TriedOutcome } from './outcome.ts';

/** Pauses a station: the active instance finishes its round and rests until it is resumed. Throws Outage. */
export async function pauseStation(
  database: Database,
  station: StationName,
  { who, reason, now }: Operator,
  dryRun = false,
): Promise<TriedOutcome> {
  const paused: TriedOutcome = { outcome: 'refused', message: `${station} is paused already` };
  return database.transaction(async (tx): Promise<TriedOutcome> => {
    if (dryRun) {
      if ((await selectPause(tx, station)) !== null) return paused;
      return { outcome: 'planned', message: `would pause ${station}: it finishes its round and rests` };
    }
    const pause = await insertPause(tx, station, { by: who, reason, now });
    if (pause === null) return paused;
    const after = { paused: true, by: who };
    await insertAudit(tx, {
      ...{ at: now, who, action: 'pause', target: `station:${station}`, reason },
      ...{ before: { paused: false }, after },
    });
    return { outcome: 'done', message: `${station} is paused` };
  });
}

/** Resumes a paused station. Throws Outage. */
export async function resumeStation(
  database: Database,
  station: StationName,
  { who, reason, now }: Operator,
  dryRun = false,
): Promise<TriedOutcome> {
  const running: TriedOutcome = { outcome: 'refused', message: `${station} is not paused` };
  return database.transaction(async (tx): Promise<TriedOutcome> => {
    const pause = dryRun ? await selectPause(tx, station) : await deletePause(tx, station);
    if (pause === null) return running;
    const { by, reason: pausedFor, since } = pause;
    if (dryRun) {
      return { outcome: 'planned', message: `would resume ${station}, paused by ${by}: ${pausedFor}` };
    }
    await insertAudit(tx, {
      ...{ at: now, who, action: 'resume', target: `station:${station}`, reason },
      ...{ before: { paused: true, by, reason: pausedFor, since }, after: { paused: false } },
    });
    return { outcome: 'done', message: `${station} goes on` };
  });
}
