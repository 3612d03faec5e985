/** The times of a flight and the use of its resources, as lanes over one axis. Pure; moments in ms. */
import type { CollectionName } from '../../domain/fields.ts';
import { SCALARS } from '../../domain/fields.ts';
import type { JsonObject } from '../../domain/json.ts';
import { entries, textAt, valueAt } from './flight-fields.ts';

/** From and to; null where that end is not known. */
export interface Stretch {
  readonly from: number | null;
  readonly to: number | null;
}

export interface Point {
  /** Path of the catalogue: names the point. */
  readonly path: string;
  readonly at: number;
}

export type Lane =
  | { readonly kind: 'scheduledTime' | 'estimatedTime' | 'actualTime'; readonly at: number }
  /** Every other time of the flight. */
  | { readonly kind: 'milestones'; readonly points: readonly Point[] }
  | {
      readonly kind: Resource;
      readonly code: string;
      readonly planned: Stretch | null;
      readonly actual: Stretch | null;
      readonly points: readonly Point[];
    };

/** Collections that are drawn as bars. */
export type Resource = Extract<CollectionName, 'stands' | 'gates' | 'checkins' | 'carousels' | 'chutes'>;
const RESOURCES: readonly Resource[] = ['stands', 'gates', 'checkins', 'carousels', 'chutes'];

export interface Timeline {
  readonly lanes: readonly Lane[];
  /** Ends of the axis. */
  readonly from: number;
  readonly to: number;
  /** The airport's offset from UTC as the flight's times carry it, ms. */
  readonly offset: number;
}

const MINUTE = 60_000;
const MAIN = ['scheduledTime', 'estimatedTime', 'actualTime'] as const;

/** Null where the flight has no time at all. */
export function timelineOf(flight: JsonObject): Timeline | null {
  const lanes: Lane[] = [];
  for (const kind of MAIN) {
    const at = momentAt(flight, kind);
    if (at !== null) lanes.push({ kind, at });
  }
  const points = SCALARS.filter(({ path, type }) => type === 'time' && !MAIN.some((main) => main === path))
    .flatMap(({ path }) => pointAt(flight, path))
    .sort((left, right) => left.at - right.at);
  if (points.length > 0) lanes.push({ kind: 'milestones', points });
  for (const kind of RESOURCES) {
    for (const entry of entries(flight, kind)) lanes.push(resourceLane(flight, kind, entry));
  }
  const moments = lanes.flatMap(momentsOf);
  if (moments.length === 0) return null;
  const first = Math.min(...moments);
  const last = Math.max(...moments);
  const margin = Math.max(10 * MINUTE, (last - first) * 0.04);
  return { lanes, from: first - margin, to: last + margin, offset: offsetOf(flight) };
}

function resourceLane(flight: JsonObject, kind: Resource, entry: JsonObject): Lane {
  const code = String(entry['code'] ?? '');
  const bags = kind === 'carousels';
  return {
    kind,
    code,
    planned: stretch(entry, 'plannedFrom', 'plannedTo'),
    actual:
      kind === 'stands'
        ? onBlocks(flight, code)
        : stretch(entry, bags ? 'firstBag' : 'actualFrom', bags ? 'lastBag' : 'actualTo'),
    points: kind === 'stands' ? ['push.time', 'tractorAt'].flatMap((path) => pointAt(entry, path)) : [],
  };
}

/** How long the aircraft really stood there, by its chocks. */
function onBlocks(flight: JsonObject, stand: string): Stretch | null {
  const chocks = entries(flight, 'chocks').filter((chock) => chock['stand'] === stand);
  const times = (indicator: string): readonly number[] =>
    chocks
      .filter((chock) => chock['indicator'] === indicator)
      .flatMap((chock) => momentAt(chock, 'time') ?? []);
  const on = times('ON');
  const off = times('OFF');
  if (on.length === 0 && off.length === 0) return null;
  return { from: on.length === 0 ? null : Math.min(...on), to: off.length === 0 ? null : Math.max(...off) };
}

function stretch(entry: JsonObject, from: string, to: string): Stretch | null {
  const begin = momentAt(entry, from);
  const end = momentAt(entry, to);
  return begin === null && end === null ? null : { from: begin, to: end };
}

function momentAt(object: JsonObject, path: string): number | null {
  const value = valueAt(object, path);
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

function pointAt(object: JsonObject, path: string): readonly Point[] {
  const at = momentAt(object, path);
  return at === null ? [] : [{ path, at }];
}

function momentsOf(lane: Lane): readonly number[] {
  if ('at' in lane) return [lane.at];
  const points = lane.points.map(({ at }) => at);
  if (lane.kind === 'milestones') return points;
  return [lane.planned, lane.actual]
    .flatMap((part) => (part === null ? [] : [part.from, part.to]))
    .concat(points)
    .filter((at) => at !== null);
}

function offsetOf(flight: JsonObject): number {
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)$/.exec(textAt(flight, 'scheduledTime')) ?? [];
  if (sign === undefined) return 0;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE;
}

const STEPS = [5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 7_200, 14_400].map(
  (minutes) => minutes * MINUTE,
);

/** Whole times of the airport's clock along the axis, at most so many. */
export function ticks({ from, to, offset }: Timeline, most: number): readonly number[] {
  const step = STEPS.find((each) => (to - from) / each <= most) ?? (to - from) / most;
  const found: number[] = [];
  for (let at = Math.ceil((from + offset) / step) * step - offset; at <= to; at += step) found.push(at);
  return found;
}

/** `08:20` at the airport; with the day where that is not the day of the flight. */
export function clockAt(at: number, offset: number, day: string): string {
  const local = new Date(at + offset).toISOString();
  return local.startsWith(day) ? local.slice(11, 16) : `${local.slice(5, 10)} ${local.slice(11, 16)}`;
}
