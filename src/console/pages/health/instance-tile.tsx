/** Who holds the lease, and what msgx takes of its PostgreSQL: room and connections. */
import type { ReactNode } from 'react';
import { fetchInstance } from '../../api/operate.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { sizeText } from '../../model/size.ts';
import { Freshness } from '../../ui/freshness.tsx';
import { Panel } from '../../ui/panel.tsx';
import { useReading } from '../../ui/reading.ts';

/** Sizes move slowly, and the server looks at each of its files for them. */
const EVERY_MS = 15_000;
/** Tables that are named. */
const LARGEST = 3;
/** From this part of the limit on, connections are scarce. */
const SCARCE = 0.9;

export function InstanceTile(): ReactNode {
  const { t } = useSpeech();
  const reading = useReading(fetchInstance, EVERY_MS);
  const { data } = reading;
  const size = (bytes: number): string => sizeText(bytes, t.number);
  const scarce = data !== null && data.connections.used >= data.connections.limit * SCARCE;
  const tone = data?.lease.held === false ? 'is-stop' : scarce ? 'is-wait' : '';
  return (
    <Panel title={t.act.leaseAndRoom} className={`tile ${tone}`} extra={<Freshness of={reading} />}>
      {data !== null && (
        <dl data-testid="lease">
          <div className="pair">
            <dt>{t.act.lease}</dt>
            <dd className={data.lease.held ? '' : 'is-bad'}>
              {data.lease.held ? t.act.leaseHeld : t.act.leaseFree}{' '}
              <span className="quiet">{t.act.epoch(data.lease.epoch)}</span>
            </dd>
          </div>
          <div className="pair">
            <dt>{data.lease.held ? t.act.holder : t.act.lastHolder}</dt>
            <dd>{data.lease.holder ?? '–'}</dd>
          </div>
          <div className="pair">
            <dt>{t.act.size}</dt>
            <dd>
              {size(data.database.ownBytes)}{' '}
              <span className="quiet">{t.act.sizeOf(size(data.database.bytes))}</span>
            </dd>
          </div>
          <div className="pair">
            <dt>{t.act.largest}</dt>
            <dd>
              {data.database.largest.slice(0, LARGEST).map(({ table, bytes }) => (
                <div key={table}>
                  <span className="code">{table}</span> {size(bytes)}
                </div>
              ))}
            </dd>
          </div>
          <div className="pair">
            <dt>{t.act.sessions}</dt>
            <dd className={scarce ? 'is-bad' : ''}>
              {t.act.sessionsOf(data.connections.used, data.connections.limit)}{' '}
              <span className="quiet">{t.act.sessionsOurs(data.connections.own)}</span>
            </dd>
          </div>
        </dl>
      )}
    </Panel>
  );
}
