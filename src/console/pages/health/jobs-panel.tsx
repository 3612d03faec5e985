/** The upkeep jobs: when each ran last and runs next, how much it did, and what keeps it from working. */
import type { ReactNode } from 'react';
import type { Job } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { ListTable } from '../../ui/listing.tsx';
import { useMoment } from '../../ui/moment.ts';
import { Panel } from '../../ui/panel.tsx';

export function JobsPanel({ jobs }: { readonly jobs: readonly Job[] }): ReactNode {
  const { t } = useSpeech();
  const moment = useMoment();
  const at = (time: string | null, none: string): string => (time === null ? none : moment(time));
  return (
    <Panel title={t.act.jobs}>
      <ListTable
        label={t.act.jobs}
        id="jobs"
        heads={[t.act.job, t.act.state, t.act.lastRun, t.act.nextRun, t.act.rows, t.act.error]}
      >
        {jobs.map(({ job, state, startedAt, endedAt, nextAt, rows, rowsTotal, failures, error }) => (
          <tr key={job} data-job={job}>
            <th scope="row">{job}</th>
            <td>
              <span className={`tag ${state === 'failing' ? 'is-bad' : ''}`}>{t.act.jobState[state]}</span>
              {failures > 0 && <span className="quiet"> × {t.number(failures)}</span>}
            </td>
            <td className="nowrap">{at(endedAt ?? startedAt, t.never)}</td>
            <td className="nowrap">{at(nextAt, state === 'running' ? '–' : t.act.atOnce)}</td>
            <td>
              {t.number(rows)} <span className="quiet">{t.act.ofAllRuns(rowsTotal)}</span>
            </td>
            <td className="error">{error ?? ''}</td>
          </tr>
        ))}
      </ListTable>
    </Panel>
  );
}
