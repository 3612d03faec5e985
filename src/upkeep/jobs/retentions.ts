/** What is deleted by age: texts, delivered events, the schedule trace, requests and reports. */
import type { Queryable } from '../../store/statement.ts';
import { deleteOldTexts, deleteRequests, deleteSentEvents, deleteTraces } from '../../store/retention.ts';
import { dayBefore } from './archives.ts';
import type { JobContext, Run } from './job.ts';

const ROWS = 500;
/** A run of texts ends behind so many none of which is old: late ones lie among older ones. */
const YOUNG = 5_000;

/** Deletes texts, those of unfinished messages aside. */
export function textRun({ database, fence, clock, retention }: JobContext): Run {
  let after = -1n;
  let young = 0;
  return {
    async batch(progress) {
      const before = clock.now() - retention.rawMs;
      const stretch = await database.transaction(
        async (tx) => {
          const stretch = await deleteOldTexts(tx, after, before, ROWS);
          await progress(tx, stretch.gone);
          return stretch;
        },
        { fence },
      );
      after = stretch.last ?? after;
      young = stretch.old === 0 ? young + stretch.looked : 0;
      return { rows: stretch.gone, done: stretch.looked < ROWS || young >= YOUNG };
    },
  };
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
          return { rows, done: rows < full };
        },
        { fence },
      ),
  };
}
