/** The page "Now": what is stuck and why, then the flights and what happened to them. */
import { useCallback, useRef, useState, type ReactNode } from 'react';
import { useSpeech } from './i18n/language.tsx';
import { BackfillCard } from './ui/backfill-card.tsx';
import { EventsList } from './ui/events-list.tsx';
import { FlightDetail } from './ui/flight-detail.tsx';
import { FlightsPanel } from './ui/flights-panel.tsx';
import { Header } from './ui/header.tsx';
import { HeadCard } from './ui/head-card.tsx';
import { HolesCard } from './ui/holes-card.tsx';
import { useStatus } from './ui/live-context.tsx';
import { MessagesCard } from './ui/messages-card.tsx';
import { OutboxCard } from './ui/outbox-card.tsx';
import { StationLine } from './ui/station-line.tsx';
import { Verdict } from './ui/verdict.tsx';

export function App(): ReactNode {
  const { t } = useSpeech();
  const { status } = useStatus();
  const [open, setOpen] = useState<string | null>(null);
  const opener = useRef<HTMLElement | null>(null);

  const openFlight = useCallback((flid: string) => {
    opener.current = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    setOpen(flid);
  }, []);
  const close = useCallback(() => {
    setOpen(null);
    opener.current?.focus();
  }, []);

  return (
    <>
      <a className="skip" href="#flights">
        {t.skipToFlights}
      </a>
      <Header />
      <main>
        <h1 className="unseen">{t.title}</h1>
        <Verdict />
        {status !== null && (
          <>
            <StationLine status={status} />
            <div className="cards">
              <HeadCard status={status} />
              <HolesCard status={status} />
              <MessagesCard status={status} />
              <OutboxCard status={status} />
              <BackfillCard status={status} />
            </div>
          </>
        )}
        <div className="lists">
          <FlightsPanel open={open} onOpen={openFlight} />
          <EventsList onOpen={openFlight} />
        </div>
      </main>
      {open !== null && <FlightDetail flid={open} onClose={close} />}
    </>
  );
}
