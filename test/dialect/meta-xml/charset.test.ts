import { describe, expect, test } from 'vitest';
import { prefixOf } from '../../../src/domain/reasons.ts';
import { dialect } from '../kit.ts';

const ascii = (text: string): Buffer => Buffer.from(text, 'latin1');
/** 航班 in GBK, and 镕, which GBK has and GB 2312 lacks. */
const HANG_BAN = Buffer.from([0xba, 0xbd, 0xb0, 0xe0]);
const RONG = Buffer.from([0xe9, 0x46]);
/** 𠀀 takes four bytes in GB 18030. */
const FOUR_BYTES = Buffer.from([0x95, 0x32, 0x82, 0x36]);

function big(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

function declared(label: string, ...content: readonly Buffer[]): Buffer {
  return Buffer.concat([ascii(`<?xml version="1.0" encoding="${label}"?><a>`), ...content, ascii('</a>')]);
}

describe('bytes → text', () => {
  test.each([
    ['no mark, no declaration: UTF-8', Buffer.from('<a>航班</a>'), '<a>航班</a>', 'utf-8'],
    ['UTF-8 with mark', Buffer.from('\uFEFF<a>航</a>'), '<a>航</a>', 'utf-8'],
    ['UTF-16 LE with mark', Buffer.from('\uFEFF<a>航</a>', 'utf16le'), '<a>航</a>', 'utf-16le'],
    ['UTF-16 BE with mark', big('\uFEFF<a>航</a>'), '<a>航</a>', 'utf-16be'],
    [
      'UTF-16 LE by its declaration',
      Buffer.from('<?xml version="1.0" encoding="UTF-16"?><a>航</a>', 'utf16le'),
      undefined,
      'utf-16le',
    ],
    [
      'UTF-16 BE by its declaration',
      big('<?xml version="1.0" encoding="UTF-16"?><a>航</a>'),
      undefined,
      'utf-16be',
    ],
    ['no bytes', Buffer.alloc(0), '', 'utf-8'],
  ])('%s', (_name, bytes, text, charset) => {
    const read = dialect.toText(bytes);
    expect(read.charset).toBe(charset);
    expect(read.text).toBe(text ?? '<?xml version="1.0" encoding="UTF-16"?><a>航</a>');
  });

  test.each(['GBK', 'gbk', 'GB2312', 'gb2312', 'GB18030', 'gb18030'])('%s is read as GB 18030', (label) => {
    const read = dialect.toText(declared(label, HANG_BAN, RONG, FOUR_BYTES));
    expect(read.text).toContain('<a>航班镕𠀀</a>');
    expect(read.charset).toBe('gb18030');
  });

  test('a declaration may use single quotes, white space and standalone', () => {
    const bytes = Buffer.concat([
      ascii(`\n <?xml version='1.0' encoding = 'GBK' standalone="yes" ?><a>`),
      HANG_BAN,
      ascii('</a>'),
    ]);
    expect(dialect.toText(bytes).text).toContain('航班');
  });

  test('a mark goes before the declaration', () => {
    const text = '<?xml version="1.0" encoding="GBK"?><a>航</a>';
    expect(dialect.toText(Buffer.from(`\uFEFF${text}`)).text).toBe(text);
  });

  test('UTF-8 bytes under a UTF-16 label are what they are', () => {
    expect(dialect.toText(declared('utf-16', Buffer.from('航'))).text).toContain('<a>航</a>');
  });

  test('an encoding named elsewhere is none', () => {
    expect(dialect.toText(Buffer.from('<a encoding="GBK">航</a><?xml encoding="big5"?>')).charset).toBe(
      'utf-8',
    );
  });

  test.each(['Big5', 'windows-1252', 'ISO-8859-1', 'x'])('%s is unknown', (label) => {
    const read = dialect.toText(declared(label));
    if (read.text !== null) throw new Error('read');
    expect(read.reason).toBe(`codec:charset ${label}`);
    expect(prefixOf(read.reason)).toBe('codec');
  });

  test('an unknown label is echoed safely', () => {
    const read = dialect.toText(declared(`\u0000\n${'y'.repeat(70)}`));
    if (read.text !== null) throw new Error('read');
    expect(read.reason).toMatch(/^codec:charset [?y]{1,32}$/);
  });

  test.each([
    ['UTF-8', Buffer.from([0x3c, 0x61, 0x3e, 0xff])],
    ['UTF-8 cut short', Buffer.from([0x3c, 0xe8, 0x88])],
    ['an encoded surrogate', Buffer.from([0x3c, 0xed, 0xa0, 0x80])],
    ['GBK bytes without a label', Buffer.concat([ascii('<a>'), HANG_BAN])],
    ['GB 18030', declared('gb2312', Buffer.from([0xba, 0x20]))],
    ['UTF-16 of odd length', Buffer.from([0xff, 0xfe, 0x3c, 0x00, 0x61])],
    ['UTF-16 with half a pair', Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x3c, 0x00])],
  ])('broken bytes are refused: %s', (_name, bytes) => {
    expect(dialect.toText(bytes)).toMatchObject({ text: null, reason: 'not-well-formed' });
  });

  test('a NUL is left to decoding', () => {
    const read = dialect.toText(Buffer.from('<a>\u0000</a>'));
    expect(read.text).toBe('<a>\u0000</a>');
    expect(dialect.decode(read.text ?? '')).toMatchObject({ reason: 'not-well-formed' });
  });
});
