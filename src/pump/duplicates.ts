/** What people should know of duplicates, told after the commit so that a repeated batch is counted once. */
import { messageOf } from '../runtime/outage.ts';
import { selectDeadAmong } from '../store/proc-state.ts';
import type { Finished } from './decisions.ts';
import type { PumpContext } from './context.ts';

/** Counts and names duplicates with other content, of DEAD originals, and suspected resets of SEQN; never throws. */
export async function reportDuplicates(context: PumpContext, finished: readonly Finished[]): Promise<void> {
  const { metrics, log, database } = context;
  const duplicates = finished.flatMap(({ ready: { bound }, terminal: { msgId } }) =>
    bound?.duplicate == null ? [] : [{ msgId, ...bound.duplicate }],
  );
  if (duplicates.length === 0) return;
  let dead: ReadonlySet<bigint> = new Set();
  try {
    dead = await selectDeadAmong(
      database,
      duplicates.map(({ original }) => original),
    );
  } catch (error) {
    log.warn({ error: messageOf(error) }, 'originals of duplicates could not be looked up');
  }
  for (const { msgId, original, contentDiffers, resetSuspected } of duplicates) {
    if (contentDiffers) {
      metrics.duplicateMismatch.inc();
      log.warn({ msgId, original }, 'duplicate with other content');
    }
    if (resetSuspected) {
      metrics.seqnReset.inc();
      log.error({ msgId, original }, 'SEQN reset suspected: a newer message under a used identity');
    }
    if (dead.has(original)) {
      metrics.duplicateOfDead.inc();
      // It may be the resend that should have replaced its original: an operator must look.
      log.error({ msgId, original }, 'duplicate of a dead message: neither has been applied');
    }
  }
}
