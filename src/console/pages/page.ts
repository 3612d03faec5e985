/** What makes a page of the console. Each has a folder here and a line in pages.ts. */
import type { ComponentType, ReactNode } from 'react';
import type { Label } from '../../domain/fields.ts';
import type { Status } from '../api/types.ts';

export interface PageProps {
  /** The parts of the address behind the page's own, e.g. the ID of a message. */
  readonly rest: readonly string[];
}

export interface ConsolePage {
  /** Its part of the address: `#/PATH`. Never changed: people keep bookmarks. */
  readonly path: string;
  readonly title: Label;
  /** Strokes of its sign, on a field of 16 × 16. */
  readonly sign: ReactNode;
  /** Shows a `PageHead` at its top, whose heading takes the focus when the page is entered. */
  readonly Component: ComponentType<PageProps>;
  /** How many things on it wait for a person; shown in the navigation where it is not 0. */
  readonly attention?: (status: Status) => number;
}
