/** Reads docs/runbook.md as its readers do: headings with their anchors, and the table of alarms. */

export interface Alarm {
  readonly alert: string;
  /** Of the section that says what to do. */
  readonly anchor: string;
}

/** Headings outside of code blocks, with their level. */
export function headingsOf(markdown: string): { readonly level: number; readonly text: string }[] {
  const headings = [];
  let fenced = false;
  for (const line of markdown.split('\n')) {
    if (line.trimStart().startsWith('```')) fenced = !fenced;
    const [, marks, text] = /^(#{1,6}) (.+)$/.exec(line) ?? [];
    if (!fenced && marks !== undefined && text !== undefined) headings.push({ level: marks.length, text });
  }
  return headings;
}

/** Anchors that links can name: of headings, as GitHub makes them, and of `<a id="…">`. */
export function anchorsOf(markdown: string): string[] {
  const given = [...markdown.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id ?? '');
  const made = headingsOf(markdown).map(({ text }) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return [...given, ...made];
}

/** The rows `| … | `Alert` | … | [section](#anchor) |` in their order. */
export function alarmTable(markdown: string): Alarm[] {
  const rows = markdown.matchAll(/^\|[^\n]*`(Msgx\w+)`[^\n]*\]\(#([^)]+)\)\s*\|$/gm);
  return [...rows].map(([, alert, anchor]) => ({ alert: alert ?? '', anchor: anchor ?? '' }));
}

/** The rows of the first table below a heading, cell by cell. */
export function tableUnder(markdown: string, heading: string): readonly (readonly string[])[] {
  const [, below = ''] = markdown.split(`# ${heading}\n`);
  const lines = below.split('\n');
  const first = lines.findIndex((line) => line.startsWith('| -'));
  const end = lines.findIndex((line, index) => index > first && !line.startsWith('|'));
  return lines.slice(first + 1, end).map((line) =>
    line
      .slice(1, line.lastIndexOf('|'))
      .split('|')
      .map((cell) => cell.trim()),
  );
}

/** The pieces of code in a text, in their order. */
export function codeIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? '');
}
