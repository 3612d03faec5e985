/** Requests to the upstream: what waits, and what became of the others. */
import type { ReactNode } from 'react';
import { useActing } from '../../actions/acting.tsx';
import type { RequestCounts } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { RequestList } from './request-list.tsx';

export function RequestsPanel({ counts }: { readonly counts: RequestCounts }): ReactNode {
  const { t } = useSpeech();
  const { done } = useActing();
  const { byState, reports } = counts;
  return (
    <section className="panel requests-panel">
      <p className="quiet" data-testid="requests-summary">
        {t.openRequests(byState.PENDING + byState.SENT)} · {t.reports(reports.waiting, reports.sent)}
      </p>
      {/* A request only ever goes on: where nothing is counted anew, nothing has happened. */}
      <RequestList version={`${Object.values(byState).join()} ${String(done)}`} />
    </section>
  );
}
