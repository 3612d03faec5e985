/** What a message changed: flights, fields, and the events that told of it. */
import type { ReactNode } from 'react';
import type { FullMessage, TouchedFlight } from '../../api/messages.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { fieldLabel } from '../../model/flight-fields.ts';
import { hrefTo } from '../../model/route.ts';
import { useMoment } from '../../ui/moment.ts';
import { ListTable } from '../../ui/listing.tsx';
import { Panel } from '../../ui/panel.tsx';

export function ChangesPanel({ of }: { readonly of: FullMessage }): ReactNode {
  const { t } = useSpeech();
  const moment = useMoment();
  const { flights, events } = of;
  return (
    <>
      <Panel title={t.msg.changes}>
        {flights.length === 0 && <p className="nothing">{t.msg.changesNone}</p>}
        <ul className="touched" data-testid="touched">
          {flights.map((flight) => (
            <Touched key={flight.flid} flight={flight} />
          ))}
        </ul>
        {of.moreFlights && <p className="quiet">{t.msg.moreFlights}</p>}
      </Panel>
      <Panel title={t.msg.events}>
        {events.length === 0 && <p className="nothing">{t.msg.eventsNone}</p>}
        {events.length > 0 && (
          <ListTable
            label={t.msg.events}
            id="events"
            look="compact"
            heads={[t.msg.event, t.msg.target, t.msg.flight, t.msg.state, t.msg.sent]}
          >
            {events.map(({ eventId, target, flid, version, state, sentAt, type }) => (
              <tr key={eventId}>
                <th scope="row">{eventId}</th>
                <td className="nowrap">{target}</td>
                <td className="nowrap">
                  {flid} <span className="quiet">{t.version(version)}</span>{' '}
                  {type === 'TOMBSTONE' && <span className="tag is-bad">{type}</span>}
                </td>
                <td>
                  <span className={`tag event-${state}`}>{state}</span>
                </td>
                <td className="nowrap">{sentAt === null ? '' : moment(sentAt)}</td>
              </tr>
            ))}
          </ListTable>
        )}
      </Panel>
    </>
  );
}

function Touched({ flight }: { readonly flight: TouchedFlight }): ReactNode {
  const { t } = useSpeech();
  const { flid, flightNumber, stateVersion, changed, superseded } = flight;
  return (
    <li>
      <a className="plain-link" href={hrefTo('flights', [flid])}>
        {flightNumber ?? flid}
      </a>{' '}
      <span className="quiet">
        FLID {flid}
        {stateVersion !== null && ` · ${t.version(stateVersion)}`}
      </span>
      <p>
        {changed.length === 0 ? <span className="quiet">{t.msg.unchanged}</span> : <Fields of={changed} />}
      </p>
      {superseded.length > 0 && (
        <p className="superseded">
          {t.msg.superseded}: <Fields of={superseded} />
        </p>
      )}
    </li>
  );
}

function Fields({ of }: { readonly of: readonly string[] }): ReactNode {
  const { label } = useSpeech();
  return of.map((path) => label(fieldLabel(path))).join(' · ');
}
