/** The flight that was looked at last: who comes back to the list goes on at its row. */
let last: string | null = null;

export function rememberFlight(flid: string): void {
  last = flid;
}

/** Gives it once. */
export function takeLastFlight(): string | null {
  const taken = last;
  last = null;
  return taken;
}
