/** The times of a flight and its use of stands, gates, counters and belts as a picture, which is also told in words. */
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import type { FullFlight } from '../../api/flights.ts';
import type { Dictionary } from '../../i18n/en.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { fieldLabel } from '../../model/flight-fields.ts';
import { clockAt, ticks, timelineOf, type Lane, type Stretch, type Timeline } from '../../model/timeline.ts';
import { useClock } from '../../ui/live-context.tsx';
import { Panel } from '../../ui/panel.tsx';

/** Sizes, px. */
const LANE = 26;
const AXIS = 26;
const BAR = 12;
/** Room between labels of the axis. */
const TICK = 72;
/** Below this a label costs too much of the picture. */
const NARROW = 560;

export function TimelinePanel({ of }: { readonly of: FullFlight }): ReactNode {
  const { t } = useSpeech();
  const timeline = useMemo(() => timelineOf(of.flight), [of.flight]);
  return (
    <Panel
      title={t.flight.timeline}
      extra={
        timeline !== null && (
          <span className="legend-bars quiet" aria-hidden="true">
            <i className="planned" /> {t.flight.planned} <i className="actual" /> {t.flight.actual}
          </span>
        )
      }
    >
      {timeline === null ? (
        <p className="nothing">{t.flight.timelineNone}</p>
      ) : (
        <Picture timeline={timeline} day={of.operationDay} />
      )}
    </Panel>
  );
}

function Picture({ timeline, day }: { readonly timeline: Timeline; readonly day: string }): ReactNode {
  const { t, label } = useSpeech();
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const now = useClock();
  const { lanes, from, to, offset } = timeline;
  const left = width < NARROW ? 92 : 150;
  const x = (at: number): number => left + ((at - from) / (to - from)) * (width - left - 8);
  const clock = (at: number): string => clockAt(at, offset, day);
  const names = { words: t, field: (path: string) => t.attribute[path] ?? label(fieldLabel(path)), clock };
  const height = AXIS + lanes.length * LANE;
  return (
    <div className="timeline" ref={frame}>
      <svg width={width} height={height} role="img" aria-label={t.flight.timeline} data-testid="timeline">
        {ticks(timeline, Math.max(2, (width - left) / TICK)).map((at) => (
          <g key={at} className="tick">
            <line x1={x(at)} x2={x(at)} y1={AXIS - 6} y2={height} />
            <text x={x(at)} y={12} textAnchor="middle">
              {clock(at)}
            </text>
          </g>
        ))}
        {lanes.map((lane, index) => (
          <g
            key={index}
            transform={`translate(0 ${String(AXIS + index * LANE)})`}
            className={`lane of-${lane.kind}`}
          >
            <text x={0} y={LANE / 2 + 4}>
              {laneName(lane, names)}
            </text>
            <LaneView lane={lane} x={x} right={width - 8} start={startOf(timeline)} names={names} />
          </g>
        ))}
        {now > from && now < to && (
          <g className="now">
            <line x1={x(now)} x2={x(now)} y1={AXIS - 8} y2={height} />
            <title>{t.flight.now}</title>
          </g>
        )}
      </svg>
      <ul className="unseen">
        {lanes.map((lane, index) => (
          <li key={index}>{laneWords(lane, names)}</li>
        ))}
      </ul>
    </div>
  );
}

interface Names {
  readonly words: Dictionary;
  readonly field: (path: string) => string;
  readonly clock: (at: number) => string;
}

interface LaneProps {
  readonly lane: Lane;
  readonly x: (at: number) => number;
  readonly right: number;
  /** The scheduled time, from which the others are apart. */
  readonly start: number | null;
  readonly names: Names;
}

function LaneView({ lane, x, right, start, names }: LaneProps): ReactNode {
  const middle = LANE / 2;
  if ('at' in lane) {
    const at = x(lane.at);
    const text = names.clock(lane.at);
    // At the right edge the text stands before its mark.
    const before = at > right - 60;
    return (
      <>
        {start !== null && lane.at !== start && (
          <line className="apart" x1={x(start)} x2={at} y1={middle} y2={middle} />
        )}
        <path className="moment" d={`M${String(at)} ${String(middle - 6)}l6 6-6 6-6-6z`} />
        <text
          x={before ? at - 10 : at + 10}
          y={middle + 4}
          textAnchor={before ? 'end' : 'start'}
          className="clock"
        >
          {text}
        </text>
      </>
    );
  }
  return (
    <>
      {lane.kind !== 'milestones' && (
        <>
          <Bar of={lane.planned} kind="planned" x={x} right={right} />
          <Bar of={lane.actual} kind="actual" x={x} right={right} />
        </>
      )}
      {lane.points.map(({ path, at }) => (
        <g key={path} className="point">
          <line x1={x(at)} x2={x(at)} y1={middle - 9} y2={middle + 9} />
          <circle cx={x(at)} cy={middle} r={4} />
          <title>{`${names.field(path)} ${names.clock(at)}`}</title>
        </g>
      ))}
    </>
  );
}

interface BarProps {
  readonly of: Stretch | null;
  readonly kind: 'planned' | 'actual';
  readonly x: (at: number) => number;
  readonly right: number;
}

/** An end that is not known is open: the bar goes on to the edge, or begins there, without a border. */
function Bar({ of, kind, x, right }: BarProps): ReactNode {
  if (of === null) return null;
  const from = of.from === null ? null : x(of.from);
  const to = of.to === null ? null : x(of.to);
  const begin = from ?? Math.max(0, (to ?? right) - 24);
  const end = to ?? (kind === 'actual' ? Math.min(right, begin + 24) : right);
  const top = (LANE - BAR) / 2 + (kind === 'actual' ? 3 : 0);
  const open = from === null || to === null;
  return (
    <rect
      className={`bar ${kind} ${open ? 'is-open' : ''}`}
      x={begin}
      width={Math.max(2, end - begin)}
      y={top}
      height={kind === 'actual' ? BAR - 6 : BAR}
      rx={3}
    />
  );
}

const startOf = ({ lanes }: Timeline): number | null => {
  const first = lanes.find(({ kind }) => kind === 'scheduledTime');
  return first !== undefined && 'at' in first ? first.at : null;
};

function laneName(lane: Lane, { words, field }: Names): string {
  if ('at' in lane) return field(lane.kind);
  return lane.kind === 'milestones'
    ? words.flight.milestones
    : `${words.flight.resource[lane.kind]} ${lane.code}`;
}

/** A lane in a sentence, for whoever does not see the picture. */
function laneWords(lane: Lane, names: Names): string {
  const { words, field, clock } = names;
  const name = laneName(lane, names);
  if ('at' in lane) return `${name} ${clock(lane.at)}`;
  const stretch = (part: Stretch | null, kind: string): readonly string[] =>
    part === null
      ? []
      : [
          `${kind} ${part.from === null ? words.flight.open : clock(part.from)} – ${part.to === null ? words.flight.open : clock(part.to)}`,
        ];
  const bars =
    lane.kind === 'milestones'
      ? []
      : [...stretch(lane.planned, words.flight.planned), ...stretch(lane.actual, words.flight.actual)];
  const points = lane.points.map(({ path, at }) => `${field(path)} ${clock(at)}`);
  return `${name}: ${[...bars, ...points].join(', ')}`;
}

function useWidth(frame: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(900);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(Math.max(280, element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame]);
  return width;
}
