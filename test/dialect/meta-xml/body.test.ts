import { describe, expect, test } from 'vitest';
import { decoded, faults, flop, message, patches, RECORD, schedule, sis, verdict } from '../kit.ts';

const SUBTYPES =
  'ABTM ACFT ACTM APPT BOTM CHDT CHOT CKDT CLDT CNCL COBT CSFT CTOT DELY EGSR EGST EOBT ERUT ESTM FDIV FINT FLAB FLIN FLTY FRET FTSS GTDT IEST LACL MAXP NAAT NEAT PADT PEDT PORT PSDT PSHT REMC RENO RUNW SRVT STND TAOP TIPT TOBT TRML VIPF VIPP'.split(
    ' ',
  );

describe('operational updates', () => {
  test.each(SUBTYPES)('%s needs its element', (styp) => {
    expect(verdict(flop(styp, `<${styp}/>`))).toBe('decoded');
    expect(verdict(flop(styp, '<FFID>x</FFID>'))).toBe(`malformed payload-missing:${styp}`);
  });

  test.each([
    ['EXSS', ['EXSC', 'EXSR']],
    ['HNAG', ['FHAG', 'PHAG', 'MHAG']],
  ])('%s needs one of %j', (styp, elements) => {
    for (const element of elements) expect(verdict(flop(styp, `<${element}>x</${element}>`))).toBe('decoded');
    expect(verdict(flop(styp, '<RENO>x</RENO>'))).toBe(`malformed payload-missing:${styp}`);
  });

  test('companions are merged too', () => {
    expect(patches(flop('VIPP', '<VIPP>2</VIPP><VIPR>1</VIPR>'))[0]?.writes).toHaveLength(2);
    expect(patches(flop('TAOP', '<TAOP>XX</TAOP><TAFL>1</TAFL><TAID>2</TAID>'))[0]?.writes).toHaveLength(3);
  });

  test('several records, each on its own', () => {
    const record = (content: string): string => `<FLOP>${content}</FLOP>`;
    const one = record('<FLID>1</FLID><TRML>T1</TRML>');
    const text = message('FLOP', 'TRML', one + record('<FLID>2</FLID><TRML>T2</TRML>') + one);
    expect(patches(text).map((patch) => patch.flid)).toEqual(['1', '2', '1']);
    expect(
      faults(message('FLOP', 'TRML', one + record('<TRML>T2</TRML>') + record('<FLID>3</FLID>'))),
    ).toEqual(['payload-missing:FLID', 'payload-missing:TRML']);
    expect(faults(message('FLOP', 'TRML', ''))).toEqual(['payload-missing:FLOP']);
    expect(faults(message('FLOP', 'TRML', record('<FLID/><TRML/>')))).toEqual(['payload-missing:FLID']);
  });

  test('a subtype that is not listed is unsupported and not read', () => {
    const { body, unknownElements } = decoded(
      message('FLOP', 'ZZZZ', '<FLOP><CNCL>nonsense</CNCL><Q/></FLOP>'),
    );
    expect(body).toEqual({ kind: 'unsupported' });
    expect(unknownElements).toEqual([]);
  });
});

describe('schedules', () => {
  test.each(['DNLD', 'RESP', 'ADFT'] as const)('%s', (subtype) => {
    const { body } = decoded(schedule([RECORD, RECORD.replace('700001', '700002')], subtype));
    if (body.kind !== 'schedule') throw new Error('no schedule');
    expect(body).toMatchObject({ subtype, declared: '2' });
    expect(body.records.map((record) => record.flid)).toEqual(['700001', '700002']);
    expect(body.records[0]?.writes).toEqual([
      { kind: 'scalar', field: 'flightNumber', value: 'XX1201' },
      { kind: 'scalar', field: 'movement', value: 'D' },
      { kind: 'scalar', field: 'scheduledTime', value: '2026-03-14T08:05:00+08:00' },
    ]);
  });

  test('another subtype is unsupported', () => {
    expect(decoded(schedule([RECORD], 'UPD')).body).toEqual({ kind: 'unsupported' });
  });

  test('RECS is handed on as written', () => {
    const declared = (content: string): unknown => decoded(message('SCHD', 'DNLD', content)).body;
    expect(declared('<SCHD/>')).toMatchObject({ declared: null, records: [] });
    expect(declared('<SCHD><RECS/></SCHD>')).toMatchObject({ declared: null });
    expect(declared('<SCHD><RECS> 0 </RECS></SCHD>')).toMatchObject({ declared: '0', records: [] });
    expect(declared('<SCHD><RECS>many</RECS></SCHD>')).toMatchObject({ declared: 'many' });
  });

  test.each(['FLID', 'FLNO', 'MVIN', 'SODT'])('%s is required in a record', (element) => {
    const pattern = new RegExp(`<${element}>.*?</${element}>`);
    expect(faults(schedule([RECORD.replace(pattern, '')]))).toEqual([`payload-missing:${element}`]);
    expect(faults(schedule([RECORD, RECORD.replace(pattern, `<${element}/>`)]))).toEqual([
      `payload-missing:${element}`,
    ]);
    expect(faults(schedule([`${RECORD}<${element}> </${element}>`]))).toEqual([`payload-missing:${element}`]);
  });

  test('the payload is required', () => {
    expect(faults(message('SCHD', 'DNLD', '<FLOP/>'))).toEqual(['payload-missing:SCHD']);
  });

  test('all faults are listed: bad values in document order, then what is missing', () => {
    const text = schedule([
      '<FLID>1</FLID><FLNO>X</FLNO><MVIN>D</MVIN>',
      `${RECORD}<ESTM>nonsense</ESTM><ACTM>31FEB260800</ACTM>`,
      RECORD.replace('<FLNO>XX1201</FLNO>', '').replace('>D<', '>Q<'),
    ]);
    expect(faults(text)).toEqual([
      'unknown-format:ESTM',
      'bad-value:ACTM',
      'unknown-value:MVIN',
      'payload-missing:SODT',
      'payload-missing:FLNO',
    ]);
    expect(verdict(text)).toBe('codec-error unknown-format:ESTM (+4 more)');
  });
});

describe('deletions', () => {
  test.each([
    ['FLOP', 'FDEL', '<FLOP><FLID>7</FLID><FFID>x</FFID><FDEL/></FLOP>'],
    ['FLOP', 'FDEL', '<FLOP><FLID>7</FLID></FLOP>'],
    ['FLOP', 'FDEL', '<FDEL><FLID>7</FLID></FDEL>'],
    ['FDEL', 'FDEL', '<FLOP><FLID>7</FLID></FLOP>'],
    ['FDEL', 'NONE', '<FDEL><FLID>7</FLID></FDEL>'],
    ['FDEL', 'DNLD', '<FLOP><FLID>7</FLID></FLOP><FDEL/>'],
  ])('%s/%s %s', (type, styp, payload) => {
    const read = decoded(message(type, styp, payload));
    expect(read.body).toEqual({ kind: 'deletion', flids: ['7'] });
    expect(read.unknownElements).toEqual([]);
  });

  test('several flights', () => {
    const text = message('FDEL', 'X'.repeat(2), '<FLOP><FLID>7</FLID></FLOP><FLOP><FLID>8</FLID><Q/></FLOP>');
    expect(decoded(text)).toMatchObject({ body: { flids: ['7', '8'] }, unknownElements: ['FLOP/Q'] });
  });

  test.each([
    ['FDEL', 'payload-missing:FDEL', ''],
    ['FLOP', 'payload-missing:FLOP', ''],
    ['FLOP', 'payload-missing:FLID', '<FLOP><FDEL/></FLOP>'],
    ['FDEL', 'payload-missing:FLID', '<FDEL/>'],
    ['FDEL', 'unknown-format:FLID', '<FDEL><FLID>x</FLID></FDEL>'],
  ])('%s: %s', (type, reason, payload) => {
    expect(faults(message(type, 'FDEL', payload))).toEqual([reason]);
  });
});

const TYPES =
  'ABDG ABNR AIRC AIRL ARPT BLST CHLT CITY CLST COUL DLYL FLTL GLST HLTR ORGN PLST REGL SLST STTS TLST'.split(
    ' ',
  );
const KEYS: Readonly<Record<string, string>> = { AIRC: 'ITAT', AIRL: 'ITOP', ARPT: 'ITCD', CITY: 'ITCD' };

describe('reference data', () => {
  test.each(TYPES)('%s', (type) => {
    const key = KEYS[type] ?? 'ANYC';
    const record = KEYS[type] === undefined ? `<ANYC>01</ANYC><B>2</B>` : `<B>2</B><${key}>01</${key}>`;
    for (const operation of ['DNLD', 'RESP', 'ADD', 'UPD', 'DEL']) {
      const { body } = decoded(message(type, operation, `<RECS>1</RECS><${type}>${record}</${type}>`));
      expect(body).toEqual({
        kind: 'reference',
        rtype: type,
        operation,
        declared: '1',
        records: [{ key: '01', body: { [key]: '01', B: '2' } }],
      });
    }
    for (const blank of [`<${key}/>`, `<${key}> </${key}>`]) {
      expect(faults(message(type, 'ADD', `<${type}>${blank}</${type}>`))).toEqual([`payload-missing:${key}`]);
    }
    expect(decoded(message(type, 'NONE', '')).body).toEqual({ kind: 'unsupported' });
  });

  test('the whole record is kept', () => {
    const record =
      '<ABCD>212</ABCD><STND A=" 1 ">211</STND><STND/><STND>212</STND><SUB K="v"><X>1</X><X>2</X></SUB><E A=""/><__proto__>p</__proto__>';
    const { body } = decoded(message('ABDG', 'ADD', `<RECS>1</RECS><ABDG N="7">${record}</ABDG>`));
    if (body.kind !== 'reference') throw new Error('no reference data');
    expect(JSON.stringify(body.records[0]?.body)).toBe(
      '{"@N":"7","ABCD":"212","STND":[{"@A":"1","#text":"211"},null,"212"],"SUB":{"@K":"v","X":["1","2"]},"E":{"@A":null},"__proto__":"p"}',
    );
  });

  test('no record and no count', () => {
    expect(decoded(message('ABDG', 'DNLD', '')).body).toMatchObject({ declared: null, records: [] });
    expect(decoded(message('ABDG', 'DNLD', '<RECS>x</RECS><OTHR/>'))).toMatchObject({
      body: { declared: 'x', records: [] },
      unknownElements: ['OTHR'],
    });
  });

  test('a record without any code', () => {
    expect(faults(message('ABDG', 'ADD', '<ABDG/>'))).toEqual(['payload-missing:ABDG']);
    expect(faults(message('ARPT', 'ADD', '<ARPT><X>1</X></ARPT>'))).toEqual(['payload-missing:ITCD']);
    expect(faults(message('ABDG', 'ADD', '<ABDG><C><D/></C></ABDG>'))).toEqual(['unknown-format:C']);
    expect(faults(message('ABDG', 'ADD', `<ABDG><C>${'x'.repeat(201)}</C></ABDG>`))).toEqual([
      'unknown-format:C',
    ]);
  });

  test('personal data is off unless configured', () => {
    const text = message('VIPL', 'ADD', '<RECS>1</RECS><VIPL><C>1</C></VIPL>');
    expect(decoded(text).body).toEqual({ kind: 'unsupported' });
    expect(decoded(text, sis({ reference: ['VIPL'] })).body).toMatchObject({
      kind: 'reference',
      rtype: 'VIPL',
    });
    expect(decoded(message('ABDG', 'ADD', ''), sis({ reference: ['VIPL'] })).body).toEqual({
      kind: 'unsupported',
    });
  });
});

describe('ignored and unsupported', () => {
  test.each(['LDM', 'REGN', 'RSTA', 'EROR'])('%s is ignored and not read', (type) => {
    expect(decoded(message(type, 'NONE', `<${type}><FLID>x</FLID></${type}>`)).body).toEqual({
      kind: 'ignored',
    });
  });

  test('a rule may name TYPE/STYP, and goes before every kind', () => {
    const rules = sis({ ignore: ['FLOP/REMC'], reference: ['REGN'] });
    expect(decoded(flop('REMC', '<CNCL>nonsense</CNCL>'), rules).body).toEqual({ kind: 'ignored' });
    expect(decoded(flop('RENO', '<RENO/>'), rules).body).toMatchObject({ kind: 'operation' });
    expect(decoded(message('REGN', 'ADD', '<RECS>0</RECS>'), rules).body).toMatchObject({
      kind: 'reference',
    });
    expect(decoded(message('LDM', 'NONE', ''), rules).body).toEqual({ kind: 'unsupported' });
  });

  test('null means the profile’s own list', () => {
    expect(decoded(message('LDM', 'NONE', ''), sis({ ignore: null })).body).toEqual({ kind: 'ignored' });
    expect(decoded(message('LDM', 'NONE', ''), sis({ ignore: [] })).body).toEqual({ kind: 'unsupported' });
  });

  test.each(['SCHS', 'ABCDEF', 'RQST'])('%s is unsupported', (type) => {
    expect(decoded(message(type, 'DNLD', '<X/>')).body).toEqual({ kind: 'unsupported' });
  });
});
