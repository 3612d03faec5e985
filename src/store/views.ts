/**
 * The SQL views over flight_schd.state, generated from the field catalogue (contract, "Own PostgreSQL"): one
 * view per collection with one row per entry, and `flight` with every scalar as a column.
 */
import { createHash } from 'node:crypto';
import {
  COLLECTIONS,
  SCALARS,
  type CollectionField,
  type FieldType,
  type ScalarField,
} from '../domain/fields.ts';

const SQL_TYPE: Readonly<Record<FieldType, string>> = {
  text: 'text',
  time: 'timestamptz',
  count: 'bigint',
  quantity: 'numeric',
};

/** Column name of a path: `externalStatus.code` → `external_status_code`. */
export function columnName(path: string): string {
  return path.replaceAll('.', '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function expression(source: string, path: string, type: FieldType): string {
  const text = `${source} #>> '{${path.replaceAll('.', ',')}}'`;
  return `${type === 'text' ? text : `(${text})::${SQL_TYPE[type]}`} as "${columnName(path)}"`;
}

function flightView(scalars: readonly ScalarField[]): string {
  const columns = scalars.map(({ path, type }) => expression('state', path, type));
  return `create view flight as select flid, version, operation_day, deleted, last_msg_id, updated_at,
  ${columns.join(',\n  ')}
from flight_schd`;
}

function collectionView(collection: CollectionField): string {
  const attributes = collection.attributes.filter(({ path }) => path !== 'seq');
  const sequence = collection.order === 'seq' ? `(entry ->> 'seq')::bigint as "seq"` : `place as "seq"`;
  const columns = [sequence, ...attributes.map(({ path, type }) => expression('entry', path, type))];
  return `create view ${collection.table} as select flid, ${columns.join(', ')}
from flight_schd, jsonb_array_elements(state -> '${collection.name}') with ordinality as entries (entry, place)`;
}

/** Statements that drop and re-create every view. */
export function viewStatements(): readonly string[] {
  const names = ['flight', ...COLLECTIONS.map(({ table }) => table)];
  return [
    ...names.map((name) => `drop view if exists ${name}`),
    flightView(SCALARS),
    ...COLLECTIONS.map((collection) => collectionView(collection)),
  ];
}

/** Hash of the catalogue as the views show it; part of the checked schema version. */
export function catalogueHash(): string {
  return createHash('sha256').update(viewStatements().join(';\n')).digest('hex').slice(0, 16);
}
