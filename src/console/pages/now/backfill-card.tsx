/** Marks owed to the mailbox, and when each station last did something. */
import type { ReactNode } from 'react';
import type { Status } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { airportClock, span } from '../../model/time.ts';
import { useClock } from '../../ui/live-context.tsx';
import { Panel } from '../../ui/panel.tsx';

export function BackfillCard({ status }: { readonly status: Status }): ReactNode {
  const { t } = useSpeech();
  const now = useClock();
  const { backfill, last, timeZone } = status;
  const abandoned = Object.entries(backfill.abandoned).filter(([, count]) => count > 0);
  const times = [
    [t.lastEnqueued, last.enqueuedAt],
    [t.lastProcessed, last.processedAt],
    [t.lastSent, last.sentAt],
    [t.lastMarked, last.markedAt],
  ] as const;
  return (
    <Panel title={t.backfill} className="card backfill-card">
      <p className="facts">
        <span>
          <b>{t.number(backfill.owed)}</b> {t.owed}
        </span>
        <span>
          <b>{t.number(backfill.confirmed)}</b> {t.confirmed}
        </span>
        {abandoned.map(([reason, count]) => (
          <span key={reason} className="is-bad">
            <b>{t.number(count)}</b> {t.abandoned} {reason}
          </span>
        ))}
      </p>
      <h3>{t.lastTimes}</h3>
      <dl className="times">
        {times.map(([name, at]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {at === null ? (
                t.never
              ) : (
                <>
                  {airportClock(at, timeZone)}{' '}
                  <span className="quiet">{t.ago(t.span(span(now - Date.parse(at))))}</span>
                </>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
