import { describe, expect, test } from 'vitest';
import { readXml } from '../../../src/dialect/meta-xml/reader.ts';
import { atOnce } from '../../../src/dialect/steps.ts';
import { dialect, decoded, flop, message, patches, sis, verdict, verdictOf, writes } from '../kit.ts';

const GOOD = flop('RENO', '<RENO>B1</RENO>');
const MIB = 1024 * 1024;

/** A message of exactly so many UTF-8 bytes. */
function sized(bytes: number, filling = 'x'): string {
  const frame = flop('REMC', '<REMC>|</REMC>');
  const room = bytes - Buffer.byteLength(frame) + 1;
  const width = Buffer.byteLength(filling);
  const text = filling.repeat(Math.floor(room / width)) + 'x'.repeat(room % width);
  return frame.replace('|', () => text);
}

/** A message whose deepest element has a depth; MSG is 1. */
function nested(depth: number): string {
  const inner = depth - 2;
  return flop('RENO', `<RENO>B1</RENO>${'<a>'.repeat(inner)}${'</a>'.repeat(inner)}`);
}

describe('texts that are legal', () => {
  test.each([
    ['a byte-order mark', `\uFEFF${GOOD}`],
    ['leading white space before a declaration', ` \r\n\t<?xml version="1.0" encoding="UTF-8"?>\n${GOOD}`],
    ['both', `\uFEFF\n<?xml version="1.0"?>${GOOD}\n\n`],
    ['an encoding that the database has dealt with', `<?xml version="1.0" encoding="GBK"?>${GOOD}`],
    ['version 1.1', `<?xml version="1.1"?>${GOOD}`],
    [
      'comments and processing instructions',
      `<!-- a --><?p i?>${GOOD.replace('<FLOP>', '<!-- <b> --><FLOP><?p?>')}<!-- z -->`,
    ],
    ['CDATA', GOOD.replace('>B1<', '><![CDATA[B]]>1<')],
    ['character references', GOOD.replace('>B1<', '>&#66;&#x31;<')],
    [
      'namespaces',
      GOOD.replace(
        '<MSG>',
        '<m:MSG xmlns:m="urn:m" xmlns="urn:d" xmlns:xsi="x" xsi:noNamespaceSchemaLocation="sis.xsd">',
      )
        .replace('</MSG>', '</m:MSG>')
        .replaceAll('RENO>B', 'm:RENO>B')
        .replace('1</RENO>', '1</m:RENO>'),
    ],
  ])('%s', (_name, text) => {
    expect(decoded(text).unknownElements).toEqual([]);
    expect(patches(text)).toEqual([
      { flid: '700001', writes: [{ kind: 'scalar', field: 'registration', value: 'B1' }] },
    ]);
  });
});

describe('texts that are none', () => {
  test.each([
    ['', 'raw-missing'],
    [' \n\t ', 'raw-missing'],
    ['\uFEFF', 'raw-missing'],
    ['not XML', 'not-well-formed'],
    ['{}', 'not-well-formed'],
    ['\u0000', 'not-well-formed'],
    ['<MSG>', 'not-well-formed'],
    ['<MSG/><MSG/>', 'not-well-formed'],
    [`${GOOD}x`, 'not-well-formed'],
    [GOOD.replace('B1', 'a & b'), 'not-well-formed'],
    [GOOD.replace('B1', '&undefined;'), 'not-well-formed'],
    [GOOD.replace('B1', 'B\u0000'), 'not-well-formed'],
    [GOOD.replace('B1', 'B\u0007'), 'not-well-formed'],
    [GOOD.replace('B1', '&#0;'), 'not-well-formed'],
    [GOOD.replace('B1', '&#x1F;'), 'not-well-formed'],
    [`<?xml version="1.1"?>${GOOD.replace('B1', '&#1;')}`, 'not-well-formed'],
    [GOOD.replace('B1', '\uFFFE'), 'not-well-formed'],
    [GOOD.replace('B1', '\uD800'), 'not-well-formed'],
    [`${GOOD}\uD800`, 'not-well-formed'],
    // The parser takes these two units for a legal character.
    [GOOD.replace('B1', '\uD805x'), 'not-well-formed'],
    [GOOD.replace('B1', '&#xD800;'), 'not-well-formed'],
    [GOOD.replace('<RENO>', '<RENO a="1" a="2">'), 'not-well-formed'],
    [GOOD.replace('<RENO>', '<RENO a=1>'), 'not-well-formed'],
    [GOOD.replace('</RENO>', '</RENo>'), 'not-well-formed'],
    [GOOD.replace('B1', ']]>'), 'not-well-formed'],
    [`<!DOCTYPE MSG>${GOOD}`, 'doctype-forbidden'],
    [`<!DOCTYPE MSG SYSTEM "http://example.invalid/x.dtd">${GOOD}`, 'doctype-forbidden'],
    [
      `<?xml version="1.0"?>\n<!DOCTYPE MSG [<!ENTITY a SYSTEM "file:///etc/passwd">]>${GOOD.replace('B1', '&a;')}`,
      'doctype-forbidden',
    ],
  ])('%j is %s', (text, reason) => {
    expect(verdict(text)).toBe(`malformed ${reason}`);
  });

  test('an entity bomb is refused before anything expands', () => {
    const levels = Array.from(
      { length: 30 },
      (_, level) => `<!ENTITY e${level + 1} "${`&e${level};`.repeat(10)}">`,
    );
    const bomb = `<!DOCTYPE MSG [<!ENTITY e0 "x">${levels.join('')}]>${GOOD.replace('B1', '&e30;')}`;
    const started = process.cpuUsage();
    expect(verdict(bomb)).toBe('malformed doctype-forbidden');
    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1e6).toBeLessThan(0.5);
  });
});

describe('places', () => {
  const place = (text: string): unknown => {
    const outcome = dialect.decode(text);
    if (outcome.outcome === 'decoded') throw new Error('no fault');
    const [{ line, column }] = outcome.faults;
    return [line, column];
  };

  test('are lines and columns of the text as it came', () => {
    const update = flop('CNCL', '\n  <CNCL>x</CNCL>');
    expect(place(update)).toEqual([2, 3]);
    expect(place(`\uFEFF\n\r\n\r${update}`)).toEqual([5, 3]);
    expect(place(`\uFEFF${flop('CNCL', '<CNCL>x</CNCL>')}`)).toEqual(place(flop('CNCL', '<CNCL>x</CNCL>')));
    expect(place(flop('CNCL', '\n<RENO a="\n\n">航班</RENO> <CNCL\n>x</CNCL>'))).toEqual([4, 13]);
    expect(place(flop('GTDT', '\r\n<GTDT\r\n GTNO="x"/>'))).toEqual([2, 1]);
    expect(place(`<?xml version="1.0"?>\n <!DOCTYPE MSG [ ]>\n${GOOD}`)).toEqual([2, 2]);
    expect(place('')).toEqual([null, null]);
  });

  test('a fault never repeats the value', () => {
    const outcome = dialect.decode(
      flop('VIPF', '<VIPF><VPCD>SECRETPERSON</VPCD><VFES>SECRETCOUNT</VFES></VIPF>'),
    );
    expect(JSON.stringify(outcome)).not.toContain('SECRET');
  });
});

describe('limits', () => {
  test('8 MiB exactly, and one byte more', { timeout: 60_000 }, () => {
    for (const filling of ['x', '航']) {
      const text = sized(8 * MIB, filling);
      expect(Buffer.byteLength(text)).toBe(8 * MIB);
      expect(verdict(text)).toBe('decoded');
      expect(verdict(`${text} `)).toBe('malformed too-large');
    }
  });

  test('are the options’ own', () => {
    const small = sis({ maxMessageBytes: Buffer.byteLength(GOOD), maxDepth: 3 });
    expect(verdict(GOOD, small)).toBe('decoded');
    expect(verdict(`${GOOD} `, small)).toBe('malformed too-large');
    expect(verdict(GOOD, sis({ maxDepth: 2 }))).toBe('malformed too-deep');
  });

  test('depth 64 and 65', () => {
    expect(verdict(nested(64))).toBe('decoded');
    expect(verdict(nested(65))).toBe('malformed too-deep');
    expect(verdict('<a>'.repeat(1_000_000))).toBe('malformed too-deep');
  });

  test('size goes before form, form before META', () => {
    expect(verdict('x'.repeat(8 * MIB + 1))).toBe('malformed too-large');
    expect(verdict(' '.repeat(8 * MIB + 1))).toBe('malformed raw-missing');
    expect(verdict('<!DOCTYPE a><a><b>')).toBe('malformed doctype-forbidden');
  });

  test('a hostile text costs what its size costs', { timeout: 60_000 }, () => {
    const repeated = (unit: string, payload: (content: string) => string): string =>
      payload(unit.repeat(Math.floor(MIB / 2 / unit.length)));
    const texts = [
      repeated('<ROUT/>', (content) => flop('ERUT', `${content}<ERUT/>`)),
      repeated('<RENO/>', (content) => flop('RENO', content)),
      repeated('<GTDT GTNO="1"><GATE>1</GATE></GTDT>', (content) => flop('GTDT', content)),
      repeated('&lt;', (content) => flop('REMC', `<REMC>${content}</REMC>`)),
      repeated('<SEQN>x</SEQN>', (content) => `<MSG><META>${content}</META></MSG>`),
      repeated('<FLTR/>', (content) => message('SCHD', 'DNLD', `<SCHD>${content}</SCHD>`)),
      repeated('<CNCL>31FEB260800</CNCL>', (content) => flop('CNCL', content)),
    ];
    for (const text of texts) {
      const started = process.cpuUsage();
      const outcome = dialect.decode(text);
      const { user, system } = process.cpuUsage(started);
      // A tenth of it is usual; anything that grows with the square of the size takes many times more.
      expect((user + system) / 1e6).toBeLessThan(2);
      if (outcome.outcome !== 'decoded') expect(outcome.faults.length).toBeLessThanOrEqual(2000);
    }
  });

  test('faults beyond the limit are counted', () => {
    const outcome = dialect.decode(flop('CNCL', '<CNCL>x</CNCL>'.repeat(1500)));
    if (outcome.outcome === 'decoded') throw new Error('no fault');
    expect(outcome.faults).toHaveLength(1000);
    expect(outcome.faults.at(-1)?.message).toContain('500 further faults');
    expect(writes(flop('CNCL', '<CNCL/>'.repeat(1500)))).toHaveLength(1);
  });
});

describe('a text of millions of pieces', () => {
  const REPEATED = 8 * MIB - 1_000;

  test.each([
    ['elements', flop('REMC', '<a/>'.repeat(REPEATED / 4)), 'codec-error codec:elements'],
    ['attributes', flop('GTDT', `<GTDT${' a=""'.repeat(REPEATED / 5)}/>`), 'codec-error codec:attributes'],
    ['entries of one record', flop('DELY', '<DELY CODE="1"/>'.repeat(250_000)), 'decoded'],
    [
      'entries of one flight in two records',
      message('FLOP', 'DELY', `<FLOP><FLID>1</FLID>${'<DELY CODE="1"/>'.repeat(125_000)}</FLOP>`.repeat(2)),
      'decoded',
    ],
    ['line ends', flop('REMC', `<REMC>${'\r'.repeat(REPEATED)}</REMC>`), 'decoded'],
  ])('of %s leaves the thread to others in between', (_what, text, expected) => {
    const steps = dialect.decodeInSteps?.(text);
    if (steps === undefined) throw new Error('there are no steps');
    let taken = 0;
    for (;;) {
      const step = steps.next();
      if (step.done === true) {
        expect(verdictOf(step.value)).toBe(expected);
        break;
      }
      taken += 1;
    }
    // 1,000 attributes are soon there; all others are read to their end or to the limit.
    expect(taken).toBeGreaterThan(expected.endsWith('attributes') ? -1 : 20);
  });

  test('says the same wherever it is cut into steps', () => {
    const text = flop(
      'RENO',
      `\r\n<RENO a="\u{1F6EB}&amp;" b:c='x'>B<!-- - -->1]]&gt;<![CDATA[]]]]></RENO><?a b?>\r\r\n<X/>`,
    );
    const whole = atOnce(readXml(text, 64, 100));
    expect(whole.ok).toBe(true);
    for (let step = 1; step < 40; step += 1) expect(atOnce(readXml(text, 64, 100, step))).toEqual(whole);
    const broken = `${text}<`;
    const fault = atOnce(readXml(broken, 64, 100));
    expect(fault).toMatchObject({ ok: false, reason: 'not-well-formed' });
    for (let step = 1; step < 40; step += 1) {
      expect(atOnce(readXml(broken, 64, 100, step))).toMatchObject({ ok: false, reason: 'not-well-formed' });
    }
  });

  test('places faults behind line ends that are cut by a step', () => {
    const lines = `${'x'.repeat(512 * 1024 - 1 - flop('ESTM', '').indexOf('</FLOP>'))}\r\n\r\n`;
    const outcome = dialect.decode(flop('ESTM', `${lines}<ESTM>x</ESTM>`));
    if (outcome.outcome === 'decoded') throw new Error('no fault');
    expect(outcome.faults).toMatchObject([{ reason: 'unknown-format:ESTM', line: 3, column: 1 }]);
  });
});
