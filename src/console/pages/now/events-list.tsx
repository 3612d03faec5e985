/** What happened last: the events of KAFKA:msg, newest first. */
import type { ReactNode } from 'react';
import { fieldLabel } from '../../model/flight-fields.ts';
import { airportClock } from '../../model/time.ts';
import { hrefTo } from '../../model/route.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { useEvents, useStatus } from '../../ui/live-context.tsx';
import { Panel } from '../../ui/panel.tsx';

/** Changed fields named one by one. */
const NAMED = 6;

export function EventsList(): ReactNode {
  const { t, label } = useSpeech();
  const events = useEvents();
  const { status } = useStatus();
  const zone = status?.timeZone ?? 'UTC';
  return (
    <Panel title={t.lastEvents} className="events-panel">
      {events.length === 0 && <p className="nothing">{t.noEvents}</p>}
      {/* A scrolling region has to be reachable by keyboard. */}
      <ol className="events" tabIndex={0} aria-label={t.lastEvents} data-testid="events">
        {events.map((event) => (
          <li key={event.eventId} className={`event-${event.type}`}>
            <div className="event-head">
              <time dateTime={event.createdAt}>{airportClock(event.createdAt, zone)}</time>
              <a
                className="link"
                href={hrefTo('flights', [event.flid])}
                aria-label={t.openFlight(event.flightNumber ?? event.flid)}
              >
                {event.flightNumber ?? event.flid}
              </a>
              <span className="quiet">v{event.version}</span>
              {event.type === 'TOMBSTONE' && <span className="tag is-bad">TOMBSTONE</span>}
              <span className={`event-state state-${event.state}`}>{event.state}</span>
            </div>
            <p className="changed">
              {event.version === 1 ? (
                t.created
              ) : (
                <>
                  {event.changed
                    .slice(0, NAMED)
                    .map((path) => label(fieldLabel(path)))
                    .join(', ')}
                  {event.changed.length > NAMED && ` +${String(event.changed.length - NAMED)}`}
                </>
              )}
              {event.msgId !== null && <span className="quiet"> · {t.message(event.msgId)}</span>}
            </p>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
