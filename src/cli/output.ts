/** What commands print: text, JSON and tables on stdout; complaints on stderr. */

/** Prints lines of text on stdout. */
export function print(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

/** Prints one JSON document on stdout: on one line, or indented for people. IDs (BigInt) become text. */
export function printJson(value: unknown, layout: 'line' | 'indented' = 'line'): void {
  const text = JSON.stringify(
    value,
    (_, part: unknown) => (typeof part === 'bigint' ? part.toString() : part),
    layout === 'indented' ? 2 : 0,
  );
  print(text);
}

/** Prints lines on stderr, each as one line. */
export function complain(...lines: readonly string[]): void {
  for (const line of lines) process.stderr.write(`${line.replace(/\s*[\r\n]+\s*/g, ' ')}\n`);
}

/** What a table's cell may hold; null and undefined are shown as –. */
export type Cell = string | number | bigint | boolean | null | undefined;

/** Lines of a table with aligned columns; columns of numbers alone are aligned to the right. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  const texts = rows.map((row) => head.map((_, column) => cellText(row[column])));
  const widths = head.map((title, column) =>
    Math.max(...[title, ...texts.map((row) => row[column] ?? '')].map(width)),
  );
  const right = head.map((_, column) => rows.length > 0 && rows.every((row) => isNumber(row[column])));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => {
        const gap = ' '.repeat((widths[column] ?? 0) - width(cell));
        return right[column] === true ? gap + cell : cell + gap;
      })
      .join('  ')
      .trimEnd();
  return [line(head), ...texts.map(line)];
}

function cellText(cell: Cell): string {
  return cell === null || cell === undefined ? '–' : String(cell).replace(/\s+/g, ' ');
}

function isNumber(cell: Cell): boolean {
  return typeof cell === 'number' || typeof cell === 'bigint';
}

/** Columns of a terminal that a text takes: Chinese characters and full-width forms take two. */
function width(text: string): number {
  let columns = 0;
  for (const character of text) columns += WIDE.test(character) ? 2 : 1;
  return columns;
}

const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60]/u;
