/** One station: its state in colour, sign and word; its rate; what waits before it. */
import type { ReactNode } from 'react';
import type { Station } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { airportClock } from '../../model/time.ts';
import { Icon, STATION_SIGN } from '../../ui/icons.tsx';
import { useStatus } from '../../ui/live-context.tsx';
import { StationSwitch } from '../../ui/station-switch.tsx';
import { Sparkline } from './sparkline.tsx';

/** A number and what it counts. */
type Fact = readonly [value: string, what: string];

interface StationCardProps {
  readonly station: Station | undefined;
  readonly facts: readonly Fact[];
  /** Something waits here: the number is emphasised. */
  readonly strained: boolean;
  readonly note?: string;
}

export function StationCard({ station, facts, strained, note }: StationCardProps): ReactNode {
  const { t } = useSpeech();
  const { history, status } = useStatus();
  if (station === undefined) return null;
  const name = t.station[station.name];
  const rates = history[station.name] ?? [station.perMinute];
  return (
    <li
      className={`station at-${station.name} is-${station.state}`}
      data-testid={`station-${station.name}`}
      data-state={station.state}
    >
      <div className="station-head">
        <h3>{name}</h3>
        <span className="state">
          <Icon sign={STATION_SIGN[station.state]} />
          {t.stationState[station.state]}
        </span>
      </div>
      <div className="rate">
        <span className="number">{t.perMinute(station.perMinute)}</span>
        <Sparkline values={rates} title={t.sparkline(name, Math.min(...rates), Math.max(...rates))} />
      </div>
      <Facts facts={facts} strained={strained} />
      {station.state === 'running' || station.reason === null ? (
        note !== undefined && <p className="note">{note}</p>
      ) : (
        <p className="reason">
          {station.reason}
          {station.since !== null && (
            <span className="quiet"> {t.since(airportClock(station.since, status?.timeZone ?? 'UTC'))}</span>
          )}
        </p>
      )}
      <StationSwitch name={station.name} />
    </li>
  );
}

interface EndPointProps {
  readonly area: 'mailbox' | 'topics';
  readonly name: string;
  readonly facts: readonly Fact[];
  /** The station that uses it cannot reach it. */
  readonly ill: boolean;
}

/** Where messages come from and where events go: not ours, so no rate and no switch. */
export function EndPoint({ area, name, facts, ill }: EndPointProps): ReactNode {
  const { t } = useSpeech();
  return (
    <li className={`endpoint at-${area} ${ill ? 'is-outage' : ''}`}>
      <div className="station-head">
        <h3>{name}</h3>
        {ill && (
          <span className="state">
            <Icon sign="alert" />
            {t.stationState.outage}
          </span>
        )}
      </div>
      <Facts facts={facts} strained={false} />
    </li>
  );
}

function Facts({
  facts,
  strained,
}: {
  readonly facts: readonly Fact[];
  readonly strained: boolean;
}): ReactNode {
  if (facts.length === 0) return null;
  return (
    <p className={strained ? 'facts is-strained' : 'facts'}>
      {facts.map(([value, what]) => (
        <span key={what}>
          <b>{value}</b> {what}
        </span>
      ))}
    </p>
  );
}
