/** The record of a message: what it is, how it ended, and why. */
import type { ReactNode } from 'react';
import { prefixOf } from '../../../domain/reasons.ts';
import type { FullMessage } from '../../api/messages.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { hrefTo } from '../../model/route.ts';
import { span, untilMoment } from '../../model/time.ts';
import { useClock } from '../../ui/live-context.tsx';
import { useMoment } from '../../ui/moment.ts';
import { Panel } from '../../ui/panel.tsx';

export function RecordPanel({ of }: { readonly of: FullMessage }): ReactNode {
  const { t } = useSpeech();
  const moment = useMoment();
  const { receivedAt, enqueuedAt, terminalAt, terminalSeq, attempts, maxAttempts, identity } = of;
  return (
    <Panel title={t.msg.record}>
      <Why of={of} />
      <dl className="record-facts">
        <dt>{t.msg.received}</dt>
        <dd>
          {receivedAt === null ? '–' : moment(receivedAt)}{' '}
          <span className="quiet">
            {t.enqueued} {moment(enqueuedAt)}
          </span>
        </dd>
        <dt>{t.msg.ended}</dt>
        <dd>
          {terminalAt === null ? t.msg.notEnded : moment(terminalAt)}{' '}
          {terminalSeq !== null && <span className="quiet">{t.msg.order(terminalSeq)}</span>}
        </dd>
        <dt>{t.msg.attempts}</dt>
        <dd>
          {t.attempts(attempts, maxAttempts)} <NextAttempt at={of.nextAttemptAt} />
        </dd>
        <dt>{t.msg.identity}</dt>
        <dd className="code">{identity ?? t.msg.noIdentity}</dd>
        {of.report !== null && (
          <>
            <dt>{t.msg.report}</dt>
            <dd>{t.msg.reportState[of.report]}</dd>
          </>
        )}
        {of.archivedAt !== null && (
          <>
            <dt>{t.msg.archived}</dt>
            <dd>{moment(of.archivedAt)}</dd>
          </>
        )}
        {of.duplicates.length > 0 && (
          <>
            <dt>{t.msg.duplicates}</dt>
            <dd>
              {of.duplicates.map(({ msgId, reason }) => (
                <span key={msgId} className="each">
                  <a className="plain-link" href={hrefTo('messages', [msgId])}>
                    {msgId}
                  </a>
                  {reason.includes(' ') && (
                    <span className="quiet"> {reason.slice(reason.indexOf(' ') + 1)}</span>
                  )}
                </span>
              ))}
            </dd>
          </>
        )}
      </dl>
      {of.otherProfile === true && <p className="quiet">{t.msg.otherProfile}</p>}
    </Panel>
  );
}

/** Class and reason, as they stand and in words. */
function Why({ of }: { readonly of: FullMessage }): ReactNode {
  const { t } = useSpeech();
  const { errorClass, lastError, reason } = of;
  const told = lastError ?? reason;
  if (told === null && errorClass === null) return null;
  const prefix = told === null ? null : prefixOf(told);
  const original = reason === null ? null : /^duplicate-of:(\d+)/.exec(reason)?.[1];
  return (
    <div className={`why-box ${of.state === 'DEAD' ? 'is-person' : of.state === 'FAILED' ? 'is-stop' : ''}`}>
      <p>
        {errorClass !== null && <b>{errorClass} </b>}
        <span className="code">{told}</span>{' '}
        {original !== undefined && original !== null && (
          <a className="plain-link" href={hrefTo('messages', [original])}>
            {t.msg.original(original)}
          </a>
        )}
      </p>
      {prefix !== null && <p>{t.msg.reasonWords[prefix]}</p>}
      {errorClass !== null && <p className="quiet">{t.msg.classWords[errorClass]}</p>}
    </div>
  );
}

function NextAttempt({ at }: { readonly at: string | null }): ReactNode {
  const { t } = useSpeech();
  const now = useClock();
  if (at === null) return null;
  const left = untilMoment(at, now);
  return <span className="quiet">{left > 0 ? t.retryIn(t.span(span(left))) : t.due}</span>;
}
