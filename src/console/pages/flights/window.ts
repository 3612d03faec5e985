/** Which rows of a long table are in sight: only these are rendered. */
import { useEffect, useState, type RefObject } from 'react';

/** Rows rendered above and below what is in sight, so that scrolling shows no gap. */
const MARGIN = 8;

export interface RowWindow {
  /** First rendered row. */
  readonly start: number;
  /** Behind the last rendered row. */
  readonly end: number;
}

export function useRowWindow(
  scroller: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
): RowWindow {
  const [view, setView] = useState({ top: 0, height: 800 });
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const look = (): void => {
      const top = Math.floor(element.scrollTop / rowHeight) * rowHeight;
      const height = element.clientHeight;
      // Only whole rows count: scrolling within a row renders nothing.
      setView((old) => (old.top === top && old.height === height ? old : { top, height }));
    };
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    look();
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [scroller, rowHeight]);
  const first = Math.min(Math.floor(view.top / rowHeight), Math.max(0, count - 1));
  return {
    start: Math.max(0, first - MARGIN),
    end: Math.min(count, first + Math.ceil(view.height / rowHeight) + MARGIN),
  };
}

/** Follows a media query. */
export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const change = (): void => setMatches(list.matches);
    list.addEventListener('change', change);
    return () => list.removeEventListener('change', change);
  }, [query]);
  return matches;
}
