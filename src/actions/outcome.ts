/** What an operator's action can end in: done, or refused by its precheck with the reason. */

/** Longest reason kept in the audit, characters. */
export const LONGEST_REASON = 1_000;

/** Who asks and why: both go into the audit. */
export interface Operator {
  readonly who: string;
  /** See {@link reasonText}. */
  readonly reason: string;
  /** ms. */
  readonly now: number;
}

export type ActionOutcome =
  | { readonly outcome: 'done'; readonly message: string }
  | { readonly outcome: 'refused'; readonly message: string };

/** Of an action that can also say what it would do. */
export type TriedOutcome = ActionOutcome | { readonly outcome: 'planned'; readonly message: string };

/** A reason as the audit can keep it: trimmed, cut, without what PostgreSQL refuses; null where nothing is left. */
export function reasonText(given: string): string | null {
  const text = given.replaceAll('\0', '').trim().slice(0, LONGEST_REASON).toWellFormed();
  return text === '' ? null : text;
}

/** How many of all that an action was for, where the answer names the first of them alone. */
export interface Counted {
  /** Those that it was asked for. */
  readonly all: number;
  /** Of them, those that were changed, or would be. */
  readonly changed: number;
}
