/** Each target in numbers: what waits and how long, what was sent, what is dead, and how fast it goes. */
import type { ReactNode } from 'react';
import type { Status } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { airportClock, span } from '../../model/time.ts';
import { Panel } from '../../ui/panel.tsx';

/** Older than this, what waits is strained (model/verdict.ts tells it as a finding). */
const OLD_SECONDS = 60;

export function OutboxTiles({ status }: { readonly status: Status }): ReactNode {
  const { t } = useSpeech();
  const station = status.stations.find(({ name }) => name === 'delivery');
  const { sentAt } = status.last;
  return (
    <div className="tiles">
      {status.outbox.map(({ target, pending, oldestSeconds, sent, dead }) => {
        const old = pending > 0 && (oldestSeconds ?? 0) > OLD_SECONDS;
        return (
          <Panel
            key={target}
            title={target}
            className={`tile ${dead > 0 ? 'is-person' : old ? 'is-wait' : ''}`}
          >
            <p>
              <span className="big">{t.number(pending)}</span> {t.waiting}
            </p>
            <dl>
              <dt>{t.oldest}</dt>
              <dd>{pending === 0 || oldestSeconds === null ? '–' : t.span(span(oldestSeconds * 1_000))}</dd>
              <dt>{t.sentColumn}</dt>
              <dd>{t.number(sent)}</dd>
              <dt>{t.dead}</dt>
              <dd className={dead > 0 ? 'is-bad' : ''}>{t.number(dead)}</dd>
            </dl>
          </Panel>
        );
      })}
      {station !== undefined && (
        <Panel title={t.station.delivery} className={`tile is-${station.state}`}>
          <p>
            <span className="big">{t.perMinute(station.perMinute)}</span>
          </p>
          <dl>
            <dt>{t.act.state}</dt>
            <dd>
              {t.stationState[station.state]}
              {station.reason !== null && <span className="quiet"> {station.reason}</span>}
            </dd>
            <dt>{t.lastSent}</dt>
            <dd>{sentAt === null ? t.never : airportClock(sentAt, status.timeZone)}</dd>
          </dl>
        </Panel>
      )}
    </div>
  );
}
