/** Airport, role, time at the airport, and whether what is shown is live. */
import type { ReactNode } from 'react';
import { useSpeech } from '../i18n/language.tsx';
import { airportClock, airportDay, span } from '../model/time.ts';
import { useClock, useConnection, useStatus } from './live-context.tsx';
import { useSession } from './session.tsx';

export function Header(): ReactNode {
  const { t, switchLanguage } = useSpeech();
  const { status } = useStatus();
  const now = useClock();
  return (
    <header className="top">
      <div className="brand">
        <img src="./favicon.svg" alt="" width="26" height="26" />
        <span className="airport">{status?.airport ?? 'msgx'}</span>
        {status !== null && (
          <span className={`role role-${status.role}`}>
            {status.role === 'active' ? t.active : t.standby}
          </span>
        )}
        {status?.shadow === true && <span className="role role-shadow">{t.shadow}</span>}
      </div>
      {status !== null && (
        <div className="clock">
          <span className="unseen">{t.airportTime}: </span>
          <time dateTime={new Date(now).toISOString()} title={`${t.airportTime} (${status.timeZone})`}>
            <span className="date">{airportDay(now, status.timeZone)}</span>
            {airportClock(now, status.timeZone)}
          </time>
        </div>
      )}
      <ConnectionState />
      <SignedIn />
      <button type="button" className="plain" onClick={switchLanguage} aria-label={t.switchLanguage}>
        {t.otherLanguage}
      </button>
    </header>
  );
}

/** Who is signed in, and the way out; nothing where nobody has to sign in. */
function SignedIn(): ReactNode {
  const { t } = useSpeech();
  const { session, leave } = useSession();
  if (session === null || !session.signIn) return null;
  return (
    <>
      <span className="signed-in" data-testid="signed-in">
        {session.name} <span className="quiet">{t.session.role[session.role]}</span>
      </span>
      <button type="button" className="plain" onClick={leave}>
        {t.session.leave}
      </button>
    </>
  );
}

function ConnectionState(): ReactNode {
  const { t } = useSpeech();
  const connection = useConnection();
  // Moves each second; the retry counts in the browser's own clock.
  useClock();
  switch (connection.state) {
    case 'live':
      return <span className="connection is-live">{t.live}</span>;
    case 'connecting':
      return <span className="connection is-connecting">{t.connecting}</span>;
    case 'lost':
      return (
        <span className="connection is-lost">
          {t.lost} <span className="quiet">{t.retryIn(t.span(span(connection.retryAt - Date.now())))}</span>
        </span>
      );
  }
}
