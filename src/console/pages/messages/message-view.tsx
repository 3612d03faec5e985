/** One message: why it stands as it does, its text, what it says, what it changed, and what can be done about it. */
import { useCallback, type ReactNode } from 'react';
import { ActionButton } from '../../actions/acting.tsx';
import { replayMessages, settleMarks, skipMessage } from '../../actions/catalogue.ts';
import { fetchMessage, type FullMessage } from '../../api/messages.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { hrefTo } from '../../model/route.ts';
import { Freshness } from '../../ui/freshness.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { useReading } from '../../ui/reading.ts';
import { useRoute } from '../../ui/router.ts';
import { ChangesPanel } from './changes-panel.tsx';
import { DecodedPanel } from './decoded-panel.tsx';
import { mayBeReplayed } from './message-list.tsx';
import { MessageFlags, StateTag } from './message-tags.tsx';
import { MarkPanel } from './mark-panel.tsx';
import { RecordPanel } from './record-panel.tsx';
import { TextPanel } from './text-panel.tsx';

export function MessageView({ msgId }: { readonly msgId: string }): ReactNode {
  const { t } = useSpeech();
  const { query } = useRoute();
  const reading = useReading(useCallback((signal: AbortSignal) => fetchMessage(msgId, signal), [msgId]));
  const message = reading.data;
  return (
    <>
      <PageHead
        title={t.msg.title(msgId)}
        above={
          <a className="plain-link back" href={hrefTo('messages', [], query)}>
            <span aria-hidden="true">‹ </span>
            {t.msg.back}
          </a>
        }
      >
        {message !== null && (
          <span className="message-kind">
            {[message.type, message.styp].filter((part) => part !== null).join('/')}{' '}
            <StateTag state={message.state} /> <MessageFlags of={message} />
          </span>
        )}
        <Freshness of={reading} />
        {message !== null && <Actions of={message} />}
      </PageHead>
      {message !== null && (
        <div className="message-parts">
          <div>
            <RecordPanel of={message} />
            <TextPanel of={message} />
            <DecodedPanel of={message} />
          </div>
          <div>
            <ChangesPanel of={message} />
            <MarkPanel of={message} />
          </div>
        </div>
      )}
    </>
  );
}

/** What an operator may do about it as it stands. */
function Actions({ of }: { readonly of: FullMessage }): ReactNode {
  const { t } = useSpeech();
  const { msgId, state, mark } = of;
  return (
    <div className="actions">
      {mayBeReplayed(of) && (
        <ActionButton action={() => replayMessages(t, [msgId])}>{t.act.replayButton}</ActionButton>
      )}
      {(state === 'PENDING' || state === 'FAILED') && (
        <ActionButton action={() => skipMessage(t, msgId)}>{t.act.skipButton}</ActionButton>
      )}
      {mark === 'abandoned' && (
        <>
          <ActionButton action={() => settleMarks(t, 'reopen', [msgId])}>{t.act.reopenButton}</ActionButton>
          <ActionButton action={() => settleMarks(t, 'confirm', [msgId])}>{t.act.confirmButton}</ActionButton>
        </>
      )}
    </div>
  );
}
