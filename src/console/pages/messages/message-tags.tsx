/** State and remarks of a message, as small tags. */
import type { ReactNode } from 'react';
import type { ProcState } from '../../../domain/outcome.ts';
import type { ListedMessage } from '../../api/messages.ts';
import { useSpeech } from '../../i18n/language.tsx';

export function StateTag({ state }: { readonly state: ProcState }): ReactNode {
  const { t } = useSpeech();
  return (
    <span className={`tag state-${state}`} title={t.procState[state]}>
      {state}
    </span>
  );
}

const FLAGS = ['late', 'replayed', 'restored', 'shadow', 'archived'] as const;

export function MessageFlags({ of }: { readonly of: ListedMessage }): ReactNode {
  const { t } = useSpeech();
  return FLAGS.filter((flag) => of[flag]).map((flag) => (
    <span key={flag} className="tag">
      {t.msg[flag]}
    </span>
  ));
}
