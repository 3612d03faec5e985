/** Requests to the upstream: what waits, what became of the others, and asking. Read when it is opened, not before. */
import { useState, type ReactNode } from 'react';
import type { RequestCounts } from '../api/types.ts';
import { useSpeech } from '../i18n/language.tsx';
import { RequestForm } from './request-form.tsx';
import { RequestList } from './request-list.tsx';

export function RequestsPanel({ counts }: { readonly counts: RequestCounts }): ReactNode {
  const { t } = useSpeech();
  const [shown, setShown] = useState(false);
  const [types, setTypes] = useState<readonly string[]>([]);
  const [sent, setSent] = useState(0);
  const { byState, reports } = counts;
  return (
    <details className="panel requests-panel" onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary data-testid="requests-summary">
        <h2>{t.requests}</h2>{' '}
        <span className="quiet">
          {t.openRequests(byState.PENDING + byState.SENT)} · {t.reports(reports.waiting, reports.sent)}
        </span>
      </summary>
      {shown && (
        <>
          <RequestForm types={types} onAsked={() => setSent((before) => before + 1)} />
          {/* A request only ever goes on: where nothing is counted anew, nothing has happened. */}
          <RequestList version={`${Object.values(byState).join()} ${String(sent)}`} onTypes={setTypes} />
        </>
      )}
    </details>
  );
}
