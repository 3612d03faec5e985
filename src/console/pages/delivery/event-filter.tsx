/** Which events are shown: of a target, of a flight; kept in the address. */
import type { ReactNode } from 'react';
import type { Target } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { setQuery, useRoute } from '../../ui/router.ts';

export const TARGETS: readonly Target[] = ['KAFKA:msg', 'KAFKA:schd'];

export interface EventFilter {
  readonly target: Target | null;
  readonly flid: string;
}

export function useEventFilter(): EventFilter {
  const { query } = useRoute();
  const { target, flid = '' } = query;
  return { target: TARGETS.find((each) => each === target) ?? null, flid };
}

export function EventFilterTools({ target, flid }: EventFilter): ReactNode {
  const { t } = useSpeech();
  return (
    <>
      <select
        value={target ?? ''}
        aria-label={t.target}
        onChange={(event) => setQuery({ target: event.target.value })}
      >
        <option value="">{t.act.anyTarget}</option>
        {TARGETS.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
      <input
        type="search"
        value={flid}
        placeholder={t.act.flightFilter}
        aria-label={t.act.flightFilter}
        onChange={(event) => setQuery({ flid: event.target.value.trim() })}
      />
    </>
  );
}
