import { describe, expect, it } from 'vitest';
import { codesOf, nameOf, namesOf, type NameRules } from '../../src/domain/names.ts';
import { emptyState } from '../../src/domain/state.ts';
import { F1 } from './kit.ts';

const RULES: NameRules = {
  elements: { ARPT: ['CDES', 'DESC'], DLYL: ['DESC'] },
  fields: { 'route.airport': 'ARPT', 'irregular.diversion.airport': 'ARPT', 'delays.code': 'DLYL' },
};
const STATE = {
  ...emptyState(F1),
  route: [
    { seq: 1, airport: 'PEK' },
    { seq: 2, airport: 'CAN' },
    { seq: 3, airport: null },
  ],
  irregular: { diversion: { airport: 'CAN' } },
  delays: [{ code: '__proto__' }, { code: '81' }],
};

describe('names of codes', () => {
  it('finds the codes in scalars, groups and collections, each once', () => {
    expect(codesOf(STATE, RULES).map(({ rtype, rkey }) => `${rtype} ${rkey}`)).toEqual([
      'ARPT PEK',
      'ARPT CAN',
      'DLYL __proto__',
      'DLYL 81',
    ]);
    expect(codesOf(emptyState(F1), RULES)).toEqual([]);
  });

  it('takes the first element that says something', () => {
    expect(nameOf('ARPT', { CDES: '北京', DESC: 'Beijing' }, RULES)).toBe('北京');
    expect(nameOf('ARPT', { CDES: null, DESC: ['Beijing', 'Peking'] }, RULES)).toBe('Beijing');
    expect(nameOf('ARPT', { DESC: { '@LANG': 'EN', '#text': 'Beijing' } }, RULES)).toBe('Beijing');
    expect(nameOf('ARPT', { CODE: 'PEK' }, RULES)).toBeNull();
    expect(nameOf('toString', { DESC: 'x' }, RULES)).toBeNull();
  });

  it('names what is known and leaves out what is not', () => {
    const named = namesOf(STATE, RULES, ({ rkey }) =>
      rkey === '81' ? undefined : { DESC: `name of ${rkey}` },
    );
    expect(JSON.stringify(named)).toBe(
      '{"ARPT":{"PEK":"name of PEK","CAN":"name of CAN"},"DLYL":{"__proto__":"name of __proto__"}}',
    );
    expect(namesOf(STATE, RULES, () => undefined)).toEqual({});
  });
});
