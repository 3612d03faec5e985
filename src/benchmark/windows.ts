/**
 * What some work costs the messages that flow meanwhile: the work is let in for one window and kept out for the next, so
 * that both kinds meet the same machine.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { delaysOf, type Delays, type Passage } from './live.ts';

/** A stretch of time with the work or without it, monotonic ms. */
export interface Window {
  readonly working: boolean;
  readonly from: number;
  to: number;
  /** Longest that the thread was held, ms. */
  held: number;
}

export interface WindowsOptions {
  /** Works from the begin of a window on; `open` says whether that window lasts. What it throws ends the measurement. */
  readonly work: (open: () => boolean) => Promise<void>;
  /** Whether nothing is left to be done. */
  readonly through: () => boolean;
  /** Whether a window has lasted long enough. @param before the window before it */
  readonly full: (window: Window, before: Window | undefined) => boolean;
  /** Windows of each kind at least: one of each would be chance. */
  readonly least: number;
  /** Messages at either end of a window that belong to neither kind, ms. */
  readonly edgeMs: { readonly with: number; readonly without: number };
  readonly onProgress: (step: string) => void;
}

/** What is told of both kinds of windows. */
export interface WindowsTold {
  readonly windows: { readonly with: readonly Delays[]; readonly without: readonly Delays[] };
  /** All messages of all windows of a kind together. */
  readonly live: { readonly with: Delays; readonly without: Delays; readonly p99Ratio: number };
  /** Longest that the thread was held in a window, ms: the median of its kind. */
  readonly held: { readonly with: number; readonly without: number };
}

/** Lets the work in and out in turn. */
export class Windows {
  readonly #options: WindowsOptions;
  readonly #all: Window[] = [];
  readonly #thread = monitorEventLoopDelay({ resolution: 1 });
  #failed: Error | undefined;

  constructor(options: WindowsOptions) {
    this.#options = options;
  }

  /** Time with the work, s. */
  get seconds(): number {
    return (
      this.#all.filter(({ working }) => working).reduce((sum, { from, to }) => sum + to - from, 0) / 1_000
    );
  }

  failed(): Error | undefined {
    return this.#failed;
  }

  /** Whether traffic may end: the work is through, and the last window is one without it. */
  over(): boolean {
    if (this.#failed !== undefined) return true;
    const { full, through, least } = this.#options;
    const last = this.#all.at(-1);
    if (last === undefined) {
      this.#begin(false);
      return false;
    }
    last.to = performance.now();
    if (last.working && through() && this.#all.length > 2 * least) this.#begin(false);
    else if (full(last, this.#all.at(-2))) {
      if (through() && !last.working) {
        this.#measureThread();
        return true;
      }
      this.#begin(!last.working);
    }
    return false;
  }

  #measureThread(): void {
    const last = this.#all.at(-1);
    // The histogram counts from the tick that it asked for.
    if (last !== undefined) last.held = Math.max(0, this.#thread.max / 1e6 - 1);
    this.#thread.reset();
  }

  #begin(working: boolean): void {
    this.#measureThread();
    this.#thread.enable();
    const now = performance.now();
    const window: Window = { working, from: now, to: now, held: 0 };
    this.#all.push(window);
    if (!working) return;
    const number = this.#all.filter((each) => each.working).length;
    this.#options.onProgress(`window ${String(number)} with the work`);
    void this.#options
      .work(() => this.#all.at(-1) === window)
      .catch((error: unknown) => {
        this.#failed = error instanceof Error ? error : new Error(String(error));
      });
  }

  /** Sums up per window and per kind. */
  told(passages: readonly Passage[]): WindowsTold {
    this.#thread.disable();
    const { edgeMs } = this.#options;
    const edge = ({ working }: Window) => (working ? edgeMs.with : edgeMs.without);
    const within = (window: Window) =>
      passages.filter(
        ({ committedAt: at }) => at >= window.from + edge(window) && at < window.to - edge(window),
      );
    const kind = (working: boolean) =>
      this.#all.filter((window) => window.working === working && window.to - window.from > 3 * edge(window));
    const together = (working: boolean) => delaysOf(kind(working).flatMap(within));
    const [live, alone] = [together(true), together(false)];
    const each = (working: boolean) => kind(working).map((window) => delaysOf(within(window)));
    const held = (working: boolean) => median(kind(working).map((window) => window.held));
    return {
      windows: { with: each(true), without: each(false) },
      live: { with: live, without: alone, p99Ratio: live.p99 / alone.p99 },
      held: { with: held(true), without: held(false) },
    };
  }
}

/** The middle one; of an even number the mean of the two; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length / 2;
  const at = (index: number) => sorted[index] ?? Number.NaN;
  return Number.isInteger(middle) ? (at(middle - 1) + at(middle)) / 2 : at(Math.floor(middle));
}
