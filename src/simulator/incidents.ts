/** What goes wrong in a day, and with which flights. */
import type { Random } from './random.ts';

export type Incident =
  | 'ad-hoc'
  | 'cancelled'
  | 'cancelled-reinstated'
  | 'deleted'
  | 'deleted-reinstated'
  | 'diverted'
  | 'diverted-landed-later'
  | 'go-around'
  | 'return'
  | 'long-delay'
  | 'delay-cleared'
  | 'gate-change'
  | 'stand-change'
  | 'vip';

interface Share {
  readonly incident: Incident;
  /** Share of the flights. */
  readonly share: number;
  readonly movement: 'A' | 'D' | null;
}

const SHARES: readonly Share[] = [
  { incident: 'ad-hoc', share: 0.02, movement: null },
  { incident: 'cancelled', share: 0.02, movement: null },
  { incident: 'cancelled-reinstated', share: 0.006, movement: null },
  { incident: 'deleted', share: 0.008, movement: null },
  { incident: 'deleted-reinstated', share: 0.004, movement: null },
  { incident: 'diverted', share: 0.004, movement: 'A' },
  { incident: 'diverted-landed-later', share: 0.004, movement: 'A' },
  { incident: 'go-around', share: 0.008, movement: 'A' },
  { incident: 'return', share: 0.004, movement: 'D' },
  { incident: 'long-delay', share: 0.04, movement: null },
  { incident: 'delay-cleared', share: 0.02, movement: 'D' },
  { incident: 'gate-change', share: 0.06, movement: 'D' },
  { incident: 'stand-change', share: 0.05, movement: 'A' },
  { incident: 'vip', share: 0.04, movement: null },
];

/** Fewer flights than this have a quiet day; more see each incident at least once. */
const ENOUGH_FLIGHTS = 40;

/** At most one incident per flight, by position. */
export function assignIncidents(
  movements: readonly ('A' | 'D')[],
  random: Random,
): readonly (Incident | null)[] {
  const assigned = movements.map((): Incident | null => null);
  const order = random.shuffle(movements.map((_, index) => index));
  for (const { incident, share, movement } of SHARES) {
    const least = movements.length >= ENOUGH_FLIGHTS ? 1 : 0;
    let wanted = Math.max(least, Math.round(share * movements.length));
    for (const index of order) {
      if (wanted === 0) break;
      if (assigned[index] !== null) continue;
      if (movement !== null && movements[index] !== movement) continue;
      assigned[index] = incident;
      wanted -= 1;
    }
  }
  return assigned;
}

/** Minutes a flight is late by itself. */
export function delayOf(incident: Incident | null, random: Random): number {
  if (incident === 'long-delay') return random.int(90, 260);
  if (incident === 'delay-cleared') return random.int(0, 8);
  if (incident === 'diverted-landed-later') return random.int(180, 280);
  if (incident === 'go-around') return random.int(12, 25);
  const roll = random.next();
  if (roll < 0.72) return random.int(-4, 10);
  if (roll < 0.95) return random.int(15, 50);
  return random.int(50, 120);
}
