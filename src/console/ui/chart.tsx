/** Lines over time, drawn by uPlot; said in words for who does not see them, and as a table for who wants the numbers. */
import { useEffect, useMemo, useRef, useState, useSyncExternalStore, type ReactNode } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useSpeech } from '../i18n/language.tsx';
import { summaryOf, type Line } from '../model/chart.ts';
import { airportClock } from '../model/time.ts';
import './chart.css';

export interface ChartLine {
  readonly name: string;
  readonly values: Line;
}

interface ChartProps {
  readonly title: string;
  /** s since 1970. */
  readonly at: readonly number[];
  readonly lines: readonly ChartLine[];
  readonly timeZone: string;
  readonly format: (value: number) => string;
  /** Things that are counted: the axis has no parts of one. */
  readonly whole?: boolean;
}

/** Steps of an axis of counted things. */
const WHOLE = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000].flatMap((ten) => [ten, 2 * ten, 5 * ten]);

/** Colour and dashes of the lines: each has both, so that colour is not the only carrier. */
const STROKES = [
  ['--accent', []],
  ['--person', [6, 4]],
  ['--wait', [2, 3]],
] as const;
const HEIGHT = 190;

export function Chart({ title, at, lines, timeZone, format, whole = false }: ChartProps): ReactNode {
  const { t } = useSpeech();
  const [place, setPlace] = useState<number | null>(null);
  const told = (value: number | null | undefined): string =>
    value === null || value === undefined ? '–' : format(value);
  const words = lines.map(({ name, values }) => {
    const { newest, peak } = summaryOf(values);
    return t.act.chartSays(name, told(newest), told(peak));
  });
  const under = place === null ? null : (at[place] ?? null);
  return (
    <figure className="chart">
      <figcaption>
        <span className="chart-title">{title}</span>
        <span className="quiet" aria-hidden="true">
          {under === null ? '' : airportClock(under * 1_000, timeZone).slice(0, 5)}
        </span>
        <ul className="chart-lines" aria-hidden="true">
          {lines.map(({ name, values }, index) => (
            <li key={name} className={`line-${String(index)}`}>
              <svg viewBox="0 0 24 6" width="24" height="6">
                <path d="M0 3H24" />
              </svg>
              {name} <b>{told(place === null ? summaryOf(values).newest : values[place])}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <div role="img" aria-label={`${title}. ${words.join('. ')}`}>
        <Plot at={at} lines={lines} timeZone={timeZone} format={format} whole={whole} onPlace={setPlace} />
      </div>
      <details>
        <summary>{t.act.asTable}</summary>
        <div className="list-scroll chart-table" tabIndex={0} role="region" aria-label={title}>
          <table className="list">
            <thead>
              <tr>
                <th scope="col">{t.act.time}</th>
                {lines.map(({ name }) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {at
                .map((moment, index) => (
                  <tr key={moment}>
                    <th scope="row">{airportClock(moment * 1_000, timeZone).slice(0, 5)}</th>
                    {lines.map(({ name, values }) => (
                      <td key={name}>{told(values[index])}</td>
                    ))}
                  </tr>
                ))
                .reverse()}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

interface PlotProps extends Omit<ChartProps, 'title'> {
  /** The index under the pointer; null where it is elsewhere. */
  readonly onPlace: (place: number | null) => void;
}

function Plot({ at, lines, timeZone, format, whole = false, onPlace }: PlotProps): ReactNode {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const dark = useDark();
  const data = useMemo(
    () => [at, ...lines.map(({ values }) => values)] as unknown as uPlot.AlignedData,
    [at, lines],
  );
  const newest = useRef({ data, format });
  newest.current = { data, format };
  const count = lines.length;

  useEffect(() => {
    const element = holder.current;
    if (element === null) return undefined;
    const colour = (name: string): string => getComputedStyle(element).getPropertyValue(name).trim();
    const axis = {
      stroke: colour('--quiet'),
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { show: false },
    };
    const made = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), timeZone),
        cursor: { drag: { x: false, y: false }, y: false },
        scales: { y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
        axes: [
          { ...axis, size: 30, values: '{HH}:{mm}' },
          {
            ...axis,
            ...(whole ? { incrs: WHOLE } : {}),
            size: 62,
            values: (_plot, values) => values.map((value) => newest.current.format(value)),
          },
        ],
        series: [
          {},
          ...STROKES.slice(0, count).map(([name, dash]) => ({
            ...{ stroke: colour(name), width: 2, dash: [...dash] },
            // A value alone between gaps is no line, but a point.
            points: { size: 4, fill: colour(name) },
          })),
        ],
        hooks: { setCursor: [({ cursor }) => onPlace(cursor.idx ?? null)] },
      },
      newest.current.data,
      element,
    );
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
    };
    // Colours are read from the theme when it is made.
  }, [count, timeZone, dark, whole, onPlace]);
  useEffect(() => {
    plot.current?.setData(data);
  }, [data]);
  return <div ref={holder} className="plot" />;
}

const SCHEME = '(prefers-color-scheme: dark)';

function useDark(): boolean {
  return useSyncExternalStore(
    (changed) => {
      const query = window.matchMedia(SCHEME);
      query.addEventListener('change', changed);
      return () => query.removeEventListener('change', changed);
    },
    () => window.matchMedia(SCHEME).matches,
  );
}
