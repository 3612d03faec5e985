/** Reference data of the fixture: one type with more rows than a page, one of them with a history. */
import type {
  FlightNames,
  ReferenceDetailRow,
  ReferenceRow,
  ReferenceType,
} from '../../src/console/api/types.ts';

const AT = '2026-03-13T22:00:00.000Z';

/** Names that the fixture knows of every flight's codes. */
export const FIXTURE_NAMES: FlightNames = {
  names: { ARPT: { CSX: '长沙' } },
  namedFields: { 'route.airport': 'ARPT' },
};

export function fixtureTypes(): readonly ReferenceType[] {
  return [{ rtype: 'STTS', active: 149, inactive: 1, changedAt: AT, loadedBy: '4' }];
}

/** A page of the type, cursors being codes. */
export function fixtureRows(query: URLSearchParams): { rows: readonly ReferenceRow[]; next: string | null } {
  const text = (query.get('text') ?? '').toLowerCase();
  const after = query.get('after') ?? '';
  const rows = [row('BRD/1', '登机'), ...Array.from({ length: 149 }, (_, index) => filler(index))]
    .filter((each) => JSON.stringify(each).toLowerCase().includes(text))
    .filter((each) => each.active || query.get('active') !== 'true')
    .filter((each) => each.rkey > after);
  const limit = Number(query.get('limit'));
  return { rows: rows.slice(0, limit), next: rows.length > limit ? (rows[limit - 1]?.rkey ?? null) : null };
}

/** The row that has changed. */
export function fixtureRow(): ReferenceDetailRow {
  return {
    rtype: 'STTS',
    ...row('BRD/1', '登机'),
    history: [
      { until: { msgId: '7', at: AT }, active: false, body: { CODE: 'BRD/1', CDES: '登机' } },
      { until: { msgId: '5', at: AT }, active: true, body: { CODE: 'BRD/1', CDES: '上客' } },
    ],
  };
}

function row(rkey: string, name: string, active = true): ReferenceRow {
  return { rkey, active, body: { CODE: rkey, CDES: name }, namedBy: '7', describedBy: '7', updatedAt: AT };
}

function filler(index: number): ReferenceRow {
  return row(`C${String(index).padStart(3, '0')}`, `name ${String(index)}`, index !== 148);
}
