/** From when the numbers are; loud where they are old because msgx does not answer. */
import type { ReactNode } from 'react';
import { useSpeech } from '../i18n/language.tsx';
import { airportClock } from '../model/time.ts';
import { useClock, useStatus } from './live-context.tsx';
import type { Reading } from './reading.ts';

export function Freshness({ of }: { readonly of: Reading<unknown> }): ReactNode {
  const { t } = useSpeech();
  const { status, clockOffset } = useStatus();
  useClock();
  if (of.at === null) {
    return (
      <span className={of.error === null ? 'quiet' : 'is-bad'} role="status">
        {of.error ?? t.loading}
      </span>
    );
  }
  const time = airportClock(of.at - clockOffset, status?.timeZone ?? 'UTC');
  if (of.error === null) return <span className="quiet">{t.act.readAt(time)}</span>;
  return (
    <span className="is-bad" role="status" title={of.error}>
      {t.act.stale(time)}
    </span>
  );
}
