/** The pipeline that is measured: all stations as in service, without a lease, silent. */
import type { AnchoredClock } from '../runtime/clock.ts';
import { SILENT } from '../runtime/log.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { Pipeline } from '../service/pipeline.ts';
import { Rates } from '../service/rates.ts';
import type { Resources } from '../service/resources.ts';

/** What one measurement works on: schema, mailbox and journal of its own. */
export interface Setup extends Resources {
  readonly clock: AnchoredClock;
}

/** @param onSent called with each KAFKA:msg value that the sink has acknowledged, and when (monotonic ms) */
export function pipelineOf(setup: Setup, onSent?: (value: string, at: number) => void): Pipeline {
  return new Pipeline({
    resources: setup,
    fence: { epoch: 0n },
    clock: setup.clock,
    log: SILENT,
    logOf: () => SILENT,
    metrics: createMetrics(),
    rates: new Rates(),
    pauseOf: () => null,
    onLost: () => undefined,
    onFault: () => undefined,
    ...(onSent === undefined
      ? {}
      : {
          onAccepted: (records) => {
            const at = performance.now();
            for (const { stream, value } of records)
              if (stream === 'msg' && value !== null) onSent(value, at);
          },
        }),
  });
}
