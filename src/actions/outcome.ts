/** What an operator's action can end in: done, or refused by its precheck with the reason. */

/** Who asks and why: both go into the audit. */
export interface Operator {
  readonly who: string;
  readonly reason: string;
  /** ms. */
  readonly now: number;
}

export type ActionOutcome =
  | { readonly outcome: 'done'; readonly message: string }
  | { readonly outcome: 'refused'; readonly message: string };
