/** The page "Now": what is stuck and why, until when, and who has to act. */
import type { ReactNode } from 'react';
import { useSpeech } from '../../i18n/language.tsx';
import { useStatus } from '../../ui/live-context.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import type { ConsolePage } from '../page.ts';
import { BackfillCard } from './backfill-card.tsx';
import { EventsList } from './events-list.tsx';
import { HeadCard } from './head-card.tsx';
import { HolesCard } from './holes-card.tsx';
import { MessagesCard } from './messages-card.tsx';
import { OutboxCard } from './outbox-card.tsx';
import { StationLine } from './station-line.tsx';
import { Verdict } from './verdict.tsx';
import './stations.css';
import './line.css';
import './cards.css';

function Now(): ReactNode {
  const { label } = useSpeech();
  const { status } = useStatus();
  return (
    <>
      <PageHead title={label(nowPage.title)} />
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
      <EventsList />
    </>
  );
}

export const nowPage: ConsolePage = {
  path: 'now',
  title: { en: 'Now', zh: '当前' },
  sign: <path d="M1.5 8.5h3l2-5.5 3 10 2-4.5h3" />,
  Component: Now,
};
