/** Reads what a page shows, and again: at intervals, after an action, and when the connection is back. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useActing } from '../actions/acting.tsx';
import { PAGE_ROWS, type Page, type ReadPage } from '../api/read.ts';
import { useConnection } from './live-context.tsx';

/** What was read last. After a failure it stays, and `error` says why it is old. */
export interface Reading<Data> {
  readonly data: Data | null;
  /** Browser's clock, ms; null where nothing has been read. */
  readonly at: number | null;
  readonly error: string | null;
}

/** How often a page reads by itself, ms. */
const EVERY_MS = 5_000;

/** @param read stays the same as long as the same is asked for */
export function useReading<Data>(
  read: (signal: AbortSignal) => Promise<Data>,
  everyMs: number = EVERY_MS,
): Reading<Data> {
  const { done } = useActing();
  // The first connection changes nothing: what is on show has just been read.
  const lost = useConnection().state === 'lost';
  const [reading, setReading] = useState<Reading<Data> & { readonly of: unknown }>({
    ...{ data: null, at: null, error: null, of: read },
  });
  // Before the page is painted: what early.ts has asked for is then part of the first picture.
  useLayoutEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const round = async (): Promise<void> => {
      try {
        const data = await read(abort.signal);
        setReading({ data, at: Date.now(), error: null, of: read });
      } catch (error) {
        if (abort.signal.aborted) return;
        const told = error instanceof Error ? error.message : String(error);
        setReading((before) => ({ ...before, error: told }));
      }
      timer = setTimeout(() => void round(), everyMs);
    };
    void round();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [read, everyMs, done, lost]);
  return reading;
}

/** A list of which more can be asked for. */
export interface Listed<Row> extends Reading<readonly Row[]> {
  readonly more: (() => void) | null;
}

/**
 * A list from its begin, page by page. What stands first is read again by itself as long as it is the only page on show;
 * who has gone further reads in peace.
 *
 * @param fetchPage stays the same as long as the same is asked for
 */
export function useListed<Row>(fetchPage: ReadPage<Row>): Listed<Row> {
  const [further, setFurther] = useState<{ readonly of: unknown; readonly pages: readonly Page<Row>[] }>({
    ...{ of: fetchPage, pages: [] },
  });
  const busy = useRef(false);
  const { done } = useActing();
  const pages = further.of === fetchPage ? further.pages : [];
  const first = useReading(
    useCallback((signal: AbortSignal) => fetchPage(null, PAGE_ROWS, signal), [fetchPage]),
    pages.length === 0 ? EVERY_MS : 3_600_000,
  );
  useEffect(() => {
    // What was read before an action is not how it stands now.
    setFurther({ of: fetchPage, pages: [] });
  }, [done, fetchPage]);
  const last = pages.at(-1) ?? first.data;
  const next = last?.next ?? null;
  const more = async (): Promise<void> => {
    if (busy.current || next === null) return;
    busy.current = true;
    try {
      const page = await fetchPage(next, PAGE_ROWS, new AbortController().signal);
      setFurther({ of: fetchPage, pages: [...pages, page] });
    } catch {
      // The button stays, and the first page tells what is wrong.
    }
    busy.current = false;
  };
  return {
    ...first,
    data: first.data === null ? null : [first.data, ...pages].flatMap(({ rows }) => rows),
    more: next === null ? null : () => void more(),
  };
}
