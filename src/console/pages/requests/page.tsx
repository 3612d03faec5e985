/** The page "Requests": what was asked of the upstream. */
import type { ReactNode } from 'react';
import { ActionButton } from '../../actions/acting.tsx';
import { askUpstream } from '../../actions/catalogue.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { useStatus } from '../../ui/live-context.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { useRequestable } from '../../ui/requestable.ts';
import { StationSwitch } from '../../ui/station-switch.tsx';
import { useToday } from '../../ui/use-today.ts';
import type { ConsolePage } from '../page.ts';
import { RequestsPanel } from './requests-panel.tsx';
import './requests.css';

function Requests(): ReactNode {
  const { t, label } = useSpeech();
  const { status } = useStatus();
  const types = useRequestable();
  const today = useToday();
  return (
    <>
      <PageHead title={label(requestsPage.title)}>
        <div className="actions">
          <ActionButton action={() => askUpstream(t, { today, types })}>{t.act.askButton}</ActionButton>
          <StationSwitch name="requests" />
        </div>
      </PageHead>
      {status !== null && <RequestsPanel counts={status.requests} />}
    </>
  );
}

export const requestsPage: ConsolePage = {
  path: 'requests',
  title: { en: 'Requests', zh: '请求' },
  sign: <path d="M14.5 1.5 1.5 6.8l5 2.7 2.7 5zM6.5 9.5l8-8" />,
  Component: Requests,
};
