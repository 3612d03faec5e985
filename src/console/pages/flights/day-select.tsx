/** Chooses the operation day among those that have flights. */
import type { ReactNode } from 'react';
import type { DayCount } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';

interface DaySelectProps {
  readonly day: string | null;
  readonly days: readonly DayCount[];
  readonly today: string;
  readonly onChange: (day: string) => void;
}

export function DaySelect({ day, days, today, onChange }: DaySelectProps): ReactNode {
  const { t } = useSpeech();
  const index = days.findIndex((entry) => entry.day === day);
  const step = (by: -1 | 1): ReactNode => {
    const target = index === -1 ? undefined : days[index + by];
    return (
      <button
        type="button"
        className="plain"
        disabled={target === undefined}
        onClick={() => target !== undefined && onChange(target.day)}
        aria-label={by === -1 ? t.previousDay : t.nextDay}
      >
        <span aria-hidden="true">{by === -1 ? '‹' : '›'}</span>
      </button>
    );
  };
  return (
    <div className="days">
      {step(-1)}
      <select value={day ?? ''} onChange={(event) => onChange(event.target.value)} aria-label={t.day}>
        {day === null && <option value="">–</option>}
        {days.map((entry) => (
          <option key={entry.day} value={entry.day}>
            {entry.day} ({t.number(entry.flights)}){entry.day === today ? ` ${t.today}` : ''}
          </option>
        ))}
      </select>
      {step(1)}
    </div>
  );
}
