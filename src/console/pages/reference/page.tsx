/** The page "Reference": reference data, looked up. */
import { useCallback, useRef, useState, type ReactNode } from 'react';
import { ActionButton } from '../../actions/acting.tsx';
import { askUpstream } from '../../actions/catalogue.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { useRequestable } from '../../ui/requestable.ts';
import { setQuery, useRoute } from '../../ui/router.ts';
import { useToday } from '../../ui/use-today.ts';
import type { ConsolePage } from '../page.ts';
import { ReferenceDetail } from './reference-detail.tsx';
import { ReferencePanel, type ReferenceKey } from './reference-panel.tsx';
import './reference.css';

function Reference(): ReactNode {
  const { t, label } = useSpeech();
  const { type = null } = useRoute().query;
  const types = useRequestable();
  const today = useToday();
  const [open, setOpen] = useState<ReferenceKey | null>(null);
  const opener = useRef<HTMLElement | null>(null);
  const show = useCallback((row: ReferenceKey) => {
    opener.current = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    setOpen(row);
  }, []);
  const close = useCallback(() => {
    setOpen(null);
    opener.current?.focus();
  }, []);
  return (
    <>
      <PageHead title={label(referencePage.title)}>
        <div className="actions">
          <ActionButton
            action={() => {
              const initial = types.find((each) => each === type) ?? types[0];
              return askUpstream(t, { today, types, ...(initial === undefined ? {} : { initial }) });
            }}
          >
            {t.act.askButton}
          </ActionButton>
        </div>
      </PageHead>
      <ReferencePanel type={type} onType={(chosen) => setQuery({ type: chosen })} open={open} onOpen={show} />
      {open !== null && <ReferenceDetail of={open} onClose={close} />}
    </>
  );
}

export const referencePage: ConsolePage = {
  path: 'reference',
  title: { en: 'Reference', zh: '基础数据' },
  sign: (
    <path d="M2.5 3c2-.9 3.7-.9 5.5.3C9.8 2.1 11.5 2.1 13.5 3v10c-2-.9-3.7-.9-5.5.3-1.8-1.2-3.5-1.2-5.5-.3zM8 3.3v10" />
  ),
  Component: Reference,
};
