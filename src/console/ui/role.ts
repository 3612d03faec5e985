/** The role of whoever looks: msgx decides what it gives, the page only does not ask in vain. */
import type { Session } from '../api/session.ts';
import { useSession } from './session.tsx';

export function useRole(): Session['role'] | null {
  return useSession().session?.role ?? null;
}
