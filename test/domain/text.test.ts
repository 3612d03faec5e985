import { describe, expect, it } from 'vitest';
import { identityOf } from '../../src/domain/identity.ts';
import { operationDay } from '../../src/domain/operation-day.ts';
import {
  duplicateOf,
  firstOf,
  kindReason,
  listReason,
  prefixOf,
  reason,
  REASONS,
  recsMismatch,
} from '../../src/domain/reasons.ts';

describe('operation day', () => {
  it('is the local date of the scheduled time, the day before where it is before the cutoff', () => {
    expect(operationDay('2026-03-14T00:00:00+08:00', '00:00')).toBe('2026-03-14');
    expect(operationDay('2026-03-14T03:59:59+08:00', '04:00')).toBe('2026-03-13');
    expect(operationDay('2026-03-14T04:00:00+08:00', '04:00')).toBe('2026-03-14');
    expect(operationDay('2026-03-01T00:30:00+08:00', '04:00')).toBe('2026-02-28');
    expect(operationDay('2028-03-01T00:30:00-05:00', '04:00')).toBe('2028-02-29');
    expect(operationDay('2026-01-01T00:00:00+08:00', '00:01')).toBe('2025-12-31');
  });

  it('is refused to what is no time', () => {
    expect(() => operationDay('14MAR26', '00:00')).toThrow();
  });
});

describe('identity', () => {
  const header = {
    sender: 'AODB',
    type: 'FLOP',
    subtype: 'GTDT',
    sequence: '777',
    dttm: '2026-03-14T23:30:00+08:00',
    echo: null,
  };

  it('is sender, kind and sequence, with the local date where days count', () => {
    expect(identityOf(header, false)).toBe('AODB|FLOP|GTDT|777');
    expect(identityOf(header, true)).toBe('AODB|FLOP|GTDT|777|2026-03-14');
  });
});

describe('reasons', () => {
  const contract =
    'raw-missing not-well-formed doctype-forbidden too-large too-deep meta-missing payload-missing bad-value ' +
    'unknown-format unknown-value codec unsupported recs-mismatch duplicate-flid operation-day-conflict ' +
    'duplicate-of ignored no-match no-open-request empty-reference operator unchanged superseded';

  it('are the closed list of the contract', () => {
    expect(Object.keys(REASONS).sort()).toEqual(contract.split(' ').sort());
  });

  it('are built as the contract writes them', () => {
    expect(reason('bad-value', 'APPT')).toBe('bad-value:APPT');
    expect(duplicateOf(2n, false)).toBe('duplicate-of:2');
    expect(duplicateOf(2n, true)).toBe('duplicate-of:2 content-differs');
    expect(kindReason('unsupported', { type: 'SCHS', subtype: 'DNLD' })).toBe('unsupported:SCHS/DNLD');
    expect(listReason('no-match', ['1', '2'])).toBe('no-match:1,2');
    expect(firstOf(['duplicate-flid:1', 'duplicate-flid:2', 'x'])).toBe('duplicate-flid:1 (+2 more)');
    expect(recsMismatch('1\n2', 3)).toBe('recs-mismatch:1 2/3');
    expect(recsMismatch('😀'.repeat(40), 3)).toBe(`recs-mismatch:${'😀'.repeat(32)}/3`);
    expect(
      listReason(
        'no-match',
        Array.from({ length: 52 }, () => '1'),
      ),
    ).toBe(`no-match:${Array.from({ length: 50 }, () => '1').join(',')} (+2 more)`);
  });

  it('are known again by their prefix', () => {
    expect(prefixOf('duplicate-of:2 content-differs')).toBe('duplicate-of');
    expect(prefixOf('recs-mismatch:2/3 (+3 more)')).toBe('recs-mismatch');
    expect(prefixOf('empty-reference (+1 more)')).toBe('empty-reference');
    expect(prefixOf('unchanged')).toBe('unchanged');
    expect(prefixOf('unchanged:1')).toBeNull();
    expect(prefixOf('bad-value')).toBeNull();
    expect(prefixOf('bad-value:')).toBeNull();
    expect(prefixOf('constructor')).toBeNull();
    expect(prefixOf('something:else')).toBeNull();
  });
});
