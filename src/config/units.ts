/** Durations and sizes as written in the configuration (contract, "Configuration"). */

const DURATION_UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const SIZE_UNITS = { B: 1, KiB: 1_024, MiB: 1_048_576, GiB: 1_073_741_824 } as const;

/** Reads `500ms`, `30s`, `5m`, `24h` or `7d`; milliseconds, or null where the text is none of these. */
export function parseDuration(text: string): number | null {
  const match = /^(\d{1,12}) ?(ms|s|m|h|d)$/.exec(text.trim());
  if (match === null) return null;
  const milliseconds = Number(match[1]) * DURATION_UNITS[match[2] as keyof typeof DURATION_UNITS];
  return Number.isSafeInteger(milliseconds) ? milliseconds : null;
}

/** Writes milliseconds in the largest unit that fits without a rest. */
export function formatDuration(milliseconds: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const size = DURATION_UNITS[unit];
    if (milliseconds >= size && milliseconds % size === 0) return `${milliseconds / size}${unit}`;
  }
  return `${milliseconds}ms`;
}

/** Reads `16 MiB`, `64KiB` or a plain number of bytes; bytes, or null where the text is none of these. */
export function parseSize(text: string): number | null {
  const match = /^(\d{1,15}) ?(B|KiB|MiB|GiB)?$/.exec(text.trim());
  if (match === null) return null;
  const bytes = Number(match[1]) * SIZE_UNITS[(match[2] ?? 'B') as keyof typeof SIZE_UNITS];
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/** Writes bytes in the largest binary unit that fits without a rest. */
export function formatSize(bytes: number): string {
  for (const unit of ['GiB', 'MiB', 'KiB'] as const) {
    const size = SIZE_UNITS[unit];
    if (bytes >= size && bytes % size === 0) return `${bytes / size} ${unit}`;
  }
  return `${bytes} B`;
}
