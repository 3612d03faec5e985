/** An operator's action as a dialog needs to know it: what it asks for, where it is sent, and what it is called. */

/** Values of the fields, by name; a check is `yes` or empty. */
export type Values = Readonly<Record<string, string>>;

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly kind: 'select' | 'date' | 'text' | 'check';
  readonly initial: string;
  /** Of a select: value and words. */
  readonly options?: readonly (readonly [value: string, words: string])[];
  /** Where it is not shown it is not sent either. */
  readonly shown?: (values: Values) => boolean;
}

export interface Action {
  readonly title: string;
  /** What it does, in a sentence. */
  readonly lead: string;
  /** On the button that does it. */
  readonly confirm: string;
  /** It cannot be taken back. */
  readonly final?: boolean;
  readonly fields?: readonly Field[];
  /** Behind `api/v1/`. */
  readonly path: (values: Values) => string;
  /** What is sent beside reason and dryRun; null while something is missing. */
  readonly body: (values: Values) => object | null;
}
