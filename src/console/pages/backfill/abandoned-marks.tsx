/** Marks that were given up: owed again, or confirmed with the owner of the mailbox, who gets the list as CSV. */
import { useMemo, type ReactNode } from 'react';
import { ActionButton } from '../../actions/acting.tsx';
import { settleMarks } from '../../actions/catalogue.ts';
import type { AbandonedMark } from '../../api/operate.ts';
import { pagesOf } from '../../api/read.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { hrefTo } from '../../model/route.ts';
import { Freshness } from '../../ui/freshness.tsx';
import { ListTable, More } from '../../ui/listing.tsx';
import { useMoment } from '../../ui/moment.ts';
import { Panel } from '../../ui/panel.tsx';
import { useListed } from '../../ui/reading.ts';
import { setQuery, useRoute } from '../../ui/router.ts';
import { Choose, useSelection } from '../../ui/selection.tsx';

export function AbandonedMarks(): ReactNode {
  const { t } = useSpeech();
  const confirmed = useRoute().query['confirmed'] === 'true';
  const listed = useListed(
    useMemo(
      () => pagesOf<AbandonedMark>('api/v1/backfill', 'marks', confirmed ? { confirmed: 'true' } : {}),
      [confirmed],
    ),
  );
  const rows = listed.data ?? [];
  const open = rows.filter(({ confirmedAt }) => confirmedAt === null);
  const selection = useSelection(open.map(({ msgId }) => msgId));
  const chosen = selection.ids.length > 0 ? selection.ids : null;
  return (
    <Panel title={t.act.abandonedMarks} extra={<Freshness of={listed} />}>
      <div className="list-tools">
        <label>
          <input
            type="checkbox"
            checked={confirmed}
            onChange={(event) => setQuery({ confirmed: event.target.checked ? 'true' : '' })}
          />
          {t.act.withConfirmed}
        </label>
        <a className="plain" href={`api/v1/backfill/export${confirmed ? '?confirmed=true' : ''}`} download>
          {t.act.exportCsv}
        </a>
        <div className="actions push">
          {chosen !== null && <span className="quiet">{t.act.chosen(chosen.length)}</span>}
          <ActionButton disabled={open.length === 0} action={() => settleMarks(t, 'reopen', chosen ?? 'all')}>
            {chosen === null ? t.act.reopenAllButton : t.act.reopenButton}
          </ActionButton>
          <ActionButton
            disabled={open.length === 0}
            action={() => settleMarks(t, 'confirm', chosen ?? 'all')}
          >
            {chosen === null ? t.act.confirmAllButton : t.act.confirmButton}
          </ActionButton>
        </div>
      </div>
      {listed.data?.length === 0 && <p className="nothing">{t.act.abandonedNone}</p>}
      {rows.length > 0 && (
        <ListTable
          label={t.act.abandonedMarks}
          id="abandoned"
          selection={selection}
          heads={[
            t.act.message,
            t.statusColumn,
            t.act.because,
            t.act.givenUp,
            t.act.attemptsColumn,
            t.act.confirmedColumn,
          ]}
        >
          {rows.map((mark) => (
            <Row key={mark.msgId} mark={mark}>
              {mark.confirmedAt === null && (
                <Choose of={selection} id={mark.msgId} name={t.act.thing.message(mark.msgId)} />
              )}
            </Row>
          ))}
        </ListTable>
      )}
      <More of={listed} />
    </Panel>
  );
}

function Row({ mark, children }: { readonly mark: AbandonedMark; readonly children: ReactNode }): ReactNode {
  const { t } = useSpeech();
  const moment = useMoment();
  const { msgId, type, styp, state, because, abandonedAt, attempts, confirmedAt, confirmedBy } = mark;
  return (
    <tr data-mark={msgId}>
      <td className="box">{children}</td>
      <th scope="row">
        <a className="plain-link" href={hrefTo('messages', [msgId])}>
          {msgId}
        </a>{' '}
        <span className="quiet">{[type, styp].filter((part) => part !== null).join('/')}</span>
      </th>
      <td>
        <span className={`tag state-${state}`}>{state}</span>
      </td>
      <td>
        {because} <span className="quiet">{t.act.reasonWords[because]}</span>
      </td>
      <td className="nowrap">{moment(abandonedAt)}</td>
      <td>{t.number(attempts)}</td>
      <td>
        {confirmedAt === null ? (
          <span className="quiet">{t.act.notConfirmed}</span>
        ) : (
          t.act.confirmedBy(confirmedBy ?? '', moment(confirmedAt))
        )}
      </td>
    </tr>
  );
}
