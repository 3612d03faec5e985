/** One flight as a row. Cells that changed flash once, then carry a mark for a while. */
import { memo, type CSSProperties, type ReactNode } from 'react';
import type { FlightRow } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { cellText, COLUMNS, flightName, marks, type ColumnKey } from '../../model/flight-columns.ts';
import { fieldLabel, textAt } from '../../model/flight-fields.ts';
import type { RowChange } from '../../model/live-state.ts';
import { hrefTo } from '../../model/route.ts';
import { airportClock, flightTime } from '../../model/time.ts';
import { MarkTag } from '../../ui/mark-tag.tsx';

/** Length of the animation in styles/flights.css. */
const FLASH_MS = 6_000;

interface RowProps {
  readonly row: FlightRow;
  readonly index: number;
  readonly day: string;
  readonly zone: string;
  readonly change: RowChange | null;
  readonly tabStop: boolean;
  readonly onOpen: (flid: string) => void;
  readonly onFocus: (index: number) => void;
}

export const FlightTableRow = memo(function FlightTableRow(props: RowProps): ReactNode {
  const { row, index, change, onOpen } = props;
  const fresh = change !== null && Date.now() - change.at < FLASH_MS;
  // Two names of one animation take turns, so that a second change starts it anew; a row that scrolls into
  // sight joins its animation where it would be by now.
  const flash = fresh ? (row.version % 2 === 0 ? 'flash-even' : 'flash-odd') : '';
  const style: CSSProperties | undefined = fresh
    ? ({ '--flash-delay': `${String(change.at - Date.now())}ms` } as CSSProperties)
    : undefined;
  const gone = row.deleted || textAt(row.flight, 'cancelledAt') !== '';
  const state = `${gone ? 'is-gone' : ''} ${textAt(row.flight, 'actualTime') === '' ? '' : 'is-done'}`;
  return (
    <tr
      role="row"
      aria-rowindex={index + 2}
      className={`${state} ${flash}`}
      style={style}
      data-flid={row.flid}
      data-version={row.version}
      onClick={() => onOpen(row.flid)}
    >
      {COLUMNS.map(({ key }) => {
        const changed = fresh && change.before !== null && differs(change.before, row, key);
        return (
          <td key={key} role="cell" className={`col-${key} ${changed ? 'is-changed' : ''}`}>
            <Cell {...props} column={key} />
          </td>
        );
      })}
    </tr>
  );
});

/** Version and time of the update differ after every change, so a mark there would say nothing. */
function differs(before: FlightRow, row: FlightRow, key: ColumnKey): boolean {
  return key !== 'version' && key !== 'updated' && cellText(before, key) !== cellText(row, key);
}

function Cell({
  row,
  column,
  index,
  day,
  zone,
  tabStop,
  onOpen,
  onFocus,
}: RowProps & { readonly column: ColumnKey }): ReactNode {
  const { t, label } = useSpeech();
  switch (column) {
    case 'scheduledTime':
    case 'estimatedTime':
    case 'actualTime':
      return <Time value={textAt(row.flight, column)} day={day} />;
    case 'flightNumber': {
      const name = flightName(row);
      const master = textAt(row.flight, 'master.flightNumber');
      return (
        <>
          <a
            className="plain-link"
            href={hrefTo('flights', [row.flid])}
            data-row={index}
            tabIndex={tabStop ? 0 : -1}
            onFocus={() => onFocus(index)}
            onClick={(event) => {
              event.stopPropagation();
              // With a key held the browser opens it elsewhere.
              if (event.ctrlKey || event.metaKey || event.shiftKey) return;
              event.preventDefault();
              onOpen(row.flid);
            }}
          >
            {name}
          </a>
          {master !== '' && master !== name && (
            <span className="quiet" title={label(fieldLabel('master.flightNumber'))}>
              {' '}
              {master}
            </span>
          )}
        </>
      );
    }
    case 'movement': {
      const movement = textAt(row.flight, 'movement');
      const word = movement === 'A' ? t.arrival : movement === 'D' ? t.departure : movement;
      return (
        <abbr title={word} className={`movement is-${movement}`}>
          <span aria-hidden="true">{movement === 'A' ? '↘' : movement === 'D' ? '↗' : ''}</span>
          {movement}
        </abbr>
      );
    }
    case 'status':
      return marks(row).map((mark, position) => <MarkTag key={position} mark={mark} />);
    case 'updated':
      return airportClock(row.updatedAt, zone);
    case 'version':
    case 'route':
    case 'terminal':
    case 'stands':
    case 'gates':
    case 'desks': {
      const text = cellText(row, column);
      return <span title={text}>{text}</span>;
    }
  }
}

function Time({ value, day }: { readonly value: string; readonly day: string }): ReactNode {
  if (value === '') return null;
  const { clock, dayShift } = flightTime(value, day);
  return (
    <time dateTime={value}>
      {clock}
      {dayShift !== 0 && <sup>{dayShift > 0 ? `+${String(dayShift)}` : String(dayShift)}</sup>}
    </time>
  );
}
