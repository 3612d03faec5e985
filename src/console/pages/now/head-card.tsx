/** The message at the head of the line: why it waits, and until when. */
import type { ReactNode } from 'react';
import type { Status } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { airportClock, span, untilMoment } from '../../model/time.ts';
import { useClock } from '../../ui/live-context.tsx';
import { ActionButton } from '../../actions/acting.tsx';
import { skipMessage } from '../../actions/catalogue.ts';
import { Panel } from '../../ui/panel.tsx';

export function HeadCard({ status }: { readonly status: Status }): ReactNode {
  const { t } = useSpeech();
  const now = useClock();
  const { head } = status;
  if (head === null) {
    return (
      <Panel title={t.headOfLine} className="card head-card">
        <p className="nothing">{t.headNone}</p>
      </Panel>
    );
  }
  const left = head.nextAttemptAt === null ? 0 : untilMoment(head.nextAttemptAt, now);
  const age = t.ago(t.span(span(now - Date.parse(head.enqueuedAt))));
  return (
    <Panel title={t.headOfLine} className={`card head-card ${head.state === 'FAILED' ? 'is-stop' : ''}`}>
      <p className="head-name">
        <b>{head.msgId}</b> <span>{[head.type, head.styp].filter((part) => part !== null).join('/')}</span>
        <span className={`tag state-${head.state}`}>{head.state}</span>
      </p>
      {head.lastError !== null && (
        <p className="code">
          {head.errorClass !== null && <span className="tag">{head.errorClass}</span>} {head.lastError}
        </p>
      )}
      <dl>
        <dt>{t.why}</dt>
        <dd>{head.why}</dd>
        <dt>{t.nextTry}</dt>
        <dd>
          <b>{left > 0 ? t.span(span(left)) : t.due}</b>
          <span className="quiet"> {t.attempts(head.attempts, head.maxAttempts)}</span>
          <meter
            className="attempts"
            min={0}
            max={head.maxAttempts}
            value={head.attempts}
            aria-label={t.attempts(head.attempts, head.maxAttempts)}
          />
        </dd>
        <dt>{t.enqueued}</dt>
        <dd>
          {airportClock(head.enqueuedAt, status.timeZone)} <span className="quiet">{age}</span>
        </dd>
      </dl>
      <div className="actions card-actions">
        <ActionButton action={() => skipMessage(t, head.msgId)}>{t.act.skipButton}</ActionButton>
      </div>
    </Panel>
  );
}
