/** Flights of all days that a search found, archived ones too. */
import { useMemo, type ReactNode } from 'react';
import { foundPages, type FoundFlight } from '../../api/flights.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { flightName, marks } from '../../model/flight-columns.ts';
import { codes, textAt } from '../../model/flight-fields.ts';
import { hrefTo } from '../../model/route.ts';
import { flightTime } from '../../model/time.ts';
import { Freshness } from '../../ui/freshness.tsx';
import { ListTable, More } from '../../ui/listing.tsx';
import { MarkTag } from '../../ui/mark-tag.tsx';
import { Panel } from '../../ui/panel.tsx';
import { useListed } from '../../ui/reading.ts';
import { setQuery, useRoute } from '../../ui/router.ts';

export function FoundFlights({ text }: { readonly text: string }): ReactNode {
  const { t } = useSpeech();
  const listed = useListed(useMemo(() => foundPages(text), [text]));
  const rows = listed.data ?? [];
  return (
    <Panel
      title={t.flight.found(text)}
      extra={
        <span className="actions">
          <Freshness of={listed} />
          <button type="button" className="plain" onClick={() => setQuery({ find: '' })}>
            {t.flight.closeSearch}
          </button>
        </span>
      }
    >
      <div role="status">{listed.data?.length === 0 && <p className="nothing">{t.flight.foundNone}</p>}</div>
      {rows.length > 0 && (
        <ListTable
          label={t.flight.found(text)}
          id="found"
          frame="found-scroll"
          look="compact"
          heads={[t.flight.flight, t.flight.day, t.flight.scheduled, t.flight.route, t.statusColumn]}
        >
          {rows.map((row) => (
            <Row key={row.flid} row={row} />
          ))}
        </ListTable>
      )}
      <More of={listed} />
    </Panel>
  );
}

function Row({ row }: { readonly row: FoundFlight }): ReactNode {
  const { t } = useSpeech();
  const { query } = useRoute();
  const scheduled = textAt(row.flight, 'scheduledTime');
  return (
    <tr>
      <th scope="row" className="nowrap">
        <a className="plain-link" href={hrefTo('flights', [row.flid], query)}>
          {flightName(row)}
        </a>{' '}
        <span className="quiet">{row.flid}</span>
      </th>
      <td className="nowrap">{row.operationDay}</td>
      <td className="nowrap">
        {scheduled !== '' && flightTime(scheduled, row.operationDay).clock}{' '}
        <span className="quiet">{textAt(row.flight, 'movement')}</span>
      </td>
      <td>{codes(row.flight, 'route', 'airport')}</td>
      <td>
        {marks(row).map((mark, index) => (
          <MarkTag key={index} mark={mark} />
        ))}{' '}
        {row.archived && <span className="tag">{t.flight.archived}</span>}
      </td>
    </tr>
  );
}
