/** A moment as the tables show it: day and time at the airport; the day left out where it is today. */
import { useCallback } from 'react';
import { airportClock, airportDay } from '../model/time.ts';
import { useStatus } from './live-context.tsx';

export function useMoment(): (at: string | number) => string {
  const { status } = useStatus();
  const zone = status?.timeZone ?? 'UTC';
  const today = airportDay(status?.now ?? Date.now(), zone);
  return useCallback(
    (at) => {
      const day = airportDay(at, zone);
      return day === today ? airportClock(at, zone) : `${day} ${airportClock(at, zone)}`;
    },
    [zone, today],
  );
}
