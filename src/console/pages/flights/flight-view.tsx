/** One flight: its times as a picture, its fields with who set them, its versions and its messages. */
import { useCallback, useEffect, useMemo, type ReactNode } from 'react';
import { ActionButton } from '../../actions/acting.tsx';
import { republishStates } from '../../actions/catalogue.ts';
import { fetchFlight, type FullFlight } from '../../api/flights.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { flightName, marks } from '../../model/flight-columns.ts';
import { codes, textAt } from '../../model/flight-fields.ts';
import { hrefTo } from '../../model/route.ts';
import { Freshness } from '../../ui/freshness.tsx';
import { useNews } from '../../ui/live-context.tsx';
import { MarkTag } from '../../ui/mark-tag.tsx';
import { useMoment } from '../../ui/moment.ts';
import { PageHead } from '../../ui/page-head.tsx';
import { useReading } from '../../ui/reading.ts';
import { goTo, useRoute } from '../../ui/router.ts';
import { useToday } from '../../ui/use-today.ts';
import { FieldsPanel } from './fields-panel.tsx';
import { FlightMessages } from './flight-messages.tsx';
import { rememberFlight } from './last-flight.ts';
import { TimelinePanel } from './timeline-panel.tsx';
import { VersionsPanel } from './versions-panel.tsx';

export function FlightView({ flid }: { readonly flid: string }): ReactNode {
  const { t } = useSpeech();
  const { query } = useRoute();
  const today = useToday();
  const back = hrefTo('flights', [], query);
  const news = useNewest(flid);
  const reading = useReading(useCallback((signal: AbortSignal) => fetchFlight(flid, signal), [flid, news]));
  const flight = reading.data;
  useEffect(() => rememberFlight(flid), [flid]);
  useEffect(() => {
    const escape = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) goTo(back);
    };
    document.addEventListener('keydown', escape);
    return () => document.removeEventListener('keydown', escape);
  }, [back]);
  return (
    <>
      <PageHead
        title={flight === null ? flid : flightName(flight)}
        above={
          <a className="plain-link back" href={back}>
            <span aria-hidden="true">‹ </span>
            {t.flight.back}
          </a>
        }
      >
        {flight !== null && <Kind of={flight} />}
        <Freshness of={reading} />
        {flight !== null && !flight.archived && (
          <div className="actions">
            <ActionButton action={() => republishStates(t, today, flid)}>
              {t.act.republishButton}
            </ActionButton>
          </div>
        )}
      </PageHead>
      {flight !== null && (
        <>
          <Facts of={flight} />
          <TimelinePanel of={flight} />
          <div className="flight-parts">
            <div>
              <FieldsPanel of={flight} />
            </div>
            <div>
              <VersionsPanel flid={flid} news={news} />
              <FlightMessages of={flight} />
            </div>
          </div>
        </>
      )}
    </>
  );
}

/** Another one whenever the stream tells an event of this flight: what is on show is read again at once. */
function useNewest(flid: string): string {
  const events = useNews();
  return useMemo(() => {
    const newest = events.find((event) => event.flid === flid);
    return newest === undefined ? '' : `${newest.eventId} ${newest.state}`;
  }, [events, flid]);
}

function Kind({ of }: { readonly of: FullFlight }): ReactNode {
  const { t } = useSpeech();
  const movement = textAt(of.flight, 'movement');
  return (
    <span className="flight-kind">
      {movement === 'A' ? t.arrival : movement === 'D' ? t.departure : movement}{' '}
      {codes(of.flight, 'route', 'airport')}{' '}
      {marks(of).map((mark, index) => (
        <MarkTag key={index} mark={mark} />
      ))}{' '}
      {of.archived && <span className="tag">{t.flight.archived}</span>}
    </span>
  );
}

function Facts({
  of: { flid, operationDay, version, lastMsgId, updatedAt },
}: {
  readonly of: FullFlight;
}): ReactNode {
  const { t } = useSpeech();
  const moment = useMoment();
  return (
    <p className="quiet" data-testid="flight-facts">
      FLID {flid} · {operationDay} · {t.version(version)} ·{' '}
      <a className="plain-link" href={hrefTo('messages', [lastMsgId])}>
        {t.message(lastMsgId)}
      </a>{' '}
      · {t.updated} {moment(updatedAt)}
    </p>
  );
}
