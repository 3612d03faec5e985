/** What a person can do about a finding: the action itself, or the page that has it. */
import type { ReactNode } from 'react';
import { ActionButton } from '../../actions/acting.tsx';
import { askUpstream, replayMessages, skipMessage } from '../../actions/catalogue.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { hrefTo, type Query } from '../../model/route.ts';
import type { Finding } from '../../model/verdict.ts';
import { StationSwitch } from '../../ui/station-switch.tsx';
import { useToday } from '../../ui/use-today.ts';

export function FindingAction({ finding }: { readonly finding: Finding }): ReactNode {
  const { t } = useSpeech();
  const today = useToday();
  const parts = ((): ReactNode => {
    switch (finding.kind) {
      case 'paused':
        return <StationSwitch name={finding.station.name} />;
      case 'head-failed':
      case 'head-waits':
        return (
          <ActionButton action={() => skipMessage(t, finding.head.msgId)}>{t.act.skipButton}</ActionButton>
        );
      case 'dead-schedules':
        return (
          <>
            <Show page="messages" query={{ state: 'DEAD', type: 'SCHS' }} />
            <ActionButton action={() => askUpstream(t, { today })}>{t.act.askScheduleButton}</ActionButton>
          </>
        );
      case 'dead-messages':
        return (
          <>
            <Show page="messages" query={{ state: 'DEAD' }} />
            <ActionButton action={() => replayMessages(t)}>{t.act.replayButton}</ActionButton>
          </>
        );
      case 'dead-events':
        return <Show page="delivery" query={{ target: finding.target }} />;
      case 'outbox-old':
        return <Show page="delivery" query={{ target: finding.target }} />;
      case 'abandoned':
        return <Show page="backfill" />;
      case 'job-failing':
        return <Show page="health" />;
      case 'stream-lost':
      case 'outage':
      case 'stopped':
      case 'hole':
      case 'mailbox-silent':
      case 'standby':
      case 'flowing':
        return null;
    }
  })();
  return parts === null ? null : <span className="actions finding-actions">{parts}</span>;
}

function Show({ page, query = {} }: { readonly page: string; readonly query?: Query }): ReactNode {
  const { t } = useSpeech();
  return (
    <a className="plain" href={hrefTo(page, [], query)}>
      {t.act.show}
    </a>
  );
}
