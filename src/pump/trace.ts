/** Traces of schedules after their commit (seed §7.1 step 4): a crash may lose one, nothing depends on it. */
import { failpoint } from '#failpoint';
import { operationDay } from '../domain/operation-day.ts';
import type { FlightPatch } from '../domain/message.ts';
import { messageOf } from '../runtime/outage.ts';
import { insertSnapshotTraces, type SnapshotTrace } from '../store/snap-log.ts';
import { toTimestamp } from '../store/time.ts';
import type { Finished } from './decisions.ts';
import type { PumpContext } from './context.ts';

/** Appends a row per schedule of the batch; a failure is logged and no more. */
export async function traceSchedules(context: PumpContext, finished: readonly Finished[]): Promise<void> {
  const receivedAt = toTimestamp(context.clock.now());
  const traces = finished.flatMap(({ ready, terminal, decision }): SnapshotTrace[] => {
    const { candidate } = ready;
    if (candidate.kind !== 'message' || candidate.message.body.kind !== 'schedule') return [];
    const { records, subtype } = candidate.message.body;
    const days = records.flatMap((record) => dayOf(record, context.operationDayCutoff)).sort();
    return [
      {
        msgId: terminal.msgId,
        styp: subtype,
        outcome: terminal.state,
        records: records.length,
        changed:
          decision?.state === 'SUCCEEDED' ? decision.flights.filter(({ event }) => event !== null).length : 0,
        scopeStart: days[0] ?? null,
        scopeEnd: days.at(-1) ?? null,
        receivedAt,
      },
    ];
  });
  if (traces.length === 0) return;
  try {
    failpoint('trace.due');
    await insertSnapshotTraces(context.database, traces);
    failpoint('trace.written');
  } catch (error) {
    context.log.warn({ error: messageOf(error), schedules: traces.length }, 'schedule trace not written');
  }
}

function dayOf(record: FlightPatch, cutoff: string): readonly string[] {
  const scheduled = record.writes.findLast(
    (write) => write.kind === 'scalar' && write.field === 'scheduledTime',
  );
  return scheduled?.kind === 'scalar' && typeof scheduled.value === 'string'
    ? [operationDay(scheduled.value, cutoff)]
    : [];
}
