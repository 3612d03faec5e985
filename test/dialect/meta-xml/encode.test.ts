import { describe, expect, test } from 'vitest';
import type { OutboundMessage } from '../../../src/dialect/port.ts';
import { decoded, dialect, sis } from '../kit.ts';

const HEADER = { sender: 'MSGX', sequence: '42', dttm: '2026-03-14T06:00:07+08:00' };
const head = (type: string, styp: string): string =>
  `<META><SNDR>MSGX</SNDR><SEQN>42</SEQN><DTTM>20260314060007</DTTM><TYPE>${type}</TYPE><STYP>${styp}</STYP></META>`;
const document = (meta: string, payload: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<MSG>\n${meta}\n${payload}\n</MSG>`;
const report = {
  kind: 'error-report',
  sequence: '101',
  type: 'FLOP',
  subtype: 'APPT',
  errorClass: 'MALFORMED',
  description: 'bad-value:APPT at 4:66',
} as const satisfies OutboundMessage;

describe('outgoing messages', () => {
  test('a request for schedules', () => {
    const message = {
      kind: 'schedule-request',
      from: '2026-03-14T00:00:00+08:00',
      until: '2026-03-14T23:59:00+08:00',
    } as const;
    expect(dialect.encode(HEADER, message)).toBe(
      document(head('RQST', 'SCHD'), '<RQST><FROM>14MAR260000</FROM><UNTL>14MAR262359</UNTL></RQST>'),
    );
  });

  test('a request for reference data', () => {
    expect(dialect.encode(HEADER, { kind: 'reference-request', rtype: 'ABDG' })).toBe(
      document(head('RQST', 'ABDG'), '<RQST><RTYP>ABDG</RTYP></RQST>'),
    );
  });

  test('an error report', () => {
    expect(dialect.encode(HEADER, report)).toBe(
      document(
        head('EROR', 'FLOP'),
        '<EROR><ESEQ>101</ESEQ><ETYP>FLOP</ETYP><ESTY>APPT</ESTY><ECOD>MALFORMED</ECOD><EDSC>bad-value:APPT at 4:66</EDSC></EROR>',
      ),
    );
  });

  test('an error report on a message without META', () => {
    const text = dialect.encode(HEADER, { ...report, sequence: '', type: '', subtype: '' });
    expect(text).toContain('<STYP>NONE</STYP>');
    expect(text).toContain('<ESEQ></ESEQ><ETYP></ETYP>');
  });

  test('is escaped, one line, and well-formed whatever it says', () => {
    const text = dialect.encode(HEADER, {
      ...report,
      description: `a<b>&"'\r\n\u0000\u0085\uFFFE\uD800 流量 ]]>`,
    });
    expect(text).toContain(`<EDSC>a&lt;b&gt;&amp;"' \uFFFD 流量 ]]&gt;</EDSC>`);
    expect(decoded(text).body).toEqual({ kind: 'ignored' });
  });

  test('times are the airport’s, whatever the offset they come with', () => {
    const berlin = sis({ timeZone: 'Europe/Berlin' });
    const message = {
      kind: 'schedule-request',
      from: '2026-03-29T00:59:59Z',
      until: '2026-03-29T01:00:00Z',
    } as const;
    const text = berlin.encode({ ...HEADER, dttm: '2026-03-14T06:00:07+08:00' }, message);
    expect(text).toContain('<FROM>29MAR260159</FROM><UNTL>29MAR260300</UNTL>');
    expect(text).toContain('<DTTM>20260313230007</DTTM>');
    expect(decoded(text, berlin).header).toMatchObject({ sequence: '42', dttm: '2026-03-13T23:00:07+01:00' });
  });
});
