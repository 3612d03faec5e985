/** Tries an action out as its dialog stands: a dry run of msgx, anew whenever what it asks for has changed. */
import { useEffect, useRef, useState } from 'react';
import { act, type ActionAnswer } from '../api/operate.ts';

/** A pause in typing, ms. */
const PAUSE_MS = 200;

/** The answer; null while it is not there, or while something is missing. */
export function useTrial(path: string, body: object | null): ActionAnswer | null {
  const [told, setTold] = useState<{ readonly of: string; readonly answer: ActionAnswer } | null>(null);
  const asked = body === null ? null : JSON.stringify({ path, body: { ...body, dryRun: true } });
  const asksAgain = useRef(false);
  useEffect(() => {
    if (asked === null) return undefined;
    const abort = new AbortController();
    const ask = async (): Promise<void> => {
      const { path: to, body: tried } = JSON.parse(asked) as { path: string; body: object };
      try {
        setTold({ of: asked, answer: await act(to, tried, abort.signal) });
      } catch {
        // Something else is asked for by now.
      }
    };
    const timer = setTimeout(() => void ask(), asksAgain.current ? PAUSE_MS : 0);
    asksAgain.current = true;
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [asked]);
  return told !== null && told.of === asked ? told.answer : null;
}
