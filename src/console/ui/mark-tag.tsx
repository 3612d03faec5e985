/** What is remarkable about a flight, as a small tag. */
import type { ReactNode } from 'react';
import { useSpeech } from '../i18n/language.tsx';
import type { Mark } from '../model/flight-columns.ts';

export function MarkTag({ mark }: { readonly mark: Mark }): ReactNode {
  const { t } = useSpeech();
  switch (mark.kind) {
    case 'deleted':
      return <span className="tag is-bad">{t.deleted}</span>;
    case 'cancelled':
      return <span className="tag is-bad">{t.cancelled}</span>;
    case 'returned':
      return <span className="tag is-bad">{t.returned}</span>;
    case 'diverted':
      return <span className="tag is-bad">{t.divertedTo(mark.airport)}</span>;
    case 'delayed':
      return (
        <span className={mark.minutes >= 15 ? 'tag is-late' : 'tag is-slight'}>
          {t.delayed(mark.minutes)}
        </span>
      );
    case 'status':
      return <span className="tag">{mark.text}</span>;
  }
}
