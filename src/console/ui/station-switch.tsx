/** Pauses a station, or lets it go on. */
import type { ReactNode } from 'react';
import { ActionButton } from '../actions/acting.tsx';
import { turnStation } from '../actions/catalogue.ts';
import type { StationName } from '../api/types.ts';
import { useSpeech } from '../i18n/language.tsx';
import { useStatus } from './live-context.tsx';

export function StationSwitch({ name }: { readonly name: StationName }): ReactNode {
  const { t } = useSpeech();
  const { status } = useStatus();
  const station = status?.stations.find((each) => each.name === name);
  if (station === undefined) return null;
  const change = station.state === 'paused' ? 'resume' : 'pause';
  return (
    <ActionButton action={() => turnStation(t, change, name)}>
      {change === 'pause' ? t.act.pauseButton(t.station[name]) : t.act.resumeButton(t.station[name])}
    </ActionButton>
  );
}
