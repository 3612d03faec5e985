/** What people are told of messages that have ended. */
import type { DecodedMessage } from '../domain/message.ts';
import type { PumpContext } from './context.ts';
import type { Finished } from './decisions.ts';
import { reportDuplicates } from './duplicates.ts';
import { traceSchedules } from './trace.ts';

/** Counts and names what people should know of; after the commit, so that a repeated batch counts once. */
export async function reportEnded(context: PumpContext, finished: readonly Finished[]): Promise<void> {
  const { metrics, log } = context;
  for (const { terminal, decision, ready } of finished) {
    const { msgId, type, styp, state, errorClass, reason } = terminal;
    metrics.messages.inc({ type: type ?? 'NONE', styp: styp ?? 'NONE', outcome: state });
    if (state === 'DEAD') log.error({ msgId, type, styp, errorClass, reason }, 'message dead');
    if (decision?.state === 'SUCCEEDED' && decision.unmatchedStands > 0) {
      metrics.unmatchedStand.inc(decision.unmatchedStands);
      log.warn(
        { msgId, stands: decision.unmatchedStands },
        'push-back or tractor for a stand the flight does not have',
      );
    }
    if (ready.candidate.kind === 'message') reportUnknown(context, msgId, ready.candidate.message);
  }
  await reportDuplicates(context, finished);
  await traceSchedules(context, finished);
}

function reportUnknown(
  { metrics, log }: PumpContext,
  msgId: bigint,
  { unknownElements }: DecodedMessage,
): void {
  if (unknownElements.length === 0) return;
  metrics.unknownElements.inc(unknownElements.length);
  log.warn({ msgId, elements: unknownElements.slice(0, 20) }, 'elements unknown to the profile, ignored');
}
