/** Small messages for tests, each with a sequence number of its own. */

let sequence = 0;

/** A message with a sequence number of its own. */
export function xml(type: string, styp: string, payload: string, seqn: number | null = null): string {
  sequence += 1;
  const number = seqn ?? 500_000 + sequence;
  return (
    `<MSG><META><SNDR>AODB</SNDR><SEQN>${number}</SEQN><DTTM>20260314060000</DTTM>` +
    `<TYPE>${type}</TYPE><STYP>${styp}</STYP></META>${payload}</MSG>`
  );
}

/** A schedule of departures on 14 March 2026. */
export function schedule(...flids: readonly string[]): string {
  const records = flids.map(
    (flid) =>
      `<FLTR><FLID>${flid}</FLID><FLNO>XX${flid.slice(-4)}</FLNO><MVIN>D</MVIN><SODT>14MAR260805</SODT></FLTR>`,
  );
  return xml('SCHD', 'DNLD', `<SCHD><RECS>${flids.length}</RECS>${records.join('')}</SCHD>`);
}

/** An update of a flight's gate. */
export function gate(flid: string, code: string): string {
  return xml('FLOP', 'GTDT', `<FLOP><FLID>${flid}</FLID><GTDT GTNO="1"><GATE>${code}</GATE></GTDT></FLOP>`);
}

/** The deletion of a flight. */
export function deletion(flid: string): string {
  return xml('FLOP', 'FDEL', `<FLOP><FLID>${flid}</FLID><FDEL/></FLOP>`);
}
