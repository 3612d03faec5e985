/** Reference data of the airport: the packages of the evening before, and small changes during the day. */
import {
  ABNORMALITIES,
  AIRCRAFT,
  AIRLINES,
  AIRPORTS,
  DELAY_CODES,
  SERVICES,
  SERVICE_TYPES,
  STATUSES,
  type Named,
} from './catalogue.ts';
import { BELTS, CHUTES, COUNTERS, GATES, STANDS } from './resources.ts';
import { leaf, node } from './xml.ts';

/** One package: RECS, then the records. */
export interface ReferencePackage {
  readonly type: string;
  readonly records: readonly string[];
}

/** All packages, the most wanted types first. */
export function referencePackages(): readonly ReferencePackage[] {
  return [
    pack('AIRL', AIRLINES, (airline) => [
      ['ITOP', airline.code],
      ['ICOP', airline.icao],
      ['DESC', airline.name],
      ['CDES', airline.chinese],
    ]),
    pack('ARPT', AIRPORTS, (airport) => [
      ['ITCD', airport.code],
      ['ICCD', airport.icao],
      ['DESC', airport.city],
      ['CDES', airport.chinese],
      ['FLIN', airport.abroad ? 'I' : 'D'],
    ]),
    pack('GLST', inTerminals(GATES), ([code, terminal]) => [
      ['GATE', code],
      ['DESC', `Gate ${code}`],
      ['CDES', `${code} 号登机口`],
      ['ATML', terminal],
    ]),
    pack('SLST', STANDS, (stand) => [
      ['STND', stand.code],
      ['DESC', `Stand ${stand.code}`],
      ['CDES', stand.airbridges.length > 0 ? '近机位' : '远机位'],
      ['ATML', stand.terminal],
    ]),
    pack(
      'ABDG',
      STANDS.flatMap((stand) => stand.airbridges.map((bridge) => ({ bridge, stand }))),
      ({ bridge, stand }) => [
        ['ABCD', bridge],
        ['DESC', `登机桥 ${bridge}`],
        ['ATML', stand.terminal],
        ['STND', stand.code],
      ],
    ),
    pack('BLST', inTerminals(BELTS), ([code, terminal]) => [
      ['BELT', code],
      ['DESC', `Belt ${code}`],
      ['CDES', `${code} 号行李转盘`],
      ['ATML', terminal],
    ]),
    pack('CLST', inTerminals(COUNTERS), ([code, terminal]) => [
      ['CHKC', code],
      ['DESC', `Counter ${code}`],
      ['CDES', `${code} 值机柜台`],
      ['ATML', terminal],
    ]),
    named('DLYL', 'DLCD', DELAY_CODES),
    named('STTS', 'STCD', STATUSES),
    pack('CHLT', inTerminals(CHUTES), ([code, terminal]) => [
      ['CHUT', code],
      ['DESC', `Chute ${code}`],
      ['ATML', terminal],
    ]),
    pack('AIRC', AIRCRAFT, (type) => [
      ['ITAT', type.code],
      ['ICAT', type.icao],
      ['DESC', type.name],
      ['MAXP', String(type.seats)],
    ]),
    pack('TLST', ['T1', 'T2'], (terminal) => [
      ['TRML', terminal],
      ['DESC', `Terminal ${terminal.slice(1)}`],
      ['CDES', `${terminal.slice(1)} 号航站楼`],
    ]),
    named('ABNR', 'ABCD', ABNORMALITIES),
    named('FLTL', 'FLTY', SERVICE_TYPES),
    named('HLTR', 'SRTC', SERVICES),
    pack('CITY', AIRPORTS, (airport) => [
      ['ITCD', airport.code],
      ['DESC', airport.city],
      ['CDES', airport.chinese.slice(0, 2)],
    ]),
  ];
}

/** Payload of a package; `declared` is RECS where it shall not be the truth. */
export function referencePayload(records: readonly string[], declared: number = records.length): string {
  return `${leaf('RECS', declared)}\n  ${records.join('\n  ')}`;
}

/** A change of one gate during the day: in order, for ADD, UPD and DEL. */
export function gateChange(operation: 'ADD' | 'UPD' | 'DEL', number: number): string {
  const code = `G${90 + (number % 9)}`;
  const names =
    operation === 'DEL'
      ? ''
      : leaf('DESC', `Bus gate ${code}`) +
        leaf('CDES', operation === 'ADD' ? `${code} 远机位登机口` : `${code} 登机口，暂停使用`) +
        leaf('ATML', 'T2');
  return referencePayload([node('GLST', leaf('GATE', code) + names)]);
}

function named(type: string, key: string, items: readonly Named[]): ReferencePackage {
  return pack(type, items, ({ code, name, chinese }) => [
    [key, code],
    ['DESC', name],
    ['CDES', chinese],
  ]);
}

function pack<T>(
  type: string,
  items: readonly T[],
  fields: (item: T) => readonly (readonly [string, string])[],
): ReferencePackage {
  const record = (item: T) =>
    node(
      type,
      fields(item)
        .map(([name, value]) => leaf(name, value))
        .join(''),
    );
  return { type, records: items.map(record) };
}

function inTerminals(codes: Readonly<Record<string, readonly string[]>>): (readonly [string, string])[] {
  return Object.entries(codes).flatMap(([terminal, list]) => list.map((code) => [code, terminal] as const));
}
