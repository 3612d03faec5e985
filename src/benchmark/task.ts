/** One measurement, as it is handed to its process. */
import { configFromObject } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { INPUTS } from './inputs.ts';

interface Place {
  /** URL of the measurement's own database. */
  readonly url: string;
  readonly journal: string;
  readonly commitBatch: 1 | 500;
}

export type Task =
  | (Place & { readonly kind: 'process' | 'full'; readonly messages: number })
  | (Place & { readonly kind: 'latency'; readonly rate: number; readonly seconds: number });

/**
 * The configuration of a measurement's pipeline.
 *
 * @param more what is set beside the measurement's own
 */
export function configOf({ url, journal, commitBatch }: Place, more: object = {}): Config {
  const result = configFromObject({
    ...more,
    airport: 'CTU',
    database: { url },
    mailbox: { url },
    delivery: { journal: { dir: journal } },
    pipeline: {
      'commit-batch': commitBatch,
      'poll-interval': `${INPUTS.pollIntervalMs}ms`,
      'backfill-interval': `${INPUTS.backfillIntervalMs}ms`,
    },
    schd: { 'flush-interval': `${INPUTS.flushIntervalMs}ms` },
  });
  if (!result.ok) throw new Error(result.faults.join('; '));
  return result.config;
}
