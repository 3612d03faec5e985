/** Reads from msgx. Relative addresses, so that a path prefix in front of msgx works. */

/** The answer was not the one asked for: an HTTP error, or no answer at all. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
}

/** What msgx says of a refusal, in its own words where it has any. */
export async function refusalOf(response: Response): Promise<ApiError> {
  const { error } = (await response.json().catch(() => ({}))) as { readonly error?: string };
  return new ApiError(error ?? `HTTP ${String(response.status)}`);
}

/** Reads a document. Throws ApiError where msgx refuses it. @param path from the root of msgx */
export async function read<Answer>(path: string, signal: AbortSignal): Promise<Answer> {
  const response = await fetch(path, { signal, headers: { accept: 'application/json' } });
  if (!response.ok) throw await refusalOf(response);
  return (await response.json()) as Answer;
}

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
