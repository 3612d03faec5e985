/** The messages that touched a flight, newest first. */
import type { ReactNode } from 'react';
import type { FullFlight } from '../../api/flights.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { fieldLabel } from '../../model/flight-fields.ts';
import { hrefTo } from '../../model/route.ts';
import { useMoment } from '../../ui/moment.ts';
import { Panel } from '../../ui/panel.tsx';

export function FlightMessages({ of: { messages } }: { readonly of: FullFlight }): ReactNode {
  const { t, label } = useSpeech();
  const moment = useMoment();
  const fields = (paths: readonly string[]): string =>
    paths.map((path) => label(fieldLabel(path))).join(' · ');
  return (
    <Panel title={t.flight.messages}>
      {messages.length === 0 && <p className="nothing">{t.flight.messagesNone}</p>}
      <ol className="touched" data-testid="flight-messages">
        {messages.map(
          ({ msgId, type, styp, stateVersion, changed, superseded, terminalAt, late, replayed }) => (
            <li key={msgId}>
              <a className="plain-link" href={hrefTo('messages', [msgId])}>
                {msgId}
              </a>{' '}
              {[type, styp].filter((part) => part !== null).join('/')}{' '}
              {late && <span className="tag">{t.msg.late}</span>}
              {replayed && <span className="tag">{t.msg.replayed}</span>}{' '}
              <span className="quiet">
                {terminalAt !== null && moment(terminalAt)}
                {stateVersion !== null && ` · ${t.version(stateVersion)}`}
              </span>
              <p>
                {changed.length === 0 ? <span className="quiet">{t.msg.unchanged}</span> : fields(changed)}
              </p>
              {superseded.length > 0 && (
                <p className="superseded">
                  {t.msg.superseded}: {fields(superseded)}
                </p>
              )}
            </li>
          ),
        )}
      </ol>
    </Panel>
  );
}
