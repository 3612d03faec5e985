/** Who uses the console: asks for a token where msgx demands one, and again once the session has ended. */
import { createContext, use, useCallback, useLayoutEffect, useMemo, useState, type ReactNode } from 'react';
import { fetchSession, signOut, type Session } from '../api/session.ts';
import { SignIn } from './sign-in.tsx';

interface Signed {
  readonly session: Session | null;
  readonly leave: () => void;
  /** Asks msgx whether the session still holds. */
  readonly check: () => void;
}

const Context = createContext<Signed | null>(null);

type State =
  { readonly kind: 'unknown' } | { readonly kind: 'out' } | { readonly kind: 'in'; session: Session };

/** Another try while msgx does not answer, ms. */
const AGAIN_MS = 2_000;

export function SessionProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [state, setState] = useState<State>({ kind: 'unknown' });
  const [asked, setAsked] = useState(0);
  const check = useCallback(() => setAsked((before) => before + 1), []);
  // Before anything is painted: the answer is there already, or on its way (early.ts).
  useLayoutEffect(() => {
    const reader = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async (): Promise<void> => {
      try {
        const session = await fetchSession(reader.signal);
        setState(session === null ? { kind: 'out' } : { kind: 'in', session });
      } catch {
        // The page, where it is open already, says itself that msgx does not answer.
        if (!reader.signal.aborted) timer = setTimeout(() => void ask(), AGAIN_MS);
      }
    };
    void ask();
    return () => {
      reader.abort();
      clearTimeout(timer);
    };
  }, [asked]);
  const session = state.kind === 'in' ? state.session : null;
  const signed = useMemo<Signed>(
    () => ({
      ...{ session, check },
      leave: () => void signOut().finally(() => setState({ kind: 'out' })),
    }),
    [session, check],
  );
  const enter = useCallback((entered: Session) => setState({ kind: 'in', session: entered }), []);
  // A sender may write messages and read nothing.
  if (state.kind === 'out' || session?.role === 'sender') {
    return <SignIn refused={session} onEnter={enter} />;
  }
  return <Context value={signed}>{state.kind === 'unknown' ? null : children}</Context>;
}

export function useSession(): Signed {
  const signed = use(Context);
  if (signed === null) throw new Error('useSession outside of SessionProvider');
  return signed;
}
