/** The day at the airport. */
import { airportDay } from '../model/time.ts';
import { useClock, useStatus } from './live-context.tsx';

export function useToday(): string {
  const { status } = useStatus();
  return airportDay(useClock(), status?.timeZone ?? 'UTC');
}
