/** How many messages are in which state, and what the failed and dead ones died of. */
import type { ReactNode } from 'react';
import type { Status } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { ActionButton } from '../../actions/acting.tsx';
import { replayMessages } from '../../actions/catalogue.ts';
import { Panel } from '../../ui/panel.tsx';

const STATES = ['SUCCEEDED', 'SKIPPED', 'PENDING', 'FAILED', 'DEAD'] as const;
const CLASSES = ['MALFORMED', 'PROTOCOL', 'CODEC_ERROR', 'UNSUPPORTED', 'INFRA', 'EXHAUSTED'] as const;

export function MessagesCard({ status }: { readonly status: Status }): ReactNode {
  const { t } = useSpeech();
  const { byState, byClass } = status.counts;
  const classes = CLASSES.filter((name) => (byClass[name] ?? 0) > 0);
  return (
    <Panel title={t.messages} className="card messages-card">
      <table className="numbers">
        <tbody>
          {STATES.map((state) => (
            <tr key={state} className={`state-${state} ${(byState[state] ?? 0) === 0 ? 'is-zero' : ''}`}>
              <th scope="row">
                <span className="swatch" aria-hidden="true" />
                {state} <span className="quiet">{t.procState[state]}</span>
              </th>
              <td>{t.number(byState[state] ?? 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {classes.length > 0 && (
        <ul className="classes" aria-label={t.byClass}>
          {classes.map((name) => (
            <li key={name} className="tag">
              {name} <b>{t.number(byClass[name] ?? 0)}</b>
            </li>
          ))}
        </ul>
      )}
      <div className="actions card-actions">
        <ActionButton action={() => replayMessages(t)}>{t.act.replayButton}</ActionButton>
      </div>
    </Panel>
  );
}
