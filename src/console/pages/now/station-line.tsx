/** The stations as a line, in the order in which a message passes them, with the mark on its way back. */
import type { ReactNode } from 'react';
import type { Station, StationName, Status } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { Panel } from '../../ui/panel.tsx';
import { EndPoint, StationCard } from './station-card.tsx';

interface LineProps {
  readonly status: Status;
}

export function StationLine({ status }: LineProps): ReactNode {
  const { t } = useSpeech();
  const { inbox, counts, outbox, backfill } = status;
  const find = (name: StationName): Station | undefined =>
    status.stations.find((station) => station.name === name);
  const waiting = (counts.byState.PENDING ?? 0) + (counts.byState.FAILED ?? 0);
  const toSend = outbox.reduce((sum, { pending }) => sum + pending, 0);
  const sent = outbox.reduce((sum, target) => sum + target.sent, 0);

  return (
    <Panel title={t.theLine} className="line-panel">
      <ol className="line">
        <EndPoint
          area="mailbox"
          name={t.mailbox}
          facts={[[inbox.highest ?? '–', t.newest]]}
          ill={find('inbox')?.state === 'outage'}
        />
        <Connector area="c1" station={find('inbox')} />
        <StationCard
          station={find('inbox')}
          facts={[
            [t.number(inbox.lag), t.lag],
            [inbox.watermark, t.watermark],
          ]}
          strained={inbox.lag > 0}
        />
        <Connector area="c2" station={find('pump')} />
        <StationCard station={find('pump')} facts={[[t.number(waiting), t.waiting]]} strained={waiting > 0} />
        <Connector area="c3" station={find('delivery')} />
        <StationCard
          station={find('delivery')}
          facts={[[t.number(toSend), t.toSend]]}
          strained={toSend > 0}
        />
        <Connector area="c4" station={find('delivery')} />
        <EndPoint
          area="topics"
          name={t.topics}
          facts={[[t.number(sent), t.sent]]}
          ill={find('delivery')?.state === 'outage'}
        />
        <Return station={find('backfill')} />
        <StationCard
          station={find('backfill')}
          facts={[[t.number(backfill.owed), t.owed]]}
          strained={backfill.owed > 0}
          note={t.marks}
        />
        <StationCard station={find('requests')} facts={[]} strained={false} note={t.asks} />
      </ol>
    </Panel>
  );
}

/** The way between two stations: its dashes move while the station it leads into takes messages. */
function Connector({
  area,
  station,
}: {
  readonly area: string;
  readonly station: Station | undefined;
}): ReactNode {
  return (
    <li className={`connector at-${area} ${flow(station)}`} aria-hidden="true">
      <svg viewBox="0 0 40 16" preserveAspectRatio="none">
        <path className="way" d="M0 8H40" />
      </svg>
      <svg className="tip" viewBox="0 0 8 16">
        <path d="m1 3 5 5-5 5" />
      </svg>
    </li>
  );
}

/** The way of the marks: down from the pump, left through backfill, up to the mailbox. */
function Return({ station }: { readonly station: Station | undefined }): ReactNode {
  return (
    <>
      <li className={`return-in ${flow(station)}`} aria-hidden="true" />
      <li className={`return-out ${flow(station)}`} aria-hidden="true" />
    </>
  );
}

function flow(station: Station | undefined): string {
  if (station?.state !== 'running') return 'is-still';
  return station.perMinute > 0 ? 'is-flowing' : 'is-idle';
}
