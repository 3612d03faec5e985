/** Pausing and resuming a station: precheck, conditional update and audit in one transaction. */
import type { StationName } from '../runtime/station.ts';
import type { Database } from '../store/database.ts';
import { insertAudit } from '../store/op-audit.ts';
import { deletePause, insertPause } from '../store/station-pause.ts';
import type { ActionOutcome, Operator } from './outcome.ts';

/** Pauses a station: the active instance finishes its round and rests until it is resumed. Throws Outage. */
export async function pauseStation(
  database: Database,
  station: StationName,
  { who, reason, now }: Operator,
): Promise<ActionOutcome> {
  return database.transaction(async (tx): Promise<ActionOutcome> => {
    const pause = await insertPause(tx, station, { by: who, reason, now });
    if (pause === null) return { outcome: 'refused', message: `${station} is paused already` };
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
): Promise<ActionOutcome> {
  return database.transaction(async (tx): Promise<ActionOutcome> => {
    const pause = await deletePause(tx, station);
    if (pause === null) return { outcome: 'refused', message: `${station} is not paused` };
    const { by, reason: pausedFor, since } = pause;
    await insertAudit(tx, {
      ...{ at: now, who, action: 'resume', target: `station:${station}`, reason },
      ...{ before: { paused: true, by, reason: pausedFor, since }, after: { paused: false } },
    });
    return { outcome: 'done', message: `${station} goes on` };
  });
}
