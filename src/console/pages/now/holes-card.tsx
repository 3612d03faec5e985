/** IDs missing in the mailbox: how long already, and when the inbox goes on without them. */
import type { ReactNode } from 'react';
import type { Hole, Status } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { span, untilMoment } from '../../model/time.ts';
import { useClock } from '../../ui/live-context.tsx';
import { Panel } from '../../ui/panel.tsx';

/** Holes shown one by one. */
const SHOWN = 4;

export function HolesCard({ status }: { readonly status: Status }): ReactNode {
  const { t } = useSpeech();
  const { holes, permanentHoles, lateArrivals } = status.inbox;
  return (
    <Panel title={t.holes} className={`card holes-card ${holes.length > 0 ? 'is-wait' : ''}`}>
      {holes.length === 0 && <p className="nothing">{t.holesNone}</p>}
      <ul className="holes">
        {holes.slice(0, SHOWN).map((hole) => (
          <HoleLine key={hole.from} hole={hole} />
        ))}
      </ul>
      {holes.length > SHOWN && <p className="quiet">{t.moreHoles(holes.length - SHOWN)}</p>}
      <p className="facts">
        <span>
          <b>{t.number(permanentHoles)}</b> {t.permanentHoles}
        </span>
        <span>
          <b>{t.number(lateArrivals)}</b> {t.lateArrivals}
        </span>
      </p>
    </Panel>
  );
}

function HoleLine({ hole }: { readonly hole: Hole }): ReactNode {
  const { t } = useSpeech();
  const now = useClock();
  const left = hole.releasesAt === null ? null : untilMoment(hole.releasesAt, now);
  return (
    <li>
      <b>{hole.from === hole.to ? hole.from : `${hole.from}–${hole.to}`}</b>{' '}
      <span className="quiet">
        {t.ids(hole.ids)}, {t.age.toLowerCase()} {t.span(span(now - Date.parse(hole.firstSeenAt)))}
      </span>
      {hole.held && <span className="tag">{t.held}</span>}
      {left !== null && <span className="left">{left > 0 ? t.releasedIn(t.span(span(left))) : t.due}</span>}
    </li>
  );
}
