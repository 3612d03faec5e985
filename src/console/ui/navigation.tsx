/** The pages: a column at the left, a strip under the header on narrow screens. */
import { useEffect, useRef, type ReactNode } from 'react';
import { useSpeech } from '../i18n/language.tsx';
import { hrefTo } from '../model/route.ts';
import type { ConsolePage } from '../pages/page.ts';
import { useStatus } from './live-context.tsx';

interface NavigationProps {
  readonly pages: readonly ConsolePage[];
  readonly current: ConsolePage;
}

export function Navigation({ pages, current }: NavigationProps): ReactNode {
  const { t, label } = useSpeech();
  const { status } = useStatus();
  const strip = useRef<HTMLUListElement>(null);
  useEffect(() => {
    // In the strip of narrow screens the page on show may lie outside.
    strip.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [current]);
  return (
    <nav className="pages" aria-label={t.pages}>
      <ul ref={strip}>
        {pages.map((page) => {
          const waiting = status === null ? 0 : (page.attention?.(status) ?? 0);
          return (
            <li key={page.path}>
              <a href={hrefTo(page.path)} aria-current={page === current ? 'page' : undefined}>
                <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
                  {page.sign}
                </svg>
                {label(page.title)}
                {waiting > 0 && (
                  <span className="badge">
                    {t.number(waiting)}
                    <span className="unseen"> {t.needPerson}</span>
                  </span>
                )}
              </a>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
