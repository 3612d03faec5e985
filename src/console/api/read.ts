/** Reads from msgx. Relative addresses, so that a path prefix in front of msgx works. */

/** The answer was not the one asked for: an HTTP error, or no answer at all. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status. */
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** What msgx says of a refusal: its own words, or else the status. */
export async function refusalOf(response: Response): Promise<ApiError> {
  const { error } = (await response.json().catch(() => ({}))) as { readonly error?: string };
  return new ApiError(error ?? `HTTP ${String(response.status)}`, response.status);
}

/** Answers that were asked for before anybody could show them, by path. */
const early = new Map<string, { readonly since: number; readonly answer: Promise<unknown> }>();
/** As old as an answer may be that a page begins with, ms: pages read again that often. */
const EARLY_MS = 5_000;
let asksEarly = false;

/**
 * Asks now for what the page will read when its code is there. Who reads the same within seconds gets this answer, once;
 * where it failed, or comes too late, it is asked for anew.
 */
export function readEarly(reading: (signal: AbortSignal) => Promise<unknown>): void {
  asksEarly = true;
  reading(new AbortController().signal).catch(() => undefined);
  asksEarly = false;
}

/** Reads a document. Throws ApiError where msgx refuses it. @param path from the root of msgx */
export async function read<Answer>(path: string, signal: AbortSignal): Promise<Answer> {
  const known = early.get(path);
  early.delete(path);
  if (known !== undefined && performance.now() - known.since < EARLY_MS) {
    const answer = await known.answer.catch(() => null);
    signal.throwIfAborted();
    if (answer !== null) return answer as Answer;
  }
  const answer = ask<Answer>(path, signal);
  if (asksEarly) early.set(path, { since: performance.now(), answer });
  return answer;
}

async function ask<Answer>(path: string, signal: AbortSignal): Promise<Answer> {
  const response = await fetch(path, { signal, headers: { accept: 'application/json' } });
  if (!response.ok) throw await refusalOf(response);
  return (await response.json()) as Answer;
}

/** Rows of a page of a list. */
export const PAGE_ROWS = 50;

/** A page of a list, and where the next one begins. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

/** Reads a page of a list that begins behind a row; null: at the begin. Throws like {@link read}. */
export type ReadPage<Row> = (behind: string | null, limit: number, signal: AbortSignal) => Promise<Page<Row>>;

/**
 * How a list is read.
 *
 * @param rows the name of the rows in the answer
 * @param filter names of the API; what is empty or missing is not asked for
 * @param cursor the name under which the API takes the row before: lists that go down take `before`
 */
export function pagesOf<Row>(
  path: string,
  rows: string,
  filter: Readonly<Record<string, string | undefined>> = {},
  cursor: 'after' | 'before' = 'after',
): ReadPage<Row> {
  return async (behind, limit, signal) => {
    const query = new URLSearchParams({ limit: String(limit) });
    for (const [name, value] of Object.entries({ ...filter, [cursor]: behind ?? undefined })) {
      if (value !== undefined && value !== '') query.set(name, value);
    }
    const answer = await read<Readonly<Record<string, unknown>>>(`${path}?${query.toString()}`, signal);
    return { rows: answer[rows] as readonly Row[], next: answer['next'] as string | null };
  };
}
