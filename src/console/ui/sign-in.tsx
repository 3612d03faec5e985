/** Asks for a token and exchanges it for a session; the page itself keeps none. */
import { useEffect, useRef, useState, type ReactNode, type SyntheticEvent } from 'react';
import { signIn, type Session } from '../api/session.ts';
import { useSpeech } from '../i18n/language.tsx';
import { PAGE_TITLE } from './page-head.tsx';
import './sign-in.css';

interface SignInProps {
  /** Somebody whose role is not enough for the console. */
  readonly refused: Session | null;
  readonly onEnter: (session: Session) => void;
}

export function SignIn({ refused, onEnter }: SignInProps): ReactNode {
  const { t, switchLanguage } = useSpeech();
  const [token, setToken] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.focus();
    document.title = `${t.session.title} · msgx`;
  }, [t]);
  const enter = async (event: SyntheticEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      onEnter(await signIn(token));
    } catch (reason) {
      setError(reason instanceof Error ? reason.message : String(reason));
      field.current?.select();
    }
    setBusy(false);
  };
  const told = error ?? (refused === null ? '' : t.session.notEnough(refused.role));
  return (
    <main className="sign-in">
      <form className="panel" onSubmit={(event) => void enter(event)}>
        <h1 id={PAGE_TITLE} tabIndex={-1}>
          {t.session.title}
        </h1>
        <p className="quiet">{t.session.lead}</p>
        <label>
          <span>{t.session.token}</span>
          <input
            ref={field}
            type="password"
            autoComplete="current-password"
            value={token}
            required
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        <p role="alert" className="is-bad">
          {told}
        </p>
        <div className="actions">
          <button type="submit" className="plain do" disabled={busy || token.trim() === ''}>
            {t.session.enter}
          </button>
          <button type="button" className="plain" onClick={switchLanguage} aria-label={t.switchLanguage}>
            {t.otherLanguage}
          </button>
        </div>
      </form>
    </main>
  );
}
