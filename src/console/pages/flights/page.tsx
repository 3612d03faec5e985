/** The page "Flights": the flights of a day as they change, the search over all days, and one flight. */
import { useCallback, type ReactNode } from 'react';
import { useSpeech } from '../../i18n/language.tsx';
import { hrefTo } from '../../model/route.ts';
import { PageHead } from '../../ui/page-head.tsx';
import { goTo, useRoute } from '../../ui/router.ts';
import type { ConsolePage, PageProps } from '../page.ts';
import { FlightView } from './flight-view.tsx';
import { FlightsPanel } from './flights-panel.tsx';
import { FoundFlights } from './found-flights.tsx';
import './flight.css';
import './flights.css';
import './flights-narrow.css';

function Flights({ rest: [flid] }: PageProps): ReactNode {
  const { label } = useSpeech();
  const { query } = useRoute();
  const open = useCallback((next: string) => goTo(hrefTo('flights', [next], query)), [query]);
  if (flid !== undefined) return <FlightView key={flid} flid={flid} />;
  const found = query['find'] ?? '';
  return (
    <>
      <PageHead title={label(flightsPage.title)} />
      {found !== '' && <FoundFlights text={found} />}
      <FlightsPanel onOpen={open} />
    </>
  );
}

export const flightsPage: ConsolePage = {
  path: 'flights',
  title: { en: 'Flights', zh: '航班' },
  sign: (
    <path d="M8 1.5c.8 0 1.2.8 1.2 2v2.7l5.3 3.3v1.4L9.2 9.4v3l1.6 1.2v1L8 13.9l-2.8.7v-1l1.6-1.2v-3l-5.3 1.5V9.5l5.3-3.3V3.5c0-1.2.4-2 1.2-2z" />
  ),
  Component: Flights,
};
