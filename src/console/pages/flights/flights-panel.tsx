/** The flights of a day with their filters. */
import {
  useCallback,
  useDeferredValue,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  type ReactNode,
} from 'react';
import type { FlightRow } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { matches, sorted, type MovementFilter } from '../../model/flight-columns.ts';
import { textAt } from '../../model/flight-fields.ts';
import { airportDay } from '../../model/time.ts';
import { DaySelect } from './day-select.tsx';
import { takeLastFlight } from './last-flight.ts';
import { FlightsTable, type TableHandle } from './flights-table.tsx';
import { useFlights, useLive, useStatus } from '../../ui/live-context.tsx';
import { Panel } from '../../ui/panel.tsx';
import { setQuery, useRoute } from '../../ui/router.ts';

interface FlightsPanelProps {
  readonly onOpen: (flid: string) => void;
}

const MOVEMENTS: readonly MovementFilter[] = ['all', 'A', 'D'];

/** Whether a flight was to be before now; one without a time is taken for one that was. */
const isPast = (clockOffset: number): ((row: FlightRow) => boolean) => {
  const now = Date.now() - clockOffset;
  return ({ flight }) => !(Date.parse(textAt(flight, 'scheduledTime')) >= now);
};

export function FlightsPanel({ onOpen }: FlightsPanelProps): ReactNode {
  const { t } = useSpeech();
  const state = useFlights();
  const { showDay, watchFlights } = useLive();
  useLayoutEffect(() => watchFlights(), [watchFlights]);
  const zone = useStatus().status?.timeZone ?? 'UTC';
  const clockOffset = useStatus().clockOffset;
  const asked = useRoute().query;
  const query = asked['q'] ?? '';
  const movement = MOVEMENTS.find((each) => each === asked['movement']) ?? 'all';
  const wanted = useDeferredValue(query.trim());
  const table = useRef<TableHandle>(null);

  const all = useMemo(() => sorted(state.flights.values()), [state.flights]);
  const shown = useMemo(() => all.filter((row) => matches(row, wanted, movement)), [all, wanted, movement]);
  const today = airportDay(Date.now() - clockOffset, zone);

  const jumpToNow = useCallback(() => {
    const past = isPast(clockOffset);
    const next = shown.findIndex((row) => !past(row));
    // Two rows of the past stay in sight, so that it is plain where now is.
    table.current?.scrollToRow(Math.max(0, (next === -1 ? shown.length : next) - 2));
  }, [clockOffset, shown]);

  // A day that is today opens at the present; once, so that reading is not disturbed.
  const openedAt = useRef<string | null>(null);
  useEffect(() => {
    if (state.day === null || all.length === 0 || openedAt.current === state.day) return;
    // The first flights of a long day may all be of its past: the present is looked for when the others are there.
    if (state.day === today && !state.complete && all.every(isPast(clockOffset))) return;
    openedAt.current = state.day;
    const last = takeLastFlight();
    const row = shown.findIndex(({ flid }) => flid === last);
    if (row !== -1) table.current?.focusRow(row);
    else if (state.day === today) jumpToNow();
    else table.current?.scrollToRow(0);
  }, [all, clockOffset, jumpToNow, shown, state.complete, state.day, today]);

  return (
    <Panel
      title={t.flights}
      className="flights-panel"
      id="flights"
      extra={
        <span className="quiet" role="status" data-testid="flight-count">
          {state.loading && !state.complete ? t.loading : t.flightsShown(shown.length, all.length)}
        </span>
      }
    >
      <form
        className="tools"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ find: query.trim() });
        }}
      >
        <DaySelect day={state.day} days={state.days} today={today} onChange={showDay} />
        <input
          type="search"
          value={query}
          onChange={(event) => setQuery({ q: event.target.value })}
          placeholder={t.filterHint}
          aria-label={t.filter}
        />
        <button type="submit" className="plain" disabled={query.trim() === ''} title={t.flight.searchHint}>
          {t.flight.searchAll}
        </button>
        <div className="switch" role="group" aria-label={t.filter}>
          {MOVEMENTS.map((choice) => (
            <button
              key={choice}
              type="button"
              aria-pressed={movement === choice}
              onClick={() => setQuery({ movement: choice === 'all' ? '' : choice })}
            >
              {choice === 'all' ? t.all : choice === 'A' ? t.arrivals : t.departures}
            </button>
          ))}
        </div>
        {state.day === today && (
          <button type="button" className="plain" onClick={jumpToNow}>
            {t.jumpToNow}
          </button>
        )}
      </form>
      {state.error !== null && <p className="is-bad">{state.error}</p>}
      <FlightsTable
        ref={table}
        rows={shown}
        changes={state.changes}
        day={state.day ?? today}
        zone={zone}
        onOpen={onOpen}
        empty={state.loading ? t.loading : all.length === 0 ? t.noFlights : t.noMatch}
      />
    </Panel>
  );
}
