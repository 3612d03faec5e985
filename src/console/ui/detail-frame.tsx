/** The panel at the right edge: takes the focus when it opens, closes with Escape. */
import { useEffect, useRef, type ReactNode } from 'react';
import { useSpeech } from '../i18n/language.tsx';

interface DetailFrameProps {
  /** What is shown: another one takes the focus anew. */
  readonly name: string;
  readonly onClose: () => void;
  /** Holds a heading with the id `detail-name`. */
  readonly children: ReactNode;
}

export function DetailFrame({ name, onClose, children }: DetailFrameProps): ReactNode {
  const { t } = useSpeech();
  const panel = useRef<HTMLElement>(null);

  useEffect(() => {
    panel.current?.focus();
  }, [name]);
  useEffect(() => {
    const escape = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') onClose();
    };
    document.addEventListener('keydown', escape);
    return () => document.removeEventListener('keydown', escape);
  }, [onClose]);

  return (
    <aside
      className="detail"
      role="dialog"
      aria-labelledby="detail-name"
      tabIndex={-1}
      ref={panel}
      data-testid="detail"
    >
      <button type="button" className="plain close" onClick={onClose} aria-label={t.close}>
        <span aria-hidden="true">✕</span>
      </button>
      {children}
    </aside>
  );
}
