/** Events that wait to be sent, per target. */
import type { ReactNode } from 'react';
import type { Status } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { span } from '../../model/time.ts';
import { Panel } from '../../ui/panel.tsx';

export function OutboxCard({ status }: { readonly status: Status }): ReactNode {
  const { t } = useSpeech();
  return (
    <Panel title={t.outbox} className="card outbox-card">
      <table className="numbers">
        <thead>
          <tr>
            <th scope="col">{t.target}</th>
            <th scope="col">{t.pending}</th>
            <th scope="col">{t.oldest}</th>
            <th scope="col">{t.sentColumn}</th>
            <th scope="col">{t.dead}</th>
          </tr>
        </thead>
        <tbody>
          {status.outbox.map(({ target, pending, oldestSeconds, sent, dead }) => (
            <tr key={target}>
              <th scope="row">{target.replace('KAFKA:', '')}</th>
              <td>{t.number(pending)}</td>
              <td>{pending === 0 || oldestSeconds === null ? '–' : t.span(span(oldestSeconds * 1_000))}</td>
              <td>{t.number(sent)}</td>
              <td className={dead > 0 ? 'is-bad' : ''}>{t.number(dead)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
