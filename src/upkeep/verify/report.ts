/** What `msgx verify` answers (contract, "Invariants"): each invariant checked, broken, or not checkable and why. */

export type Answer = 'checked' | 'broken' | 'not-checkable';

/** The answer for one invariant. */
export interface Finding {
  readonly invariant: number;
  readonly title: string;
  readonly answer: Answer;
  /** What was looked at, e.g. `{ messages: 20000 }`; what is pending or owed is counted here, not broken. */
  readonly counted: Readonly<Record<string, number>>;
  /** Offenders where broken (the first of them), else why part of it could not be checked. */
  readonly notes: readonly string[];
}

export interface VerifyReport {
  /** Whether nothing is broken. */
  readonly clean: boolean;
  readonly findings: readonly Finding[];
}

const TITLES: readonly string[] = [
  'every mailbox ID up to the watermark is known or a released hole',
  'one message per identity; a duplicate names its original',
  'messages ended in ID order',
  'every terminal message has a backfill fact, no other has',
  'versions per flight are contiguous, in event order',
  'every SENT event is at the target, in version order; the last state told is the current one',
  'the recorded messages give the stored flights',
  'no mark on a message that never ended',
  'every operator change is audited',
];

/** Builds a finding; offenders make it broken. */
export function finding(
  invariant: number,
  counted: Readonly<Record<string, number>>,
  offenders: readonly string[],
  notCheckable: string | null = null,
): Finding {
  const answer = offenders.length > 0 ? 'broken' : notCheckable !== null ? 'not-checkable' : 'checked';
  const notes = notCheckable === null ? offenders : [...offenders, notCheckable];
  return { invariant, title: TITLES[invariant - 1] ?? '', answer, counted, notes };
}
