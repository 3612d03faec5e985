/** Whether msgx lives and serves, which instance this is, and what it is connected to. */
import { useCallback, type ReactNode } from 'react';
import { readLiveness, readReadiness } from '../../api/operate.ts';
import type { Status } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { span } from '../../model/time.ts';
import { Freshness } from '../../ui/freshness.tsx';
import { Panel } from '../../ui/panel.tsx';
import { useReading } from '../../ui/reading.ts';
import { InstanceTile } from './instance-tile.tsx';

export function HealthTiles({ status }: { readonly status: Status }): ReactNode {
  const { t } = useSpeech();
  const ready = useReading(useCallback((signal) => readReadiness(signal), []));
  const live = useReading(useCallback((signal) => readLiveness(signal), []));
  const parts = (['database', 'mailbox', 'delivery'] as const).map(
    (name) => [name, ready.data?.[name] ?? null] as const,
  );
  const worst = parts.some(([, state]) => state === 'down')
    ? 'is-stop'
    : parts.some(([, state]) => state === 'degraded')
      ? 'is-wait'
      : '';
  const ack = ready.data?.ackAgeSeconds ?? null;
  const stuck = live.data?.stuck ?? [];
  return (
    <div className="tiles">
      <Panel title={t.act.connections} className={`tile ${worst}`} extra={<Freshness of={ready} />}>
        <dl data-testid="connections">
          {parts.map(([name, state]) => (
            <div key={name} className="pair">
              <dt>{t.act[name]}</dt>
              <dd className={state === 'down' || state === 'degraded' ? 'is-bad' : ''}>
                {state === null ? '–' : t.act[state]}
              </dd>
            </div>
          ))}
          <div className="pair">
            <dt>{t.act.lastAck}</dt>
            <dd>{ack === null ? t.never : t.ago(t.span(span(ack * 1_000)))}</dd>
          </div>
        </dl>
      </Panel>
      <Panel title={t.act.instance} className="tile" extra={<Freshness of={live} />}>
        <dl data-testid="instance">
          <div className="pair">
            <dt>{t.act.loops}</dt>
            <dd className={stuck.length > 0 ? 'is-bad' : ''}>
              {live.data === null ? '–' : stuck.length === 0 ? t.act.loopsTurn : t.act.loopsStuck(stuck)}
            </dd>
          </div>
          <div className="pair">
            <dt>{t.act.role}</dt>
            <dd>{status.role === 'active' ? t.act.activeRole : t.act.standbyRole}</dd>
          </div>
          <div className="pair">
            <dt>{t.act.version}</dt>
            <dd>{status.version}</dd>
          </div>
          <div className="pair">
            <dt>{t.airportTime}</dt>
            <dd>{status.timeZone}</dd>
          </div>
        </dl>
      </Panel>
      <InstanceTile />
      <Panel title={t.act.stations} className="tile">
        <dl data-testid="stations">
          {status.stations.map(({ name, state, reason }) => (
            <div key={name} className="pair">
              <dt>{t.station[name]}</dt>
              <dd className={state === 'running' ? '' : 'is-bad'}>
                {t.stationState[state]}
                {reason !== null && <span className="quiet"> {reason}</span>}
              </dd>
            </div>
          ))}
        </dl>
      </Panel>
    </div>
  );
}
