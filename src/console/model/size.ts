/** Bytes as PostgreSQL writes them: by 1,024, with three digits at least. Pure. */
const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** @param format numbers of the reader's language */
export function sizeText(bytes: number, format: (value: number) => string): string {
  let rest = bytes;
  let unit = 0;
  while (rest >= 1_024 && unit < UNITS.length - 1) {
    rest /= 1_024;
    unit += 1;
  }
  const rounded = rest < 100 && unit > 0 ? Number(rest.toPrecision(3)) : Math.round(rest);
  return `${format(rounded)} ${UNITS[unit] ?? ''}`;
}
