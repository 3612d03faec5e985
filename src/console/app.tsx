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
import { ReferenceDetail } from './ui/reference-detail.tsx';
import { ReferencePanel, type ReferenceKey } from './ui/reference-panel.tsx';
import { RequestsPanel } from './ui/requests-panel.tsx';
import { StationLine } from './ui/station-line.tsx';
import { Verdict } from './ui/verdict.tsx';

/** What is shown beside the page. */
type Opened =
  | { readonly kind: 'flight'; readonly flid: string }
  | { readonly kind: 'reference'; readonly row: ReferenceKey };

export function App(): ReactNode {
  const { t } = useSpeech();
  const { status } = useStatus();
  const [open, setOpen] = useState<Opened | null>(null);
  const opener = useRef<HTMLElement | null>(null);

  const show = useCallback((opened: Opened) => {
    opener.current = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    setOpen(opened);
  }, []);
  const openFlight = useCallback((flid: string) => show({ kind: 'flight', flid }), [show]);
  const openReference = useCallback((row: ReferenceKey) => show({ kind: 'reference', row }), [show]);
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
          <FlightsPanel open={open?.kind === 'flight' ? open.flid : null} onOpen={openFlight} />
          <EventsList onOpen={openFlight} />
        </div>
        {status !== null && <RequestsPanel counts={status.requests} />}
        <ReferencePanel open={open?.kind === 'reference' ? open.row : null} onOpen={openReference} />
      </main>
      {open?.kind === 'flight' && <FlightDetail flid={open.flid} onClose={close} />}
      {open?.kind === 'reference' && <ReferenceDetail of={open.row} onClose={close} />}
    </>
  );
}
