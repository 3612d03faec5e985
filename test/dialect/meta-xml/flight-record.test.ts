import { describe, expect, test } from 'vitest';
import { COLLECTIONS, SCALARS } from '../../../src/domain/fields.ts';
import {
  dialect,
  decoded,
  faults,
  flop,
  message,
  patches,
  RECORD,
  schedule,
  verdict,
  writes,
} from '../kit.ts';

const AT = '14MAR260820';
const ISO = '2026-03-14T08:20:00+08:00';

/** dialect.md, "FLTR scalars": element, field, how it is read. */
const SCALAR_ROWS = [
  ['FFID', 'ffid', 'text'],
  ['ALCD', 'airline', 'text'],
  ['ALSC', 'airlineSub', 'text'],
  ['FLNO', 'flightNumber', 'text'],
  ['SODT', 'scheduledTime', 'time'],
  ['ESTM', 'estimatedTime', 'time'],
  ['ACTM', 'actualTime', 'time'],
  ['FLTY', 'flightType', 'text'],
  ['FLIN', 'flightIndicator', 'text'],
  ['ACFT', 'aircraftType', 'text'],
  ['RENO', 'registration', 'text'],
  ['TAOP', 'linked.airline', 'text'],
  ['TAFL', 'linked.flightNumber', 'text'],
  ['TAID', 'linked.flid', 'text'],
  ['CSOP', 'master.airline', 'text'],
  ['CSFT', 'master.flightNumber', 'text'],
  ['CSID', 'master.flid', 'text'],
  ['TRML', 'terminal', 'text'],
  ['MAXP', 'maxPassengers', 'count'],
  ['STND', 'currentStand', 'text'],
  ['PHAG', 'agents.passenger', 'text'],
  ['FHAG', 'agents.field', 'text'],
  ['MHAG', 'agents.maintenance', 'text'],
  ['VIPP', 'vip.count', 'count'],
  ['VIPR', 'vip.rank', 'count'],
  ['BAGN', 'baggage.count', 'count'],
  ['BAGW', 'baggage.weightKg', 'count'],
  ['PAXN', 'passengers', 'count'],
  ['CNCL', 'cancelledAt', 'time'],
  ['REMC', 'remark', 'text'],
  ['BOTM', 'boardingOpen', 'time'],
  ['LACL', 'lastCall', 'time'],
  ['FINT', 'finalCall', 'time'],
  ['APPT', 'releasedAt', 'time'],
  ['EGSR', 'engineStartRequest', 'time'],
  ['EGST', 'engineStart', 'time'],
  ['EXSC', 'externalStatus.code', 'text'],
  ['EXSR', 'externalStatus.remark', 'text'],
  ['FTSS', 'status', 'text'],
  ['PEDT', 'previousStation.estimatedOff', 'time'],
  ['PADT', 'previousStation.actualOff', 'time'],
  ['NEAT', 'nextStation.estimatedOn', 'time'],
  ['NAAT', 'nextStation.actualOn', 'time'],
  ['COBT', 'cobt', 'time'],
  ['TOBT', 'tobt', 'time'],
  ['EOBT', 'eobt', 'time'],
  ['CTOT', 'ctot', 'time'],
  ['IEST', 'internalEstimate', 'time'],
  ['RUNW', 'runway', 'text'],
] as const;

const WRITTEN = { text: ['0012', '0012'], time: [AT, ISO], count: ['0180', 180] } as const;
const WRONG = { text: null, time: '2026-03-14', count: '0E68' } as const;

/** An update that carries its own subtype's element first, so that others may be tried beside it. */
const beside = (content: string): string => flop('RENO', `<RENO>B1</RENO>${content}`);
const scalarOf = (text: string, field: string): unknown =>
  writes(text).find((write) => write.kind === 'scalar' && write.field === field);

describe('scalar elements', () => {
  test.each(SCALAR_ROWS)('%s writes %s as %s', (element, field, type) => {
    const [written, value] = WRITTEN[type];
    const expected = { kind: 'scalar', field, value };
    expect(scalarOf(beside(`<${element}> ${written}\n</${element}>`), field)).toEqual(expected);
    expect(scalarOf(beside(`<${element}><![CDATA[${written}]]></${element}>`), field)).toEqual(expected);
    for (const empty of [
      `<${element}/>`,
      `<${element}></${element}>`,
      `<${element}> <!-- none --> </${element}>`,
    ]) {
      expect(scalarOf(beside(empty), field)).toEqual({ kind: 'scalar', field, value: null });
    }
    if (element !== 'RENO') expect(scalarOf(beside(''), field)).toBeUndefined();
    const wrong = WRONG[type];
    if (wrong !== null) {
      expect(verdict(beside(`<${element}>${wrong}</${element}>`))).toBe(
        `codec-error unknown-format:${element}`,
      );
    }
  });

  test('every scalar of the catalogue is written by some element', () => {
    const others = ['movement', 'port.openedAt', 'port.closedAt', 'irregular.'];
    const fields = SCALARS.map((field): string => field.path);
    const rest = fields.filter((path) => !SCALAR_ROWS.some(([, field]) => field === path));
    expect(rest.filter((path) => !others.some((known) => path.startsWith(known)))).toEqual([]);
  });

  test.each(['A', 'D'])('MVIN %s', (value) => {
    expect(scalarOf(beside(`<MVIN>${value}</MVIN>`), 'movement')).toMatchObject({ value });
  });

  test('an empty MVIN clears, another value is unknown', () => {
    expect(scalarOf(beside('<MVIN/>'), 'movement')).toMatchObject({ value: null });
    for (const value of ['X', 'a', 'AD']) {
      expect(verdict(beside(`<MVIN>${value}</MVIN>`))).toBe('codec-error unknown-value:MVIN');
    }
  });

  test('of a repeated element the later wins', () => {
    expect(writes(flop('RENO', '<RENO>B1</RENO><RENO>B2</RENO>'))).toEqual([
      { kind: 'scalar', field: 'registration', value: 'B2' },
    ]);
  });

  test('a weight may have a fraction, a count may not', () => {
    expect(scalarOf(beside('<BAGW>1200.5</BAGW>'), 'baggage.weightKg')).toMatchObject({ value: 1200.5 });
    for (const wrong of ['<BAGN>12.5</BAGN>', '<BAGN>+5</BAGN>', '<BAGN>-5</BAGN>', '<BAGN>1 2</BAGN>']) {
      expect(verdict(beside(wrong))).toBe('codec-error unknown-format:BAGN');
    }
    for (const weight of ['1e3', '.5', '5.', '1,5', '1234567890123.456']) {
      expect(verdict(beside(`<BAGW>${weight}</BAGW>`))).toBe('codec-error unknown-format:BAGW');
    }
    expect(scalarOf(beside('<MAXP>999999999999999</MAXP>'), 'maxPassengers')).toMatchObject({
      value: 999_999_999_999_999,
    });
    expect(verdict(beside('<MAXP>1000000000000000</MAXP>'))).toBe('codec-error unknown-format:MAXP');
    expect(verdict(beside('<MAXP>１２</MAXP>'))).toBe('codec-error unknown-format:MAXP');
  });

  test('text is carried as it is', () => {
    const text = 'Café &amp; 流量控制 &lt;15&gt; &#20998;';
    expect(scalarOf(beside(`<REMC>${text}</REMC>`), 'remark')).toMatchObject({
      value: 'Café & 流量控制 <15> 分',
    });
  });

  test('an element that carries elements instead of text is not empty', () => {
    expect(verdict(beside('<CNCL><TIME>1</TIME></CNCL>'))).toBe('codec-error unknown-format:CNCL');
  });
});

describe('elements with attributes', () => {
  test.each([
    ['FDIV', 'DDES="CKG" DDIR="TO"', { airport: 'CKG', direction: 'TO' }, 'diversion', 'DDES'],
    ['FRET', 'REID="G"', { kind: 'G' }, 'return', 'REID'],
    ['FLAB', 'ARES="O"', { kind: 'O' }, 'abortedLanding', 'ARES'],
  ] as const)('%s writes all of its fields', (element, attributes, values, group, one) => {
    const fields = [...Object.keys(values), 'reason'].map((key) => `irregular.${group}.${key}`);
    expect(writes(flop(element, `<${element} ${attributes}> fog </${element}>`))).toEqual([
      ...Object.entries(values).map(([key, value]) => ({
        kind: 'scalar',
        field: `irregular.${group}.${key}`,
        value,
      })),
      { kind: 'scalar', field: `irregular.${group}.reason`, value: 'fog' },
    ]);
    for (const empty of [`<${element}/>`, `<${element} ${one}=" "></${element}>`]) {
      expect(writes(flop(element, empty))).toEqual(
        fields.map((field) => ({ kind: 'scalar', field, value: null })),
      );
    }
  });

  test('a text alone leaves the attributes null', () => {
    expect(writes(flop('FDIV', '<FDIV>fog</FDIV>'))).toEqual([
      { kind: 'scalar', field: 'irregular.diversion.airport', value: null },
      { kind: 'scalar', field: 'irregular.diversion.direction', value: null },
      { kind: 'scalar', field: 'irregular.diversion.reason', value: 'fog' },
    ]);
  });
});

describe('PORT', () => {
  const port = (content: string): string => flop('PORT', `<PORT>${content}</PORT>`);

  test.each([
    ['O', 'port.openedAt'],
    ['C', 'port.closedAt'],
  ])('POID %s writes %s', (indicator, field) => {
    const by = `<POID>${indicator}</POID>`;
    expect(writes(port(`<POTM>${AT}</POTM>${by}`))).toEqual([{ kind: 'scalar', field, value: ISO }]);
    expect(writes(port(`${by}<POTM/>`))).toEqual([{ kind: 'scalar', field, value: null }]);
    expect(writes(port(by))).toEqual([{ kind: 'scalar', field, value: null }]);
  });

  test('an entirely empty one clears both', () => {
    for (const content of ['', '<POTM/><POID/>']) {
      expect(writes(port(content))).toEqual([
        { kind: 'scalar', field: 'port.openedAt', value: null },
        { kind: 'scalar', field: 'port.closedAt', value: null },
      ]);
    }
  });

  test('faults', () => {
    expect(faults(port(`<POTM>${AT}</POTM><POID>X</POID>`))).toEqual(['unknown-value:POID']);
    expect(faults(port(`<POTM>${AT}</POTM>`))).toEqual(['payload-missing:POID']);
    expect(faults(port('<POTM>31FEB260800</POTM><POID>X</POID>'))).toEqual([
      'bad-value:POTM',
      'unknown-value:POID',
    ]);
  });
});

/** dialect.md, "Collections": element, collection, entry with number 2, the values it is read as. */
const NONE = { plannedFrom: null, plannedTo: null, actualFrom: null, actualTo: null, indicator: null };
const LIST_ROWS = [
  [
    'PSDT',
    'PSNO',
    'stands',
    `<PSST>401#</PSST><STST>${AT}</STST><STET>14MAR260900</STET>`,
    { code: '401#', plannedFrom: ISO, plannedTo: '2026-03-14T09:00:00+08:00' },
    {
      code: null,
      plannedFrom: null,
      plannedTo: null,
      push: { time: null, indicator: null },
      tractorAt: null,
    },
  ],
  [
    'GTDT',
    'GTNO',
    'gates',
    `<GATE>04</GATE><PGOT>14MAR260801</PGOT><PGCT>14MAR260802</PGCT><GOTM>14MAR260803</GOTM><GCTM>14MAR260804</GCTM><GTYP>D</GTYP>`,
    fourTimes({ code: '04' }),
    { code: null, ...NONE },
  ],
  [
    'CKDT',
    'CKNO',
    'checkins',
    `<CHKC>8811T</CHKC><CCLS>Y</CCLS><PCOT>14MAR260801</PCOT><PCCT>14MAR260802</PCCT><COTM>14MAR260803</COTM><CCTM>14MAR260804</CCTM><CTYP>D</CTYP>`,
    fourTimes({ code: '8811T', class: 'Y' }),
    { code: null, class: null, ...NONE },
  ],
  [
    'CLDT',
    'CLNO',
    'carousels',
    `<BELT>7</BELT><BCLS>Y</BCLS><PCOT>14MAR260801</PCOT><PCCT>14MAR260802</PCCT><FBAG>14MAR260803</FBAG><LBAG>14MAR260804</LBAG><BTYP>D</BTYP>`,
    {
      code: '7',
      class: 'Y',
      plannedFrom: '2026-03-14T08:01:00+08:00',
      plannedTo: '2026-03-14T08:02:00+08:00',
      firstBag: '2026-03-14T08:03:00+08:00',
      lastBag: '2026-03-14T08:04:00+08:00',
      indicator: 'D',
    },
    {
      code: null,
      class: null,
      plannedFrom: null,
      plannedTo: null,
      firstBag: null,
      lastBag: null,
      indicator: null,
    },
  ],
  [
    'CHDT',
    'CHNO',
    'chutes',
    `<CHUT>C01</CHUT><CCLS>F</CCLS><PCBT>14MAR260801</PCBT><PCET>14MAR260802</PCET><CBTM>14MAR260803</CBTM><CETM>14MAR260804</CETM><CTYP>D</CTYP>`,
    fourTimes({ code: 'C01', class: 'F' }),
    { code: null, class: null, ...NONE },
  ],
  [
    'ABTM',
    'ASNO',
    'airbridges',
    `<ABDG>212</ABDG><ABOP>A</ABOP><AOTM>${AT}</AOTM>`,
    { code: '212', operation: 'A', time: ISO },
    { code: null, operation: null, time: null },
  ],
  [
    'CHOT',
    'CSNO',
    'chocks',
    `<CHST>204</CHST><CHID>ON</CHID><CHTM>${AT}</CHTM>`,
    { stand: '204', indicator: 'ON', time: ISO },
    { stand: null, indicator: null, time: null },
  ],
  [
    'ERUT',
    'RTNO',
    'route',
    `<APCD>CTU</APCD><SCAT>${AT}</SCAT><SCDT>14MAR260900</SCDT>`,
    { airport: 'CTU', arrival: ISO, departure: '2026-03-14T09:00:00+08:00' },
    { airport: null, arrival: null, departure: null },
  ],
] as const;

function fourTimes(more: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return {
    ...more,
    plannedFrom: '2026-03-14T08:01:00+08:00',
    plannedTo: '2026-03-14T08:02:00+08:00',
    actualFrom: '2026-03-14T08:03:00+08:00',
    actualTo: '2026-03-14T08:04:00+08:00',
    indicator: 'D',
  };
}

describe('collections with sequence numbers', () => {
  test.each(LIST_ROWS)('%s @%s → %s', (element, number, collection, content, values, unknown) => {
    const first = content.slice(0, content.indexOf('</') + 7);
    const text = flop(
      element,
      `<${element} ${number}="10">${first}</${element}><${element} ${number}="2">${content}</${element}>`,
    );
    const [write] = writes(text);
    expect(writes(text)).toHaveLength(1);
    const [key] = Object.keys(unknown);
    const value = key === undefined ? null : (values as Readonly<Record<string, string>>)[key];
    expect(write).toEqual({
      kind: 'list',
      field: collection,
      entries: [
        { seq: 2, ...unknown, ...values },
        { seq: 10, ...unknown, ...(key === undefined ? {} : { [key]: value }) },
      ],
    });
  });

  test.each(LIST_ROWS)('%s: an empty element or entry clears', (element, number, collection) => {
    for (const empty of [`<${element}/>`, `<${element}> </${element}>`, `<${element} ${number}="1"/>`]) {
      expect(writes(flop(element, empty))).toEqual([{ kind: 'list', field: collection, entries: [] }]);
    }
    expect(verdict(flop(element, `<${element} ${number}="one"/>`))).toBe(
      `codec-error unknown-format:${number}`,
    );
  });

  test('every attribute of every entry is present', () => {
    for (const [element, , collection, content] of LIST_ROWS) {
      const [write] = writes(flop(element, `<${element}>${content}</${element}>`));
      const attributes = COLLECTIONS.find((field) => field.name === collection)?.attributes ?? [];
      const expected = new Set(attributes.map(({ path }) => path.split('.')[0]));
      if (write?.kind !== 'list') throw new Error('no list');
      expect(new Set(Object.keys(write.entries[0] ?? {}))).toEqual(expected);
    }
  });

  const gates = (...entries: readonly (readonly [number: string, code: string])[]): string =>
    flop('GTDT', entries.map(([number, code]) => `<GTDT${number}><GATE>${code}</GATE></GTDT>`).join(''));
  const codes = (text: string): unknown => {
    const write = writes(text).find(({ kind }) => kind === 'list');
    return write?.kind === 'list' ? write.entries.map((entry) => [entry['seq'], entry['code']]) : null;
  };

  test('in numeric order, those without a number last, as given', () => {
    const text = gates(
      [' GTNO="10"', 'J'],
      ['', 'X'],
      [' GTNO="9"', 'I'],
      [' GTNO=""', 'Y'],
      [' GTNO="0"', 'A'],
    );
    expect(codes(text)).toEqual([
      [0, 'A'],
      [9, 'I'],
      [10, 'J'],
      [null, 'X'],
      [null, 'Y'],
    ]);
  });

  test('of two entries with one number the later wins', () => {
    expect(codes(gates([' GTNO="1"', 'A'], [' GTNO="2"', 'B'], [' GTNO="01"', 'C']))).toEqual([
      [1, 'C'],
      [2, 'B'],
    ]);
  });

  test('entries need not stand together', () => {
    expect(
      codes(
        flop(
          'GTDT',
          '<GTDT GTNO="2"><GATE>B</GATE></GTDT><RENO>B1</RENO><GTDT GTNO="1"><GATE>A</GATE></GTDT>',
        ),
      ),
    ).toEqual([
      [1, 'A'],
      [2, 'B'],
    ]);
  });
});

describe('collections in the order given', () => {
  test('SRVT', () => {
    const content = `<SRTC>WCHR</SRTC><SRQT>2</SRQT><SRST>${AT}</SRST><SRET>14MAR260900</SRET><SRPR>GH</SRPR><SANR>L</SANR><SARR>late</SARR>`;
    expect(writes(flop('SRVT', `<SRVT>${content}</SRVT><SRVT><SRTC>BUS</SRTC></SRVT>`))).toEqual([
      {
        kind: 'list',
        field: 'services',
        entries: [
          {
            code: 'WCHR',
            quantity: 2,
            from: ISO,
            to: '2026-03-14T09:00:00+08:00',
            provider: 'GH',
            abnormal: { reason: 'L', remark: 'late' },
          },
          {
            code: 'BUS',
            quantity: null,
            from: null,
            to: null,
            provider: null,
            abnormal: { reason: null, remark: null },
          },
        ],
      },
    ]);
    expect(writes(flop('SRVT', '<SRVT/>'))).toEqual([{ kind: 'list', field: 'services', entries: [] }]);
    expect(verdict(flop('SRVT', '<SRVT><SRQT>x</SRQT></SRVT>'))).toBe('codec-error unknown-format:SRQT');
  });

  test('VIPF', () => {
    expect(
      writes(flop('VIPF', '<VIPF><VPCD>V2</VPCD><VFES>3</VFES></VIPF><VIPF><VPCD>V1</VPCD></VIPF>')),
    ).toEqual([
      {
        kind: 'list',
        field: 'vips',
        entries: [
          { code: 'V2', entourage: 3 },
          { code: 'V1', entourage: null },
        ],
      },
    ]);
    expect(verdict(flop('VIPF', '<VIPF><VFES>many</VFES></VIPF>'))).toBe('codec-error unknown-format:VFES');
  });
});

describe('ROUT', () => {
  const rout = '<ROUT RTNO="1"><APCD>SZX</APCD></ROUT>';
  const erut = '<ERUT RTNO="1"><APCD>CTU</APCD></ERUT>';
  const airports = (text: string): unknown =>
    writes(text).flatMap((write) =>
      write.kind === 'list' && write.field === 'route'
        ? [write.entries.map((entry) => entry['airport'])]
        : [],
    );

  test('is taken as the route where there is no ERUT', () => {
    expect(airports(beside(rout))).toEqual([['SZX']]);
  });

  test('is ignored where there is one, even an empty one or later', () => {
    expect(airports(beside(erut + rout))).toEqual([['CTU']]);
    expect(airports(beside(rout + erut))).toEqual([['CTU']]);
    expect(airports(beside(`${rout}<ERUT/>`))).toEqual([[]]);
    expect(decoded(beside(rout + erut)).unknownElements).toEqual([]);
  });
});

describe('DELY', () => {
  test('sets the delay of a code', () => {
    const text = flop('DELY', `<DELY CODE="81" STRT="${AT}" DURA="0145"> flow </DELY><DELY CODE="93"/>`);
    expect(writes(text)).toEqual([
      { kind: 'delay', code: '81', value: { start: ISO, minutes: 105, remark: 'flow' } },
      { kind: 'delay', code: '93', value: { start: null, minutes: null, remark: null } },
    ]);
  });

  test('an empty one clears all, in its place', () => {
    const text = flop(
      'DELY',
      '<DELY CODE="81">a</DELY><DELY CODE="" STRT=""> </DELY><DELY CODE="93">b</DELY>',
    );
    expect(writes(text).map((write) => write.kind)).toEqual(['delay', 'delays-cleared', 'delay']);
  });

  test.each([
    ['<DELY STRT="14MAR260700">x</DELY>', 'malformed payload-missing:CODE'],
    ['<DELY>x</DELY>', 'malformed payload-missing:CODE'],
    ['<DELY CODE="81" DURA="0060"/>', 'malformed bad-value:DURA'],
    ['<DELY CODE="81" DURA="45"/>', 'codec-error unknown-format:DURA'],
    ['<DELY CODE="81" DURA="00:45"/>', 'codec-error unknown-format:DURA'],
    ['<DELY CODE="81" STRT="14MAR262401"/>', 'malformed bad-value:STRT'],
  ])('%s is %s', (content, expected) => {
    expect(verdict(flop('DELY', content))).toBe(expected);
  });

  test('a duration has up to 99 hours', () => {
    expect(writes(flop('DELY', '<DELY CODE="1" DURA="9959"/>'))).toMatchObject([
      { value: { minutes: 5999 } },
    ]);
  });
});

describe('PSHT and TIPT', () => {
  test('write the register of their stand', () => {
    const push = `<PSHT PSHN="1"><PSTM>${AT}</PSTM><PSID>OUT</PSID><PUST>401#</PUST></PSHT>`;
    expect(writes(flop('PSHT', push))).toEqual([
      { kind: 'push', stand: '401#', value: { time: ISO, indicator: 'OUT' } },
    ]);
    expect(writes(flop('TIPT', `<TIPT><TRTM>${AT}</TRTM><TRST>204</TRST></TIPT>`))).toEqual([
      { kind: 'tractor', stand: '204', value: ISO },
    ]);
    expect(decoded(flop('PSHT', push)).unknownElements).toEqual([]);
  });

  test('an empty time clears', () => {
    expect(writes(flop('PSHT', '<PSHT><PSTM/><PSID>OUT</PSID><PUST>204</PUST></PSHT>'))).toEqual([
      { kind: 'push', stand: '204', value: null },
    ]);
    expect(writes(flop('TIPT', '<TIPT><TRST>204</TRST></TIPT>'))).toEqual([
      { kind: 'tractor', stand: '204', value: null },
    ]);
  });

  test('without a stand they write nothing and are counted', () => {
    const text = flop(
      'PSHT',
      `<PSHT><PSTM>${AT}</PSTM></PSHT><TIPT/><TIPT><TRTM>${AT}</TRTM><TRST> </TRST></TIPT>`,
    );
    expect(writes(text)).toEqual([]);
    expect(decoded(text).unmatchedStands).toBe(3);
  });
});

describe('FLID', () => {
  const withFlid = (flid: string): string =>
    message('FLOP', 'RENO', `<FLOP><FLID>${flid}</FLID><RENO>B1</RENO></FLOP>`);

  test('stays text', () => {
    for (const flid of ['0', '0012', '123456789012345678']) {
      expect(patches(withFlid(` ${flid} `))[0]?.flid).toBe(flid);
    }
  });

  test('of no decimal form is of no known format', () => {
    for (const flid of ['1234567890123456789', '0E68', '12a', '-1', '1.0', '１２', '1 2']) {
      expect(faults(withFlid(flid))).toEqual(['unknown-format:FLID']);
    }
  });
});

describe('what the profile does not know', () => {
  test('is left out and named once, with its path', () => {
    const record = `${RECORD}<ABCD>1</ABCD><ABCD>2</ABCD><GTDT GTNO="1" X="1"><GATE>1</GATE><Q><R/></Q></GTDT><RENO Y="2">B1</RENO>`;
    const text = schedule([record])
      .replace('<SCHD>', '<EXTRA/><SCHD><MORE/>')
      .replace('<TYPE>', '<XTRA/><TYPE>');
    expect(verdict(text)).toBe('decoded');
    expect([...decoded(text).unknownElements].sort()).toEqual(
      [
        'EXTRA',
        'META/XTRA',
        'SCHD/FLTR/ABCD',
        'SCHD/FLTR/GTDT/@X',
        'SCHD/FLTR/GTDT/Q',
        'SCHD/FLTR/RENO/@Y',
        'SCHD/MORE',
      ].sort(),
    );
    const [write] = writes(schedule([`<GTDT GTNO="1" X="1"><GATE>1</GATE><Q>7</Q></GTDT>${RECORD}`])).filter(
      ({ kind }) => kind === 'list',
    );
    expect(JSON.stringify(write)).not.toContain('7');
  });

  test('names that objects inherit are no more known than others', () => {
    const text = flop('RENO', '<RENO>B1</RENO><constructor>1</constructor><__proto__>2</__proto__>');
    expect(decoded(text).unknownElements).toEqual(['FLOP/constructor', 'FLOP/__proto__']);
    expect(writes(text)).toHaveLength(1);
  });

  test('a hostile number of unknown names is bounded', () => {
    const many = Array.from({ length: 5000 }, (_, index) => `<x${index}/>`).join('');
    const { unknownElements } = decoded(flop('RENO', `<RENO/>${many}<${'n'.repeat(10_000)}/>`));
    expect(unknownElements).toHaveLength(100);
    expect(dialect.decode(flop('RENO', `<RENO/><${'n'.repeat(10_000)}/>`))).toMatchObject({
      message: { unknownElements: [`FLOP/${'n'.repeat(64)}…`] },
    });
  });
});

describe('what holds something, but nothing the profile describes, is no "clear"', () => {
  test.each([
    ['GTDT', '<GTDT GTNO="1"><FOO>G12</FOO></GTDT>'],
    ['GTDT', '<GTDT GTNO="1">G12</GTDT>'],
    ['GTDT', '<GTDT GTNO="1" GATE2="G12"/>'],
    ['PORT', `<PORT>${AT}</PORT>`],
    ['PORT', `<PORT><WHEN>${AT}</WHEN></PORT>`],
    ['DELY', '<DELY REASON="81"/>'],
    ['FDIV', '<FDIV><DDES>CKG</DDES></FDIV>'],
  ])('%s: %s', (name, element) => {
    expect(verdict(flop(name, element))).toBe(`codec-error unknown-format:${name}`);
  });

  test.each([
    ['GTDT', '<GTDT GTNO="1"><GATE> </GATE><FOO/></GTDT>', { kind: 'list', field: 'gates', entries: [] }],
    ['DELY', '<DELY REASON=" "></DELY>', { kind: 'delays-cleared' }],
    ['PORT', '<PORT><POTM/></PORT>', { kind: 'scalar', field: 'port.openedAt', value: null }],
  ])('but an empty %s still is: %s', (name, element, write) => {
    expect(writes(flop(name, element))).toContainEqual(write);
  });
});
