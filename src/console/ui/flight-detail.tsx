/** All that is known about one flight, named by the catalogue, beside the list. */
import { useEffect, useMemo, useState, type ReactNode } from 'react';
import { COLLECTIONS, SCALARS, type ScalarField } from '../../domain/fields.ts';
import { fetchNames } from '../api/requests.ts';
import type { FlightNames, FlightRow } from '../api/types.ts';
import { useSpeech } from '../i18n/language.tsx';
import { flightName, marks } from '../model/flight-columns.ts';
import { codes, entries, textAt } from '../model/flight-fields.ts';
import { nameIn, type NameOf } from '../model/names.ts';
import { airportClock, airportDay } from '../model/time.ts';
import { CollectionTable } from './collection-table.tsx';
import { CodeName } from './code-name.tsx';
import { DetailFrame } from './detail-frame.tsx';
import { FieldValue } from './field-value.tsx';
import { useEvents, useFlight, useStatus } from './live-context.tsx';
import { MarkTag } from './mark-tag.tsx';

interface FlightDetailProps {
  readonly flid: string;
  readonly onClose: () => void;
}

export function FlightDetail({ flid, onClose }: FlightDetailProps): ReactNode {
  const { t } = useSpeech();
  const row = useFlight(flid);
  return (
    <DetailFrame name={flid} onClose={onClose}>
      {row === null ? (
        <>
          <h2 id="detail-name">{flid}</h2>
          <p className="nothing">{t.notShown}</p>
        </>
      ) : (
        <Known row={row} />
      )}
    </DetailFrame>
  );
}

function Known({ row }: { readonly row: FlightRow }): ReactNode {
  const { t, label } = useSpeech();
  const zone = useStatus().status?.timeZone ?? 'UTC';
  const changed = useLatelyChanged(row.flid);
  const nameOf = useNames(row);
  const known: readonly ScalarField[] = SCALARS.filter(({ path }) => textAt(row.flight, path) !== '');
  const movement = textAt(row.flight, 'movement');
  const groups = [
    { title: t.times, fields: known.filter(({ type }) => type === 'time') },
    { title: t.facts, fields: known.filter(({ type }) => type !== 'time') },
  ].filter(({ fields }) => fields.length > 0);

  return (
    <>
      <h2 id="detail-name">
        {flightName(row)}{' '}
        <span className="quiet">{movement === 'A' ? t.arrival : movement === 'D' ? t.departure : ''}</span>
      </h2>
      <p className="detail-route">{codes(row.flight, 'route', 'airport')}</p>
      <p className="detail-marks">
        {marks(row).map((mark, index) => (
          <MarkTag key={index} mark={mark} />
        ))}
      </p>
      <p className="quiet">
        FLID {row.flid} · {row.operationDay} · {t.version(row.version)} · {t.message(row.lastMsgId)}
        <br />
        {t.updated} {airportDay(row.updatedAt, zone)} {airportClock(row.updatedAt, zone)}
      </p>
      {changed.size > 0 && (
        <p className="legend">
          <span className="is-changed">{t.changedLately}</span>
        </p>
      )}
      {groups.map(({ title, fields }) => (
        <section key={title}>
          <h3>{title}</h3>
          <dl className="fields">
            {fields.map((field) => (
              <div key={field.path} className={changed.has(field.path) ? 'is-changed' : ''}>
                <dt title={field.path}>{label(field.label)}</dt>
                <dd>
                  <FieldValue
                    value={textAt(row.flight, field.path as (typeof SCALARS)[number]['path'])}
                    type={field.type}
                    day={row.operationDay}
                  />
                  <CodeName
                    path={field.path}
                    code={textAt(row.flight, field.path as (typeof SCALARS)[number]['path'])}
                    nameOf={nameOf}
                  />
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      {COLLECTIONS.filter(({ name }) => entries(row.flight, name).length > 0).map((collection) => (
        <CollectionTable
          key={collection.name}
          collection={collection}
          rows={entries(row.flight, collection.name)}
          day={row.operationDay}
          nameOf={nameOf}
          changed={changed.has(collection.name)}
        />
      ))}
    </>
  );
}

/** Names of the flight's codes, read again with each version; the detail is whole without them. */
function useNames({ flid, version }: FlightRow): NameOf {
  const [names, setNames] = useState<FlightNames>({ names: {}, namedFields: {} });
  useEffect(() => {
    const reader = new AbortController();
    fetchNames(flid, reader.signal).then(setNames, () => undefined);
    return () => reader.abort();
  }, [flid, version]);
  return useMemo(() => nameIn(names), [names]);
}

/** Fields named by the flight's events on this page, creation excepted (it names everything). */
function useLatelyChanged(flid: string): ReadonlySet<string> {
  const events = useEvents();
  return useMemo(
    () =>
      new Set(
        events.filter((event) => event.flid === flid && event.version > 1).flatMap(({ changed }) => changed),
      ),
    [events, flid],
  );
}
