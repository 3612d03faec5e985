/** The fields of a flight that are known, named by the catalogue, each with the message that set it and when. */
import { useMemo, type ReactNode } from 'react';
import { COLLECTIONS, SCALARS, type CollectionField, type ScalarField } from '../../../domain/fields.ts';
import type { FullFlight, SetBy } from '../../api/flights.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { entries, textAt } from '../../model/flight-fields.ts';
import { nameIn, type NameOf } from '../../model/names.ts';
import { hrefTo } from '../../model/route.ts';
import { CodeName } from '../../ui/code-name.tsx';
import { CollectionTable } from '../../ui/collection-table.tsx';
import { FieldValue } from '../../ui/field-value.tsx';
import { useMoment } from '../../ui/moment.ts';
import { Panel } from '../../ui/panel.tsx';

export function FieldsPanel({ of }: { readonly of: FullFlight }): ReactNode {
  const { t } = useSpeech();
  const nameOf = useMemo(() => nameIn(of), [of]);
  const known: readonly ScalarField[] = SCALARS.filter(({ path }) => textAt(of.flight, path) !== '');
  const groups = [
    { title: t.times, fields: known.filter(({ type }) => type === 'time') },
    { title: t.facts, fields: known.filter(({ type }) => type !== 'time') },
  ].filter(({ fields }) => fields.length > 0);
  const collections: readonly CollectionField[] = COLLECTIONS.filter(
    ({ name }) => entries(of.flight, name).length > 0,
  );
  return (
    <>
      {groups.map(({ title, fields }) => (
        <Panel key={title} title={title}>
          <div className="list-scroll" tabIndex={0} role="region" aria-label={title}>
            <table className="list compact field-list">
              <thead>
                <tr>
                  <th scope="col">{t.flight.field}</th>
                  <th scope="col">{t.flight.value}</th>
                  <th scope="col">{t.flight.setBy}</th>
                  <th scope="col">{t.flight.setAt}</th>
                </tr>
              </thead>
              <tbody>
                {fields.map((field) => (
                  <Field key={field.path} field={field} of={of} nameOf={nameOf} />
                ))}
              </tbody>
            </table>
          </div>
        </Panel>
      ))}
      {collections.map((collection) => (
        <div className="panel" key={collection.name} data-collection={collection.name}>
          <CollectionTable
            collection={collection}
            rows={entries(of.flight, collection.name as (typeof COLLECTIONS)[number]['name'])}
            day={of.operationDay}
            nameOf={nameOf}
          />
          <Lineage of={of} collection={collection.name} />
        </div>
      ))}
    </>
  );
}

interface FieldProps {
  readonly field: ScalarField;
  readonly of: FullFlight;
  readonly nameOf: NameOf;
}

function Field({ field: { path, type, label: words }, of, nameOf }: FieldProps): ReactNode {
  const { label } = useSpeech();
  const moment = useMoment();
  const value = textAt(of.flight, path as (typeof SCALARS)[number]['path']);
  const set = of.lineage[path];
  return (
    <tr data-field={path}>
      <th scope="row" title={path}>
        {label(words)}
      </th>
      <td>
        <b>
          <FieldValue value={value} type={type} day={of.operationDay} />
        </b>
        <CodeName path={path} code={value} nameOf={nameOf} />
      </td>
      <td>{set !== undefined && <MessageLink set={set} />}</td>
      <td className="nowrap quiet">{set?.at !== undefined && set.at !== null && moment(set.at)}</td>
    </tr>
  );
}

/** Who set a collection: as a whole, or its parts by code. */
function Lineage({ of, collection }: { readonly of: FullFlight; readonly collection: string }): ReactNode {
  const { t } = useSpeech();
  const moment = useMoment();
  const parts = Object.entries(of.lineage).filter(
    ([path]) => path === collection || path.startsWith(`${collection}[`),
  );
  if (parts.length === 0) return null;
  return (
    <ul className="set-by">
      {parts.map(([path, set]) => (
        <li key={path}>
          {path !== collection && <span className="code">{path.slice(collection.length)} </span>}
          <span className="quiet">{t.flight.setBy}</span> <MessageLink set={set} />{' '}
          {set.at !== null && <span className="quiet">{moment(set.at)}</span>}
        </li>
      ))}
    </ul>
  );
}

function MessageLink({ set: { msgId } }: { readonly set: SetBy }): ReactNode {
  return (
    <a className="plain-link" href={hrefTo('messages', [msgId])}>
      {msgId}
    </a>
  );
}
