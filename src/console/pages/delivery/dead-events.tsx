/** Events that delivery gave up, with what can be done about them. */
import { useMemo, type ReactNode } from 'react';
import { ActionButton } from '../../actions/acting.tsx';
import { settleEvents } from '../../actions/catalogue.ts';
import type { DeadEvent } from '../../api/operate.ts';
import { pagesOf } from '../../api/read.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { hrefTo } from '../../model/route.ts';
import { Freshness } from '../../ui/freshness.tsx';
import { ListTable, More } from '../../ui/listing.tsx';
import { Panel } from '../../ui/panel.tsx';
import { useListed } from '../../ui/reading.ts';
import { Choose, useSelection } from '../../ui/selection.tsx';
import { useMoment } from '../../ui/moment.ts';
import { EventFilterTools, useEventFilter } from './event-filter.tsx';

export function DeadEvents(): ReactNode {
  const { t } = useSpeech();
  const filter = useEventFilter();
  const { target, flid } = filter;
  const listed = useListed(
    useMemo(() => pagesOf<DeadEvent>('api/v1/dlq', 'events', { target: target ?? '', flid }), [target, flid]),
  );
  const rows = listed.data ?? [];
  const selection = useSelection(rows.map(({ eventId }) => eventId));
  const chosen = selection.ids.length > 0 ? selection.ids : null;
  const none = rows.length === 0;
  // "All" are all that there are: where a filter hides some, what is meant has to be chosen.
  const meant = chosen ?? (target === null && flid === '' ? 'all' : null);
  const settle = (change: 'retry' | 'drop', all: string, some: string): ReactNode => (
    <ActionButton disabled={none || meant === null} action={() => settleEvents(t, change, meant ?? [])}>
      {meant === 'all' ? all : some}
    </ActionButton>
  );
  return (
    <Panel title={t.act.deadEvents} className="dead-events" extra={<Freshness of={listed} />}>
      <div className="list-tools">
        <EventFilterTools {...filter} />
        <div className="actions push">
          {chosen !== null && <span className="quiet">{t.act.chosen(chosen.length)}</span>}
          {settle('retry', t.act.retryAllButton, t.act.retryButton)}
          {settle('drop', t.act.dropAllButton, t.act.dropButton)}
        </div>
      </div>
      {listed.data?.length === 0 && <p className="nothing">{t.act.deadEventsNone}</p>}
      {!none && (
        <ListTable
          label={t.act.deadEvents}
          id="dead-events"
          selection={selection}
          heads={[
            t.act.event,
            t.target,
            t.act.flight,
            t.act.made,
            t.act.attemptsColumn,
            t.act.error,
            t.act.laterColumn,
          ]}
        >
          {rows.map((event) => (
            <Row key={event.eventId} event={event}>
              <Choose of={selection} id={event.eventId} name={t.act.thing.event(event.eventId)} />
            </Row>
          ))}
        </ListTable>
      )}
      <More of={listed} />
    </Panel>
  );
}

function Row({ event, children }: { readonly event: DeadEvent; readonly children: ReactNode }): ReactNode {
  const { t } = useSpeech();
  const moment = useMoment();
  const { eventId, target, flid, type, version, createdAt, attempts, lastError, laterDelivered } = event;
  return (
    <tr data-event={eventId}>
      <td className="box">{children}</td>
      <th scope="row">
        {eventId} {type === 'TOMBSTONE' && <span className="tag is-bad">{type}</span>}
      </th>
      <td className="nowrap">{target}</td>
      <td className="nowrap">
        <a className="plain-link" href={hrefTo('flights', [flid])}>
          {flid}
        </a>{' '}
        <span className="quiet">v{version}</span>
      </td>
      <td className="nowrap">{moment(createdAt)}</td>
      <td>{t.number(attempts)}</td>
      <td className="error">{lastError}</td>
      <td className="versions-told">{laterDelivered.length === 0 ? '–' : laterDelivered.join(', ')}</td>
    </tr>
  );
}
