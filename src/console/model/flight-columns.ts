/** The columns of the flights table: what stands in a cell, and what is searched. Pure. */
import type { CollectionName, ScalarPath } from '../../domain/fields.ts';
import type { FlightRow } from '../api/types.ts';
import { codes, entries, textAt } from './flight-fields.ts';

export type ColumnKey =
  | 'scheduledTime'
  | 'estimatedTime'
  | 'actualTime'
  | 'flightNumber'
  | 'movement'
  | 'route'
  | 'status'
  | 'terminal'
  | 'stands'
  | 'gates'
  | 'desks'
  | 'version'
  | 'updated';

/** `fields` of the catalogue give the heading; a column without has a word of the dictionary. */
export interface Column {
  readonly key: ColumnKey;
  readonly fields: readonly (ScalarPath | CollectionName)[];
}

export const COLUMNS: readonly Column[] = [
  { key: 'scheduledTime', fields: ['scheduledTime'] },
  { key: 'estimatedTime', fields: ['estimatedTime'] },
  { key: 'actualTime', fields: ['actualTime'] },
  { key: 'flightNumber', fields: ['flightNumber'] },
  { key: 'movement', fields: ['movement'] },
  { key: 'route', fields: ['route'] },
  { key: 'status', fields: [] },
  { key: 'terminal', fields: ['terminal'] },
  { key: 'stands', fields: ['stands'] },
  { key: 'gates', fields: ['gates'] },
  { key: 'desks', fields: ['checkins', 'carousels'] },
  { key: 'version', fields: [] },
  { key: 'updated', fields: [] },
];

/** What makes a flight remarkable, the weightiest first. */
export type Mark =
  | { readonly kind: 'deleted' | 'cancelled' | 'returned' }
  | { readonly kind: 'diverted'; readonly airport: string }
  | { readonly kind: 'delayed'; readonly minutes: number }
  | { readonly kind: 'status'; readonly text: string };

export function marks(row: FlightRow): readonly Mark[] {
  const { flight } = row;
  const found: Mark[] = [];
  if (row.deleted) found.push({ kind: 'deleted' });
  if (textAt(flight, 'cancelledAt') !== '') found.push({ kind: 'cancelled' });
  const diversion = textAt(flight, 'irregular.diversion.airport');
  if (diversion !== '') found.push({ kind: 'diverted', airport: diversion });
  if (textAt(flight, 'irregular.return.kind') !== '') found.push({ kind: 'returned' });
  const minutes = delayMinutes(row);
  if (minutes > 0) found.push({ kind: 'delayed', minutes });
  for (const path of ['externalStatus.code', 'status'] as const) {
    const text = textAt(flight, path);
    if (text !== '') found.push({ kind: 'status', text });
  }
  return found;
}

/** Minutes behind schedule: by the actual or estimated time, else the longest delay that was announced. */
function delayMinutes({ flight }: FlightRow): number {
  const scheduled = Date.parse(textAt(flight, 'scheduledTime'));
  const expected = Date.parse(textAt(flight, 'actualTime') || textAt(flight, 'estimatedTime'));
  if (Number.isFinite(scheduled) && Number.isFinite(expected)) {
    return Math.round((expected - scheduled) / 60_000);
  }
  const announced = entries(flight, 'delays').map(({ minutes }) =>
    typeof minutes === 'number' ? minutes : 0,
  );
  return Math.max(0, ...announced);
}

/** A cell's content as text: compared to find what changed, and searched by the filter. */
export function cellText(row: FlightRow, key: ColumnKey): string {
  const { flight } = row;
  switch (key) {
    case 'route':
      return codes(flight, 'route', 'airport');
    case 'stands':
      return codes(flight, 'stands') || textAt(flight, 'currentStand');
    case 'gates':
      return codes(flight, 'gates');
    case 'desks':
      return [codes(flight, 'checkins'), codes(flight, 'carousels')]
        .filter((text) => text !== '')
        .join(' / ');
    case 'status':
      return marks(row)
        .map((mark) => Object.values(mark).join(' '))
        .join(' ');
    case 'version':
      return String(row.version);
    case 'updated':
      return row.updatedAt;
    default:
      return textAt(flight, key);
  }
}

/** The name an operator calls a flight by. */
export function flightName(row: FlightRow): string {
  return textAt(row.flight, 'flightNumber') || row.flid;
}

export type MovementFilter = 'all' | 'A' | 'D';

const searchable = new WeakMap<FlightRow, string>();

/** Whether a flight fits the filter: every word has to occur somewhere. */
export function matches(row: FlightRow, query: string, movement: MovementFilter): boolean {
  if (movement !== 'all' && textAt(row.flight, 'movement') !== movement) return false;
  if (query === '') return true;
  let text = searchable.get(row);
  if (text === undefined) {
    const more = (
      [
        'ffid',
        'registration',
        'aircraftType',
        'remark',
        'externalStatus.remark',
        'master.flightNumber',
      ] as const
    ).map((path) => textAt(row.flight, path));
    const cells = COLUMNS.filter(({ key }) => !['updated', 'version', 'movement'].includes(key));
    text = [row.flid, ...cells.map(({ key }) => cellText(row, key)), ...more].join('\n').toLowerCase();
    searchable.set(row, text);
  }
  const haystack = text;
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => haystack.includes(word));
}

/** Flights in the order of the day: by scheduled time, then number. */
export function sorted(rows: Iterable<FlightRow>): readonly FlightRow[] {
  return [...rows].sort(
    (left, right) =>
      compare(textAt(left.flight, 'scheduledTime') || '~', textAt(right.flight, 'scheduledTime') || '~') ||
      compare(flightName(left), flightName(right)) ||
      compare(left.flid, right.flid),
  );
}

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
