/** What the benchmark measures with. */
import { gateChange } from './messages.ts';

/** What is measured with; printed with the results. */
export interface BenchInputs {
  readonly flights: number;
  readonly messageBytes: number;
  readonly messages: Readonly<Record<'process.b1' | 'process.b500' | 'full.b1' | 'full.b500', number>>;
  readonly latencySeconds: number;
  readonly pollIntervalMs: number;
  readonly backfillIntervalMs: number;
  readonly flushIntervalMs: number;
  readonly node: string;
}

export const FLIGHTS = 300;
export const INPUTS: BenchInputs = {
  flights: FLIGHTS,
  messageBytes: Buffer.byteLength(gateChange('900000', 1, 1)),
  messages: { 'process.b1': 4_000, 'process.b500': 40_000, 'full.b1': 2_000, 'full.b500': 40_000 },
  latencySeconds: 20,
  pollIntervalMs: 500,
  backfillIntervalMs: 100,
  flushIntervalMs: 200,
  node: process.version,
};
