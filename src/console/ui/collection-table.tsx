/** One collection of a flight as a table; attributes that no entry has are left out. */
import type { ReactNode } from 'react';
import type { CollectionField } from '../../domain/fields.ts';
import type { JsonObject } from '../../domain/json.ts';
import { useSpeech } from '../i18n/language.tsx';
import { valueAt } from '../model/flight-fields.ts';
import type { NameOf } from '../model/names.ts';
import { CodeName } from './code-name.tsx';
import { FieldValue } from './field-value.tsx';

interface CollectionTableProps {
  readonly collection: CollectionField;
  readonly rows: readonly JsonObject[];
  readonly day: string;
  readonly nameOf: NameOf;
}

export function CollectionTable({ collection, rows, day, nameOf }: CollectionTableProps): ReactNode {
  const { t, label } = useSpeech();
  const attributes = collection.attributes.filter(({ path }) =>
    rows.some((row) => valueAt(row, path) !== null),
  );
  return (
    <section>
      <h2>{label(collection.label)}</h2>
      <div className="collection-scroll" tabIndex={0} role="region" aria-label={label(collection.label)}>
        <table className="collection">
          <thead>
            <tr>
              {attributes.map(({ path }) => (
                <th key={path} scope="col">
                  {t.attribute[path] ?? path}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                {attributes.map(({ path, type }) => {
                  const value = valueAt(row, path);
                  return (
                    <td key={path}>
                      <FieldValue value={value === null ? '' : String(value)} type={type} day={day} />
                      <CodeName
                        path={`${collection.name}.${path}`}
                        code={value === null ? '' : String(value)}
                        nameOf={nameOf}
                      />
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
