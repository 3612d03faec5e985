/** What waits to be sent to a target, in the order of delivery. */
import { useMemo, type ReactNode } from 'react';
import type { PendingEvent } from '../../api/operate.ts';
import { pagesOf } from '../../api/read.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { hrefTo } from '../../model/route.ts';
import { Freshness } from '../../ui/freshness.tsx';
import { ListTable, More } from '../../ui/listing.tsx';
import { useMoment } from '../../ui/moment.ts';
import { Panel } from '../../ui/panel.tsx';
import { useListed } from '../../ui/reading.ts';
import { useEventFilter } from './event-filter.tsx';

export function PendingEvents(): ReactNode {
  const { t } = useSpeech();
  const moment = useMoment();
  const filter = useEventFilter();
  const target = filter.target ?? 'KAFKA:msg';
  const { flid } = filter;
  const listed = useListed(
    useMemo(() => pagesOf<PendingEvent>('api/v1/outbox', 'events', { target, flid }), [target, flid]),
  );
  return (
    <Panel title={`${t.act.outboxWaiting}: ${target}`} extra={<Freshness of={listed} />}>
      {listed.data?.length === 0 && <p className="nothing">{t.act.outboxNone}</p>}
      {listed.data !== null && listed.data.length > 0 && (
        <ListTable
          label={t.act.outboxWaiting}
          id="pending-events"
          heads={[
            t.act.event,
            t.act.flight,
            t.act.made,
            t.act.attemptsColumn,
            t.act.nextAttempt,
            t.act.error,
          ]}
        >
          {listed.data.map((event) => (
            <tr key={event.eventId}>
              <th scope="row">
                {event.eventId}{' '}
                {event.type === 'TOMBSTONE' && <span className="tag is-bad">{event.type}</span>}
              </th>
              <td className="nowrap">
                <a className="plain-link" href={hrefTo('flights', [event.flid])}>
                  {event.flid}
                </a>{' '}
                <span className="quiet">v{event.version}</span>
              </td>
              <td className="nowrap">{moment(event.createdAt)}</td>
              <td>{t.number(event.attempts)}</td>
              <td className="nowrap">
                {event.nextAttemptAt === null ? t.act.inTurn : moment(event.nextAttemptAt)}
              </td>
              <td className="error">{event.lastError ?? ''}</td>
            </tr>
          ))}
        </ListTable>
      )}
      <More of={listed} />
    </Panel>
  );
}
