/** The page "Messages": the list with its filters, and one message. */
import type { ReactNode } from 'react';
import { useSpeech } from '../../i18n/language.tsx';
import type { ConsolePage, PageProps } from '../page.ts';
import { MessageList } from './message-list.tsx';
import { MessageView } from './message-view.tsx';
import './messages.css';

function Messages({ rest: [msgId] }: PageProps): ReactNode {
  const { label } = useSpeech();
  return msgId === undefined ? (
    <MessageList title={label(messagesPage.title)} />
  ) : (
    <MessageView key={msgId} msgId={msgId} />
  );
}

export const messagesPage: ConsolePage = {
  path: 'messages',
  title: { en: 'Messages', zh: '消息' },
  sign: <path d="M1.5 3h13v10h-13zM1.5 3.5 8 8.5l6.5-5" />,
  Component: Messages,
  attention: ({ counts }) => counts.byState.DEAD ?? 0,
};
