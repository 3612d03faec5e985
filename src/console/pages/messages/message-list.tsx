/** The messages that fit the filters, newest first. Arrows go from one to the next. */
import { useEffect, useMemo, useRef, type KeyboardEvent, type ReactNode } from 'react';
import { prefixOf } from '../../../domain/reasons.ts';
import { ActionButton } from '../../actions/acting.tsx';
import { REPLAY_CLASSES, replayMessages } from '../../actions/catalogue.ts';
import { messagePages, type ListedMessage } from '../../api/messages.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { hrefTo } from '../../model/route.ts';
import { Freshness } from '../../ui/freshness.tsx';
import { ListTable, More } from '../../ui/listing.tsx';
import { useMoment } from '../../ui/moment.ts';
import { PageHead } from '../../ui/page-head.tsx';
import { useListed } from '../../ui/reading.ts';
import { useRoute } from '../../ui/router.ts';
import { Choose, useSelection } from '../../ui/selection.tsx';
import { MessageFilter, useMessageFilter } from './message-filter.tsx';
import { MessageFlags, StateTag } from './message-tags.tsx';

/** The message that was opened last: who comes back goes on there. */
let opened: string | null = null;

/** Whether a replay may make something of it (src/actions/replay.ts); msgx itself says more when it is tried. */
export function mayBeReplayed({ state, errorClass, reason, archived }: ListedMessage): boolean {
  if (archived) return false;
  if (state === 'SKIPPED') return reason !== null && prefixOf(reason) === 'no-match';
  return (
    (state === 'DEAD' || state === 'FAILED') && REPLAY_CLASSES.some((replayable) => replayable === errorClass)
  );
}

export function MessageList({ title }: { readonly title: string }): ReactNode {
  const { t } = useSpeech();
  const filter = useMessageFilter();
  const listed = useListed(
    useMemo(() => messagePages(JSON.parse(filter) as Record<string, string>), [filter]),
  );
  const rows = listed.data ?? [];
  const selection = useSelection(rows.filter(mayBeReplayed).map(({ msgId }) => msgId));
  const { more } = listed;
  return (
    <>
      <PageHead title={title}>
        <Freshness of={listed} />
        <div className="actions">
          {selection.ids.length > 0 && <span className="quiet">{t.act.chosen(selection.ids.length)}</span>}
          <ActionButton disabled={selection.ids.length === 0} action={() => replayMessages(t, selection.ids)}>
            {t.act.replayButton}
          </ActionButton>
        </div>
      </PageHead>
      <section className="panel" aria-label={title}>
        <MessageFilter />
        {listed.data !== null && rows.length === 0 && (
          <p className="nothing">{more === null ? t.msg.none : t.msg.noneYet}</p>
        )}
        {rows.length > 0 && <Table rows={rows} selection={selection} />}
        <More of={listed} {...(rows.length === 0 ? { label: t.msg.further } : {})} />
      </section>
    </>
  );
}

interface TableProps {
  readonly rows: readonly ListedMessage[];
  readonly selection: ReturnType<typeof useSelection>;
}

function Table({ rows, selection }: TableProps): ReactNode {
  const { t } = useSpeech();
  const table = useRef<HTMLTableElement>(null);
  useEffect(() => {
    const link = opened === null ? null : linkOf(table.current, opened);
    opened = null;
    link?.focus();
  }, []);
  const move = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const focused = (event.target as HTMLElement).dataset['message'];
    if (by === 0 || focused === undefined) return;
    event.preventDefault();
    const next = rows[rows.findIndex(({ msgId }) => msgId === focused) + by];
    if (next !== undefined) linkOf(table.current, next.msgId)?.focus();
  };
  return (
    <ListTable
      label={t.msg.list}
      id="messages"
      frame="messages-scroll"
      selection={selection}
      table={table}
      onKeyDown={move}
      heads={[
        t.msg.number,
        t.msg.received,
        t.msg.type,
        t.msg.state,
        t.msg.why,
        t.msg.attempts,
        t.msg.ended,
        t.msg.mark,
      ]}
    >
      {rows.map((row) => (
        <Row key={row.msgId} row={row}>
          {mayBeReplayed(row) && <Choose of={selection} id={row.msgId} name={t.msg.original(row.msgId)} />}
        </Row>
      ))}
    </ListTable>
  );
}

const linkOf = (table: HTMLElement | null, msgId: string): HTMLElement | null =>
  table?.querySelector<HTMLElement>(`a[data-message="${CSS.escape(msgId)}"]`) ?? null;

function Row({ row, children }: { readonly row: ListedMessage; readonly children: ReactNode }): ReactNode {
  const { t } = useSpeech();
  const { query } = useRoute();
  const moment = useMoment();
  const { msgId, type, styp, attempts, terminalAt, receivedAt, enqueuedAt, mark } = row;
  return (
    <tr>
      <td className="box">{children}</td>
      <th scope="row" className="nowrap">
        <a
          className="plain-link"
          data-message={msgId}
          href={hrefTo('messages', [msgId], query)}
          onClick={() => {
            opened = msgId;
          }}
        >
          {msgId}
        </a>
      </th>
      <td className="nowrap">{moment(receivedAt ?? enqueuedAt)}</td>
      <td className="nowrap">{[type, styp].filter((part) => part !== null).join('/')}</td>
      <td>
        <StateTag state={row.state} /> <MessageFlags of={row} />
      </td>
      <td className="error">
        {row.errorClass !== null && `${row.errorClass} `}
        {row.lastError ?? row.reason}
      </td>
      <td>{attempts === 0 ? '' : t.number(attempts)}</td>
      <td className="nowrap">{terminalAt === null ? '' : moment(terminalAt)}</td>
      <td className="nowrap">
        {mark === 'abandoned' ? (
          <span className="tag is-person">{t.msg.markState[mark]}</span>
        ) : (
          t.msg.markState[mark]
        )}
      </td>
    </tr>
  );
}
