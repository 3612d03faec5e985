import { expect, it } from 'vitest';
import { withVipPersons } from '../../src/dialect/vip-persons.ts';
import { sis } from './kit.ts';

const plain = sis();
const TEXT =
  '<MSG><META><SNDR>AODB</SNDR><SEQN>1</SEQN><DTTM>20260314060000</DTTM><TYPE>FLOP</TYPE><STYP>VIPF</STYP></META>' +
  '<FLOP><FLID>700001</FLID><VIPF><VPCD>PERSON-7</VPCD><VFES>3</VFES></VIPF><TRML>T2</TRML></FLOP></MSG>';

it('takes the person codes out and nothing else', () => {
  const without = withVipPersons(plain, false).decode(TEXT);
  expect(JSON.stringify(plain.decode(TEXT))).toContain('PERSON-7');
  expect(JSON.stringify(without)).not.toContain('PERSON-7');
  const expected = JSON.stringify(plain.decode(TEXT)).replace('"PERSON-7"', 'null');
  expect(JSON.stringify(without)).toBe(expected);
  expect(withVipPersons(plain, false).profileHash).toBe(plain.profileHash);
});

it('keeps them where they are wanted, under a profile hash of its own', () => {
  const kept = withVipPersons(plain, true);
  expect(kept.decode(TEXT)).toEqual(plain.decode(TEXT));
  expect(kept.profileHash).not.toBe(plain.profileHash);
});

it('leaves other messages and faults as they are', () => {
  for (const text of [
    '',
    '<MSG>',
    TEXT.replaceAll('VIPF', 'SRVT').replace('VPCD', 'SRTC').replace('VPCD', 'SRTC'),
  ]) {
    expect(withVipPersons(plain, false).decode(text)).toEqual(plain.decode(text));
  }
});
