/** What is deleted by age: texts, delivered events, the schedule trace, requests and reports. */
import type { Queryable } from '../../store/statement.ts';
import { deleteOldTexts, deleteRequests, deleteSentEvents, deleteTraces } from '../../store/retention.ts';
import { STRETCH_ROWS, dayBefore, walking, type JobContext, type Run } from './job.ts';

const ROWS = 500;

/** Deletes texts, those of unfinished messages aside. */
export function textRun({ database, fence, clock, retention }: JobContext): Run {
  return walking((after, progress) =>
    database.transaction(
      async (tx) => {
        const { gone, ...stretch } = await deleteOldTexts(
          tx,
          after,
          clock.now() - retention.rawMs,
          STRETCH_ROWS,
        );
        await progress(tx, gone);
        return { ...stretch, rows: gone };
      },
      { fence },
    ),
  );
}

/** Deletes events that were sent long ago; those that are pending, dead or dropped stay. */
export function eventRun(context: JobContext): Run {
  const { clock, retention } = context;
  return deleting(context, ROWS, (tx) => deleteSentEvents(tx, clock.now() - retention.eventsMs, ROWS));
}

/** Deletes traces of schedules by the last day they name and the time of their receipt. */
export function traceRun(context: JobContext): Run {
  const { clock, retention } = context;
  return deleting(context, ROWS, (tx) => {
    const receivedBefore = clock.now() - retention.snapLogMs;
    return deleteTraces(tx, { day: dayBefore(context, retention.snapLogMs), receivedBefore }, ROWS);
  });
}

/** Deletes requests and error reports when their messages would be archived. */
export function requestRun(context: JobContext): Run {
  const { clock, retention } = context;
  return deleting(context, Infinity, (tx) => deleteRequests(tx, clock.now() - retention.procStateMs));
}

/** A run that deletes until a batch is not full. */
function deleting(
  { database, fence }: JobContext,
  full: number,
  deleteBatch: (tx: Queryable) => Promise<number>,
): Run {
  return {
    batch: (progress) =>
      database.transaction(
        async (tx) => {
          const rows = await deleteBatch(tx);
          await progress(tx, rows);
          return { rows, end: rows < full ? 'nothing-left' : null };
        },
        { fence },
      ),
  };
}
