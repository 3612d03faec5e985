import { describe, expect, test } from 'vitest';
import { decoded, dialect, faults, flop, message, verdict } from '../kit.ts';

const FLOP = '<FLOP><FLID>1</FLID><RENO>B1</RENO></FLOP>';
const meta = (content: string, payload = FLOP): string => `<MSG><META>${content}</META>${payload}</MSG>`;
const GOOD = {
  SNDR: 'AODB',
  SEQN: '345935',
  DTTM: '20210123053000',
  TYPE: 'FLOP',
  STYP: 'RENO',
};
const fields = (overrides: Partial<Record<keyof typeof GOOD | 'RSEQ', string | null>> = {}): string =>
  Object.entries({ ...GOOD, ...overrides })
    .map(([name, value]) => (value === null ? '' : `<${name}>${value}</${name}>`))
    .join('');

describe('META', () => {
  test('is read', () => {
    expect(decoded(meta(fields())).header).toEqual({
      sender: 'AODB',
      sequence: '345935',
      dttm: '2021-01-23T05:30:00+08:00',
      type: 'FLOP',
      subtype: 'RENO',
      echo: null,
    });
  });

  test('SEQN is compared trimmed and without leading zeros', () => {
    const sequence = (written: string): string => decoded(meta(fields({ SEQN: written }))).header.sequence;
    expect(sequence(' 000123 ')).toBe(sequence('123'));
    expect(sequence('0')).toBe('0');
    expect(sequence('000')).toBe('0');
    expect(sequence('9007199254740993001')).toBe('9007199254740993001');
  });

  test('RSEQ echoes our own number', () => {
    expect(decoded(meta(fields({ RSEQ: ' 0042 ' }))).header.echo).toBe('42');
    expect(decoded(meta(fields({ RSEQ: '' }))).header.echo).toBeNull();
  });

  test.each(['14MAR260600', '202603140600', '20260314060000'])('DTTM %s', (dttm) => {
    expect(decoded(meta(fields({ DTTM: dttm }))).header.dttm).toBe('2026-03-14T06:00:00+08:00');
  });

  test.each([
    [{ SNDR: 'NINECHARS' }, 'codec-error unknown-format:SNDR'],
    [{ SNDR: '航班消息交换系统' }, 'decoded'],
    [{ SEQN: '12a' }, 'codec-error unknown-format:SEQN'],
    [{ SEQN: '-1' }, 'codec-error unknown-format:SEQN'],
    [{ SEQN: '1'.repeat(41) }, 'codec-error unknown-format:SEQN'],
    [{ RSEQ: 'x' }, 'codec-error unknown-format:RSEQ'],
    [{ DTTM: '2026-03-14' }, 'codec-error unknown-format:DTTM'],
    [{ DTTM: '20260231060000' }, 'malformed bad-value:DTTM'],
    [{ TYPE: 'flop' }, 'codec-error unknown-format:TYPE'],
    [{ TYPE: 'F' }, 'codec-error unknown-format:TYPE'],
    [{ STYP: 'SEVENUP' }, 'codec-error unknown-format:STYP'],
    [{ STYP: 'R2' }, 'codec-error unknown-format:STYP'],
  ])('%j is %s', (overrides, expected) => {
    expect(verdict(meta(fields(overrides)))).toBe(expected);
  });

  test.each(['SNDR', 'SEQN', 'DTTM', 'TYPE', 'STYP'] as const)('%s is required', (field) => {
    for (const value of [null, '', ' \n ']) {
      expect(faults(meta(fields({ [field]: value })))).toEqual([`meta-missing:${field}`]);
    }
  });

  test('bad values go before missing ones, in document order, and the payload is not judged', () => {
    const content = '<STYP>x</STYP><TYPE>FLOP</TYPE><DTTM>20260231060000</DTTM><SEQN/>';
    expect(faults(meta(content, '<FLOP><CNCL>x</CNCL></FLOP>'))).toEqual([
      'unknown-format:STYP',
      'bad-value:DTTM',
      'meta-missing:SNDR',
      'meta-missing:SEQN',
    ]);
  });

  test('a message without META, or that is no MSG', () => {
    expect(faults(`<MSG>${FLOP}</MSG>`)).toEqual(['meta-missing:META']);
    expect(faults(meta(fields()).replaceAll('MSG>', 'OTHER>'))).toEqual(['meta-missing:META']);
    expect(faults(`<MSG><X><META>${fields()}</META></X></MSG>`)).toEqual(['meta-missing:META']);
  });

  test('a second META is not read, but named', () => {
    const { header, unknownElements } = decoded(
      meta(fields(), `${FLOP}<META>${fields({ SEQN: '9' })}</META>`),
    );
    expect(header.sequence).toBe('345935');
    expect(unknownElements).toEqual(['META']);
  });

  test('comes before everything that depends on it', () => {
    expect(faults('<MSG><META><TYPE>LDM</TYPE></META></MSG>')[0]).toBe('meta-missing:SNDR');
  });

  test('goes with the fault as far as it can be read', () => {
    const broken = dialect.decode(meta(fields({ SNDR: 'NINECHARS' })));
    expect(broken).toMatchObject({ header: { sequence: '345935', type: 'FLOP', subtype: 'RENO' } });
    expect(broken).not.toHaveProperty('header.sender');
    const cut = meta(fields()).slice(0, -20);
    expect(dialect.decode(cut)).toMatchObject({ reason: 'not-well-formed', header: { type: 'FLOP' } });
    expect(dialect.decode('<MSG><META>')).toMatchObject({ header: null });
    expect(dialect.decode(flop('GTDT', ''))).toMatchObject({ header: { sequence: '123', echo: null } });
  });
});

describe('the content hash', () => {
  const hashOf = (text: string): string => decoded(text).contentHash;
  const base = hashOf(
    message('FLOP', 'GTDT', '<FLOP><FLID>1</FLID><GTDT GTNO="1" X="2"><GATE>4 4</GATE></GTDT></FLOP>'),
  );

  test.each([
    '<FLOP>\n <FLID> 1 </FLID>\n\t<GTDT GTNO="1" X="2"><GATE>4 4</GATE></GTDT> </FLOP>',
    `<FLOP><FLID>1</FLID><!-- c --><GTDT X='2' GTNO=' 1 '><GATE><![CDATA[4 4]]></GATE></GTDT></FLOP>`,
    '<FLOP><FLID>&#49;</FLID><n:GTDT xmlns:n="u" GTNO="1" X="2"><GATE>4 4</GATE></n:GTDT></FLOP>',
  ])('ignores what means nothing: %s', (payload) => {
    expect(hashOf(message('FLOP', 'GTDT', payload, { SEQN: '9', DTTM: '202603140700' }))).toBe(base);
  });

  test.each([
    '<FLOP><FLID>1</FLID><GTDT GTNO="1" X="2"><GATE>44</GATE></GTDT></FLOP>',
    '<FLOP><FLID>1</FLID><GTDT GTNO="2" X="1"><GATE>4 4</GATE></GTDT></FLOP>',
    '<FLOP><FLID>1</FLID><GTDT GTNO="1"><X>2</X><GATE>4 4</GATE></GTDT></FLOP>',
    '<FLOP><GTDT GTNO="1" X="2"><GATE>4 4</GATE></GTDT><FLID>1</FLID></FLOP>',
  ])('tells apart: %s', (payload) => {
    expect(hashOf(message('FLOP', 'GTDT', payload))).not.toBe(base);
  });

  test('tells inside from beside', () => {
    const inside = hashOf(message('LDM', 'NONE', '<L><A X="2"><B>4 4</B></A></L>'));
    expect(hashOf(message('LDM', 'NONE', '<L><A X="2"/><B>4 4</B></L>'))).not.toBe(inside);
  });

  test('is the same whether hashed at once or in pieces', async () => {
    const { createHash } = await import('node:crypto');
    const parts = Array.from({ length: 3000 }, (_, index) => String(index));
    const text = message('LDM', 'NONE', `<L>${parts.map((part) => `<P>${part}</P>`).join('')}</L>`);
    const canonical = `\u0001L${parts.map((part) => `\u0001P\u0004${part}\u0005`).join('')}\u0005`;
    expect(hashOf(text)).toBe(createHash('sha256').update(canonical).digest('hex'));
  });
});
