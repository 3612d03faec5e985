/** The top of a page: its heading, which takes the focus when the page is entered, and what belongs beside it. */
import type { ReactNode } from 'react';

/** What the shell gives the focus to. */
export const PAGE_TITLE = 'page-title';

interface PageHeadProps {
  readonly title: ReactNode;
  /** Above the title: where the page belongs, e.g. the way back to its list. */
  readonly above?: ReactNode;
  /** Beside the title. */
  readonly children?: ReactNode;
}

export function PageHead({ title, above, children }: PageHeadProps): ReactNode {
  return (
    <div className="page-head">
      {above}
      <h1 id={PAGE_TITLE} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </div>
  );
}
