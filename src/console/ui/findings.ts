/** What is wrong at this moment, worst first; empty until msgx has said something. */
import { judge, type Finding } from '../model/verdict.ts';
import { useClock, useConnection, useStatus } from './live-context.tsx';

export function useFindings(): readonly Finding[] {
  const { status } = useStatus();
  const connection = useConnection();
  const now = useClock();
  return status === null ? [] : judge(status, connection, now);
}
