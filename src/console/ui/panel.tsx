/** A titled region of the page. */
import { useId, type ReactNode } from 'react';

interface PanelProps {
  readonly title: string;
  readonly className?: string;
  readonly id?: string;
  /** Beside the title. */
  readonly extra?: ReactNode;
  readonly children: ReactNode;
}

export function Panel({ title, className = '', id, extra, children }: PanelProps): ReactNode {
  const heading = useId();
  return (
    <section className={`panel ${className}`} id={id} aria-labelledby={heading}>
      <div className="panel-head">
        <h2 id={heading}>{title}</h2>
        {extra}
      </div>
      {children}
    </section>
  );
}
