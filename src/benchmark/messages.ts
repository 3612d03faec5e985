/** The benchmark's messages: a schedule, then FLOP messages of about 520 bytes that replace a flight's gates. */

/** FLIDs of the benchmark's flights. */
export function flids(flights: number): readonly string[] {
  return Array.from({ length: flights }, (_, index) => String(900_000 + index));
}

/** One schedule that creates the flights. */
export function schedule(flights: number, sequence: number): string {
  const records = flids(flights).map(
    (flid, index) =>
      `<FLTR><FLID>${flid}</FLID><ALCD>XX</ALCD><FLNO>XX${1000 + index}</FLNO><MVIN>D</MVIN><SODT>14MAR26${clock(index)}</SODT><FLTY>W</FLTY><FLIN>D</FLIN><ACFT>320</ACFT><TRML>T2</TRML><PSDT PSNO="1"><PSST>204</PSST></PSDT></FLTR>`,
  );
  return message('SCHD', 'DNLD', sequence, `<SCHD><RECS>${flights}</RECS>${records.join('')}</SCHD>`);
}

/** A gate change; each differs from the one before it on the same flight. @param letter of its gates */
export function gateChange(flid: string, number: number, sequence: number, letter = 'G'): string {
  const gates = [1, 2].map(
    (place) =>
      `<GTDT GTNO="${place}"><GATE>${letter}${(number + place) % 90}</GATE><PGOT>14MAR26${clock(number)}</PGOT><PGCT>14MAR262355</PGCT><GTYP>D</GTYP></GTDT>`,
  );
  const readable = `XX-XX${flid}-D-14MAR260805-D`;
  return message(
    'FLOP',
    'GTDT',
    sequence,
    `<FLOP><FLID>${flid}</FLID><FFID>${readable}</FFID>${gates.join('')}</FLOP>`,
  );
}

/** The gate change of this number, on the flights in turn. */
export function changeOf(names: readonly string[], number: number): string {
  return gateChange(
    names[number % names.length] ?? '',
    Math.floor(number / names.length) + number,
    number + 2,
  );
}

/** A message of a type that msgx does not take. */
export function unsupported(sequence: number): string {
  return message('SCHS', 'DNLD', sequence, '');
}

function message(type: string, subtype: string, sequence: number, payload: string): string {
  const meta = `<META><SNDR>AODB</SNDR><SEQN>${sequence}</SEQN><DTTM>20260314060000</DTTM><TYPE>${type}</TYPE><STYP>${subtype}</STYP></META>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<MSG>${meta}${payload}</MSG>`;
}

/** HHmm of a number, so that values differ. */
function clock(number: number): string {
  const minute = number % 1_400;
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}${String(minute % 60).padStart(2, '0')}`;
}
