/** Messages of the scenarios that are made up by hand: one flight, and updates of its remark. */

let sequence = 0;

/** An envelope with the next number of its sender. */
function message(type: string, subtype: string, payload: string): string {
  sequence += 1;
  const number = String(sequence).padStart(6, '0');
  return (
    `<MSG><META><SNDR>TEST</SNDR><SEQN>${number}</SEQN><DTTM>20260314060000</DTTM>` +
    `<TYPE>${type}</TYPE><STYP>${subtype}</STYP></META>${payload}</MSG>`
  );
}

/** A schedule of one flight, 800001. */
export function scheduleText(): string {
  return message(
    'SCHD',
    'DNLD',
    '<SCHD><RECS>1</RECS><FLTR><FLID>800001</FLID><ALCD>XX</ALCD><FLNO>XX1201</FLNO><MVIN>D</MVIN>' +
      '<SODT>14MAR260805</SODT><FLTY>W</FLTY><FLIN>D</FLIN><ERUT RTNO="1"><APCD>HGH</APCD>' +
      '<SCDT>14MAR260805</SCDT></ERUT><ERUT RTNO="2"><APCD>XIY</APCD><SCAT>14MAR260940</SCAT></ERUT></FLTR></SCHD>',
  );
}

/** An update of the flight's remark, with more elements behind it. */
export function remarkText(remark: string, more = ''): string {
  return message('FLOP', 'REMC', `<FLOP><FLID>800001</FLID><REMC>${remark}</REMC>${more}</FLOP>`);
}

/** A remark in a message of exactly so many UTF-8 bytes, most of them three to a character. */
export function remarkOf(bytes: number): string {
  const missing = bytes - Buffer.byteLength(remarkText(''));
  return remarkText('航'.repeat(Math.floor(missing / 3)) + 'x'.repeat(missing % 3));
}

/** A message of exactly so many UTF-8 bytes that says little. */
export function longText(bytes: number): string {
  const text = remarkText('long', '<!---->');
  return text.replace('<!---->', `<!--${'x'.repeat(bytes - Buffer.byteLength(text))}-->`);
}

/** A message whose deepest element has this depth, MSG being 1. */
export function deepText(depth: number): string {
  // MSG and FLOP are above.
  const levels = depth - 2;
  return remarkText(`depth ${String(depth)}`, '<DEEP>'.repeat(levels) + '</DEEP>'.repeat(levels));
}
