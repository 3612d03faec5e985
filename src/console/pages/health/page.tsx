/** The page "Health": whether msgx itself is well, how it has done of late, and what its upkeep does. */
import type { ReactNode } from 'react';
import { useSpeech } from '../../i18n/language.tsx';
import { useStatus } from '../../ui/live-context.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import type { ConsolePage } from '../page.ts';
import { HealthTiles } from './health-tiles.tsx';
import { JobsPanel } from './jobs-panel.tsx';
import { SeriesPanel } from './series-panel.tsx';
import './health.css';

function Health(): ReactNode {
  const { label } = useSpeech();
  const { status } = useStatus();
  return (
    <>
      <PageHead title={label(healthPage.title)} />
      {status !== null && <HealthTiles status={status} />}
      <SeriesPanel />
      {status !== null && <JobsPanel jobs={status.jobs} />}
    </>
  );
}

export const healthPage: ConsolePage = {
  path: 'health',
  title: { en: 'Health', zh: '健康' },
  sign: <path d="M8 14S1.5 10 1.5 5.7A3.2 3.2 0 0 1 8 4.6a3.2 3.2 0 0 1 6.5 1.1C14.5 10 8 14 8 14z" />,
  Component: Health,
  attention: ({ jobs }) => jobs.filter(({ state }) => state === 'failing').length,
};
