/** The page "Backfill": marks owed to the mailbox, and those that were given up. */
import type { ReactNode } from 'react';
import type { Status } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { span } from '../../model/time.ts';
import { useClock, useStatus } from '../../ui/live-context.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { Panel } from '../../ui/panel.tsx';
import { StationSwitch } from '../../ui/station-switch.tsx';
import type { ConsolePage } from '../page.ts';
import { AbandonedMarks } from './abandoned-marks.tsx';

function Backfill(): ReactNode {
  const { label } = useSpeech();
  const { status } = useStatus();
  return (
    <>
      <PageHead title={label(backfillPage.title)}>
        <div className="actions">
          <StationSwitch name="backfill" />
        </div>
      </PageHead>
      {status !== null && <Tiles status={status} />}
      <AbandonedMarks />
    </>
  );
}

function Tiles({ status }: { readonly status: Status }): ReactNode {
  const { t } = useSpeech();
  const now = useClock();
  const { owed, confirmed, abandoned } = status.backfill;
  const station = status.stations.find(({ name }) => name === 'backfill');
  const { markedAt } = status.last;
  return (
    <div className="tiles">
      <Panel title={t.act.owedTile} className={`tile is-${station?.state ?? 'running'}`}>
        <p className="big">{t.number(owed)}</p>
        <dl>
          <dt>{t.act.state}</dt>
          <dd>
            {station === undefined ? '–' : t.stationState[station.state]}
            {station?.reason != null && <span className="quiet"> {station.reason}</span>}
          </dd>
          <dt>{t.lastMarked}</dt>
          <dd>{markedAt === null ? t.never : t.ago(t.span(span(now - Date.parse(markedAt))))}</dd>
        </dl>
      </Panel>
      <Panel title={t.act.confirmedTile} className="tile">
        <p className="big">{t.number(confirmed)}</p>
        <p className="quiet">{t.perMinute(station?.perMinute ?? 0)}</p>
      </Panel>
      {(['MISSING_ROW', 'TRANSIENT_DEADLINE'] as const).map((reason) => {
        const count = abandoned[reason] ?? 0;
        return (
          <Panel key={reason} title={reason} className={`tile ${count > 0 ? 'is-person' : ''}`}>
            <p className="big">{t.number(count)}</p>
            <p className="quiet">{t.act.reasonWords[reason]}</p>
          </Panel>
        );
      })}
    </div>
  );
}

export const backfillPage: ConsolePage = {
  path: 'backfill',
  title: { en: 'Backfill', zh: '回填' },
  sign: <path d="M14.5 11.5h-9a3.5 3.5 0 0 1 0-7h9M11.5 1.5l3 3-3 3M3 14.5h10" />,
  Component: Backfill,
  attention: ({ backfill: { abandoned } }) =>
    (abandoned.MISSING_ROW ?? 0) + (abandoned.TRANSIENT_DEADLINE ?? 0),
};
