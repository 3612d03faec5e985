/**
 * The table of flights. Only the rows in sight exist; `aria-rowcount` and `aria-rowindex` tell a screen
 * reader the whole. One row is the tab stop; arrows, Home, End, Page Up and Page Down move it.
 */
import {
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
  type Ref,
} from 'react';
import type { FlightRow } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { COLUMNS, type Column } from '../../model/flight-columns.ts';
import { fieldLabel } from '../../model/flight-fields.ts';
import type { RowChange } from '../../model/live-state.ts';
import { FlightTableRow } from './flight-row.tsx';
import { useMedia, useRowWindow } from './window.ts';

/** Heights of styles/flights.css, in px. */
const ROW_HEIGHT = 34;
const ROW_HEIGHT_NARROW = 64;
const PAGE_ROWS = 10;

export interface TableHandle {
  readonly scrollToRow: (index: number) => void;
  /** Scrolls there and gives it the focus. */
  readonly focusRow: (index: number) => void;
}

interface FlightsTableProps {
  readonly ref: Ref<TableHandle>;
  readonly rows: readonly FlightRow[];
  readonly changes: ReadonlyMap<string, RowChange>;
  readonly day: string;
  readonly zone: string;
  readonly onOpen: (flid: string) => void;
  readonly empty: string;
}

export function FlightsTable({ ref, rows, changes, day, zone, onOpen, empty }: FlightsTableProps): ReactNode {
  const { t, label } = useSpeech();
  const scroller = useRef<HTMLDivElement>(null);
  const rowHeight = useMedia('(max-width: 720px)') ? ROW_HEIGHT_NARROW : ROW_HEIGHT;
  const { start, end } = useRowWindow(scroller, rows.length, rowHeight);
  const [active, setActive] = useState(0);
  // The row that the focus goes to as soon as it exists.
  const wanted = useRef<number | null>(null);

  const [, renderAgain] = useState({});

  useImperativeHandle(ref, () => ({
    scrollToRow: (index) => scroller.current?.scrollTo({ top: index * rowHeight }),
    focusRow: (index) => {
      scroller.current?.scrollTo({ top: Math.max(0, index - 4) * rowHeight });
      wanted.current = index;
      setActive(index);
      renderAgain({});
    },
  }));

  // The row that was moved to exists only after it has been scrolled into sight and rendered.
  useEffect(() => {
    if (wanted.current === null) return;
    const link = scroller.current?.querySelector<HTMLElement>(`[data-row="${String(wanted.current)}"]`);
    if (link === null || link === undefined) return;
    wanted.current = null;
    link.focus({ preventScroll: true });
  });

  const move = (event: KeyboardEvent): void => {
    const focused = Number((event.target as HTMLElement).dataset['row'] ?? Number.NaN);
    const target = destination(event.key, focused, rows.length);
    if (target === null) return;
    event.preventDefault();
    wanted.current = target;
    setActive(target);
    const element = scroller.current;
    if (element === null) return;
    const head = element.querySelector('thead')?.clientHeight ?? 0;
    const top = target * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    const bottom = top + rowHeight + head - element.clientHeight;
    if (bottom > element.scrollTop) element.scrollTop = bottom;
  };

  const heading = ({ key, fields }: Column): string => {
    if (fields.length > 0) return fields.map((field) => label(fieldLabel(field))).join(' / ');
    return key === 'version' ? t.versionColumn : key === 'updated' ? t.updatedColumn : t.statusColumn;
  };
  // The tab stop stays within the rows that exist.
  const stop = active >= start && active < end ? active : Math.min(start + 8, Math.max(start, end - 1));

  return (
    <div className="table-scroll" ref={scroller} onKeyDown={move}>
      <table className="flights" aria-rowcount={rows.length + 1} aria-label={t.flights} role="table">
        <thead role="rowgroup">
          <tr role="row" aria-rowindex={1}>
            {COLUMNS.map((column) => (
              <th key={column.key} scope="col" role="columnheader" className={`col-${column.key}`}>
                {heading(column)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          <Gap rows={start} rowHeight={rowHeight} />
          {rows.slice(start, end).map((row, offset) => (
            <FlightTableRow
              key={row.flid}
              row={row}
              index={start + offset}
              day={day}
              zone={zone}
              change={changes.get(row.flid) ?? null}
              tabStop={start + offset === stop}
              onOpen={onOpen}
              onFocus={setActive}
            />
          ))}
          <Gap rows={rows.length - end} rowHeight={rowHeight} />
        </tbody>
      </table>
      {rows.length === 0 && <p className="nothing">{empty}</p>}
    </div>
  );
}

/** The room of rows that are not rendered. */
function Gap({ rows, rowHeight }: { readonly rows: number; readonly rowHeight: number }): ReactNode {
  if (rows <= 0) return null;
  return (
    <tr className="gap" aria-hidden="true" style={{ height: rows * rowHeight }}>
      <td colSpan={COLUMNS.length} />
    </tr>
  );
}

/** Where a key leads from a row; null for other keys. */
function destination(key: string, from: number, count: number): number | null {
  if (!Number.isFinite(from)) return null;
  const clamp = (row: number): number => Math.min(count - 1, Math.max(0, row));
  switch (key) {
    case 'ArrowDown':
      return clamp(from + 1);
    case 'ArrowUp':
      return clamp(from - 1);
    case 'PageDown':
      return clamp(from + PAGE_ROWS);
    case 'PageUp':
      return clamp(from - PAGE_ROWS);
    case 'Home':
      return 0;
    case 'End':
      return clamp(count);
    default:
      return null;
  }
}
