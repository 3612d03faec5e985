/** Requests to the upstream as the domain sees them (seed §7.2; decisions.md, "Requests"). */

/** The type of a schedule request; every other type is one of reference data. */
export const SCHEDULE_REQUEST = 'SCHD';

/** A request that was written, or is being written, and waits for its answer. */
export interface OpenRequest {
  readonly reqId: bigint;
  /** {@link SCHEDULE_REQUEST} or a reference type. */
  readonly rtype: string;
  /** yyyy-MM-dd of a schedule request; null for reference data. */
  readonly operationDay: string | null;
  /** Our SEQN, without leading zeros. */
  readonly sequence: string;
  /** Noted just before it was written, ms. */
  readonly sentAt: number;
}

/** The request that a response answers. */
export interface Answer {
  readonly request: OpenRequest;
  /** By the SEQN that the response echoes, or by type, day and time alone (C-23). */
  readonly matched: 'exact' | 'downgraded';
}
