/** A dialect that cannot be loaded: wrong name, unreadable file, faults in its profile, wrong module. */
export class DialectLoadError extends Error {
  /** Every fault found, one line each. */
  readonly faults: readonly string[];

  constructor(summary: string, faults: readonly string[]) {
    super([summary, ...faults].join('\n  '));
    this.name = 'DialectLoadError';
    this.faults = faults;
  }
}
