/** How a message stands with its mark in the mailbox. */
import type { ReactNode } from 'react';
import type { FullMessage } from '../../api/messages.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { useMoment } from '../../ui/moment.ts';
import { Panel } from '../../ui/panel.tsx';

export function MarkPanel({ of: { mark, backfill } }: { readonly of: FullMessage }): ReactNode {
  const { t } = useSpeech();
  const moment = useMoment();
  const { markedAtIntake, attempts, nextAt, markedAt, abandonedAt, abandonedReason } = backfill;
  const { confirmedAt, confirmedBy } = backfill;
  const because = abandonedReason === null ? '' : (t.act.reasonWords[abandonedReason] ?? abandonedReason);
  const facts: readonly (readonly [string, string | null])[] = [
    [t.msg.state, t.msg.markState[mark]],
    [t.msg.markedAt, markedAt === null ? null : moment(markedAt)],
    [t.msg.attempts, attempts === 0 ? null : t.number(attempts)],
    [t.msg.nextMark, nextAt === null || mark !== 'owed' ? null : moment(nextAt)],
    [t.msg.abandonedAt, abandonedAt === null ? null : `${moment(abandonedAt)}, ${because}`],
    [t.msg.confirmedAt, confirmedAt === null ? null : `${moment(confirmedAt)} ${confirmedBy ?? ''}`],
  ];
  return (
    <Panel title={t.msg.markTitle} className={mark === 'abandoned' ? 'is-person toned' : ''}>
      <dl className="record-facts" data-testid="mark">
        {facts.map(
          ([name, value]) =>
            value !== null && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
      {markedAtIntake && <p className="quiet">{t.msg.markedAtIntake}</p>}
    </Panel>
  );
}
