/** The page "Audit": who did what, when and why, and what it changed. */
import { useMemo, type ReactNode } from 'react';
import type { AuditEntry } from '../../api/operate.ts';
import { pagesOf } from '../../api/read.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { differences } from '../../model/audit-difference.ts';
import { hrefTo, type Query } from '../../model/route.ts';
import { airportDayBegin } from '../../model/time.ts';
import { Freshness } from '../../ui/freshness.tsx';
import { ListTable, More } from '../../ui/listing.tsx';
import { useStatus } from '../../ui/live-context.tsx';
import { useMoment } from '../../ui/moment.ts';
import { PageHead } from '../../ui/page-head.tsx';
import { useListed } from '../../ui/reading.ts';
import { useRoute } from '../../ui/router.ts';
import type { ConsolePage } from '../page.ts';
import { AuditFilter } from './audit-filter.tsx';
import './audit.css';

/** What the address says, as the API wants it: days are those of the airport, both included. */
function filterOf({ who, action, target, from = '', to = '' }: Query, zone: string): Query {
  return {
    ...{ who, action, target },
    from: airportDayBegin(from, zone) ?? '',
    to: airportDayBegin(to, zone, 1) ?? '',
  };
}

function Audit(): ReactNode {
  const { t, label } = useSpeech();
  const { query } = useRoute();
  const zone = useStatus().status?.timeZone ?? 'UTC';
  const asked = JSON.stringify(filterOf(query, zone));
  const listed = useListed(
    useMemo(() => pagesOf<AuditEntry>('api/v1/audit', 'entries', JSON.parse(asked) as Query), [asked]),
  );
  const rows = listed.data ?? [];
  return (
    <>
      <PageHead title={label(auditPage.title)}>
        <Freshness of={listed} />
      </PageHead>
      <section className="panel" aria-label={label(auditPage.title)}>
        <AuditFilter />
        {listed.data?.length === 0 && <p className="nothing">{t.act.auditNone}</p>}
        {rows.length > 0 && (
          <ListTable
            label={label(auditPage.title)}
            id="audit"
            frame="audit-scroll"
            heads={[t.act.when, t.act.who, t.act.action, t.act.target, t.act.reason, t.act.change]}
          >
            {rows.map((entry) => (
              <Row key={entry.auditId} entry={entry} />
            ))}
          </ListTable>
        )}
        <More of={listed} />
      </section>
    </>
  );
}

function Row({ entry }: { readonly entry: AuditEntry }): ReactNode {
  const { t } = useSpeech();
  const moment = useMoment();
  const { at, who, action, target, reason, before, after } = entry;
  return (
    <tr>
      <td className="nowrap">
        <time dateTime={at}>{moment(at)}</time>
      </td>
      <td>{who}</td>
      <td>
        <b>{t.act.actionWords[action] ?? action}</b>
      </td>
      <td>
        <Target name={target} />
      </td>
      <td className="why">{reason}</td>
      <td>
        <dl className="difference">
          {differences(before, after).map(({ name, before: was, after: is }) => (
            <div key={name}>
              {name !== '' && <dt>{name}</dt>}
              <dd>
                {was !== null && <del>{was}</del>}
                {was !== null && is !== null && <span aria-hidden="true"> → </span>}
                {is !== null && <ins>{is}</ins>}
              </dd>
            </div>
          ))}
        </dl>
      </td>
    </tr>
  );
}

/** Messages and flights lead to their pages. */
function Target({ name }: { readonly name: string }): ReactNode {
  const [kind = '', ...rest] = name.split(':');
  const id = rest.join(':');
  const page = kind === 'message' ? 'messages' : kind === 'flid' ? 'flights' : null;
  if (page === null || id === '') return name;
  return (
    <a className="plain-link" href={hrefTo(page, [id])}>
      {name}
    </a>
  );
}

export const auditPage: ConsolePage = {
  path: 'audit',
  title: { en: 'Audit', zh: '审计' },
  sign: <path d="M3 1.5h7l3 3v10H3zM5.5 6.5h5M5.5 9h5M5.5 11.5h3" />,
  Component: Audit,
};
