/** The page "Delivery": what waits for each target, what was given up, and sending states again. */
import type { ReactNode } from 'react';
import { ActionButton } from '../../actions/acting.tsx';
import { republishStates } from '../../actions/catalogue.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { useStatus } from '../../ui/live-context.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { StationSwitch } from '../../ui/station-switch.tsx';
import { useToday } from '../../ui/use-today.ts';
import type { ConsolePage } from '../page.ts';
import { DeadEvents } from './dead-events.tsx';
import { OutboxTiles } from './outbox-tiles.tsx';
import { PendingEvents } from './pending-events.tsx';

function Delivery(): ReactNode {
  const { t, label } = useSpeech();
  const { status } = useStatus();
  const today = useToday();
  return (
    <>
      <PageHead title={label(deliveryPage.title)}>
        <div className="actions">
          <ActionButton action={() => republishStates(t, today)}>{t.act.republishButton}</ActionButton>
          <StationSwitch name="delivery" />
        </div>
      </PageHead>
      {status !== null && <OutboxTiles status={status} />}
      <DeadEvents />
      <PendingEvents />
    </>
  );
}

export const deliveryPage: ConsolePage = {
  path: 'delivery',
  title: { en: 'Delivery', zh: '投递' },
  sign: <path d="M1.5 8h10M8 4.5 11.5 8 8 11.5M14.5 3v10" />,
  Component: Delivery,
  attention: ({ outbox }) => outbox.reduce((sum, { dead }) => sum + dead, 0),
};
