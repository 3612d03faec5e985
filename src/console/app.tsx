/** The shell: header, navigation, and the page that the address names. */
import { useEffect, useRef, type MouseEvent, type ReactNode } from 'react';
import { useSpeech } from './i18n/language.tsx';
import { PAGES } from './pages/pages.ts';
import { useFindings } from './ui/findings.ts';
import { Header } from './ui/header.tsx';
import { useStatus } from './ui/live-context.tsx';
import { Navigation } from './ui/navigation.tsx';
import { PageBoundary } from './ui/page-boundary.tsx';
import { PAGE_TITLE } from './ui/page-head.tsx';
import { useRoute } from './ui/router.ts';
import { StopStrip } from './ui/stop-strip.tsx';

export function App(): ReactNode {
  const { t, label } = useSpeech();
  const route = useRoute();
  const [home] = PAGES;
  const page = PAGES.find(({ path }) => path === route.page) ?? home;
  const rest = page.path === route.page ? route.rest : [];
  const title = label(page.title);
  useFocusOnArrival([page.path, ...rest].join('/'));

  return (
    <>
      <a className="skip" href={`#${PAGE_TITLE}`} onClick={skip}>
        {t.skipToContent}
      </a>
      <Title page={page === home ? null : [...rest, title].join(' · ')} />
      <div className="frame">
        <Header />
        <Navigation pages={PAGES} current={page} />
      </div>
      <main>
        {page !== home && <StopStrip home={home.path} />}
        <PageBoundary key={page.path} title={title}>
          <page.Component rest={rest} />
        </PageBoundary>
      </main>
    </>
  );
}

/** The part behind `#` is the page's address, so the jump is made by hand. */
function skip(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById(PAGE_TITLE)?.focus();
}

/**
 * Who comes to another page begins at its heading, as after loading a document. Filters move nothing, and a page that
 * has put the focus somewhere itself knows better.
 */
function useFocusOnArrival(place: string): void {
  const shown = useRef(place);
  useEffect(() => {
    if (shown.current === place) return;
    shown.current = place;
    if (document.activeElement?.closest('main') === null) {
      document.getElementById(PAGE_TITLE)?.focus();
    }
  }, [place]);
}

/** The document's title: on Now what is worst, so that the tab tells it; elsewhere the page. */
function Title({ page }: { readonly page: string | null }): ReactNode {
  const { t } = useSpeech();
  const { status } = useStatus();
  const [worst] = useFindings();
  const first = page ?? (worst === undefined ? t.connecting : t.finding(worst));
  const text = `${first} · ${status?.airport ?? ''} msgx`;
  useEffect(() => {
    document.title = text;
  }, [text]);
  return null;
}
