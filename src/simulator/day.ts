/**
 * A believable day of the airport as steps for its mailbox: reference data, schedule, then each flight's life in
 * operational order, with the shares of repeats, faults, holes and late commits that were asked for. Pure: the
 * seed alone decides.
 */
import { baseDay, type BaseDay } from './base.ts';
import { dayTimes, type DayTimes } from './local-time.ts';
import { poison, poisonClass } from './poison.ts';
import { hashOf, randomStream, type Random } from './random.ts';
import { MAX_COUNT, type DayOptions, type Draft, type Step } from './steps.ts';
import { answerRecord } from './schedule.ts';
import { message } from './xml.ts';

/** One place in the day; texts are written when it is reached. */
type Place =
  | { readonly kind: 'base'; readonly index: number }
  | { readonly kind: 'duplicate'; readonly of: number; readonly changed: boolean }
  | { readonly kind: 'poison'; readonly number: number }
  | { readonly kind: 'unsupported' }
  | { readonly kind: 'hole' };

interface Lateness {
  readonly beyondDelay: boolean;
  readonly after: number;
}

const DEFAULT_AIRPORT = 'HGH';
/** A repeat follows its original within so many messages, mostly. */
const NEAR = 40;
const CHANGED_SHARE = 0.12;
const MOST_AFTER = 20;
const LAST_SEQUENCE = 999_999;
/** Distance between the first counters of one day and the next: no day meets the one before. */
const SEQUENCES_PER_DAY = 100_003;

/**
 * Makes a day of exactly `count` messages; holes come on top. Iterating again gives the same steps again.
 *
 * @throws RangeError where the options contradict each other or the day does not exist; one line for people
 */
export function simulateDay(options: DayOptions): Iterable<Step> {
  checkShares(options);
  const { seed } = options;
  const airport = options.airport ?? DEFAULT_AIRPORT;
  const times = dayTimes(options.day, options.timeZone);
  const { extras, wanted } = sharesOf(options);
  const base = baseDay(wanted, { seed, airport, times });
  const random = randomStream(seed, `places ${times.day}`);
  const late = new Map<number, Lateness>();
  const places = arrange(base, extras, random);
  chooseLate(places, base.drafts, Math.round(options.count * options.late), random, late);
  return { [Symbol.iterator]: () => write({ places, late, base, times, seed, airport }) };
}

/**
 * The records of the day's scheduled flights with what no update changes: an answer to a request during the day must not
 * take back what has been told since. Throws like {@link simulateDay}.
 */
export function plannedRecords(options: DayOptions): readonly string[] {
  checkShares(options);
  const airport = options.airport ?? DEFAULT_AIRPORT;
  const times = dayTimes(options.day, options.timeZone);
  const { scheduled } = baseDay(sharesOf(options).wanted, { seed: options.seed, airport, times });
  return scheduled.map((flight) => answerRecord(flight, times));
}

/** Messages that come on top of the day's own, and how many are left for those. */
function sharesOf(options: DayOptions) {
  const share = (of: number) => Math.round(options.count * of);
  const extras = {
    duplicates: share(options.duplicates),
    poison: share(options.poison),
    unsupported: share(options.unsupported),
    holes: share(options.holes),
  };
  const wanted = options.count - extras.duplicates - extras.poison - extras.unsupported;
  if (wanted < 1)
    throw new RangeError('duplicates, poison and unsupported leave no message of the day itself');
  return { extras, wanted };
}

function checkShares(options: DayOptions): void {
  const { count } = options;
  if (!Number.isInteger(count) || count < 1 || count > MAX_COUNT) {
    throw new RangeError(`count must be a whole number from 1 to ${MAX_COUNT}`);
  }
  for (const name of ['duplicates', 'poison', 'holes', 'late', 'unsupported'] as const) {
    if (!(options[name] >= 0 && options[name] <= 1)) throw new RangeError(`${name} must be from 0 to 1`);
  }
}

/** Puts the extras between the messages of the day. */
function arrange(
  { drafts, opening }: BaseDay,
  extras: { duplicates: number; poison: number; unsupported: number; holes: number },
  random: Random,
): Place[] {
  const last = drafts.length - 1;
  const following = new Map<number, Place[]>();
  const put = (after: number, place: Place) => {
    const there = following.get(after);
    if (there === undefined) following.set(after, [place]);
    else there.push(place);
  };
  for (let number = 0; number < extras.duplicates; number++) {
    const of = random.int(0, last);
    const distance = random.chance(0.9) ? random.int(0, NEAR) : random.int(0, last);
    const changed = drafts[of]?.kind === 'operation' && random.chance(CHANGED_SHARE);
    put(Math.min(last, of + distance), { kind: 'duplicate', of, changed });
  }
  // Only after the schedule: a faulty message may name flights that must be known by then.
  const afterOpening = Math.min(last, Math.max(0, opening - 1));
  for (let number = 0; number < extras.poison; number++) {
    put(random.int(afterOpening, last), { kind: 'poison', number });
  }
  for (let number = 0; number < extras.unsupported; number++) {
    put(random.int(0, last), { kind: 'unsupported' });
  }
  for (let number = 0; number < extras.holes; number++) {
    // Before the last message, so that each one can be seen.
    put(random.int(-1, last - 1), { kind: 'hole' });
  }
  return [
    ...(following.get(-1) ?? []),
    ...drafts.flatMap((_, index): Place[] => [{ kind: 'base', index }, ...(following.get(index) ?? [])]),
  ];
}

/**
 * Only operational updates are late: a late schedule would change what later messages are judged to be. A message
 * with a repeat is not late, because the repeat would then be taken for the original.
 */
function chooseLate(
  places: readonly Place[],
  drafts: readonly Draft[],
  wanted: number,
  random: Random,
  late: Map<number, Lateness>,
): void {
  if (wanted === 0) return;
  const repeated = new Set(places.flatMap((place) => (place.kind === 'duplicate' ? [place.of] : [])));
  // Messages that come after each place.
  let later = 0;
  const candidates: { index: number; later: number }[] = [];
  for (const place of [...places].reverse()) {
    if (place.kind === 'hole') continue;
    if (place.kind === 'base' && later > 0 && !repeated.has(place.index)) {
      if (drafts[place.index]?.kind === 'operation') candidates.push({ index: place.index, later });
    }
    later += 1;
  }
  if (candidates.length < wanted) throw new RangeError('late is too large: too few messages may be late');
  const chosen = random.shuffle(candidates).slice(0, wanted);
  chosen.forEach(({ index, later: possible }, number) => {
    late.set(index, {
      beyondDelay: number % 2 === 0,
      after: Math.min(possible, random.int(1, MOST_AFTER)),
    });
  });
}

interface Writing {
  readonly places: readonly Place[];
  readonly late: ReadonlyMap<number, Lateness>;
  readonly base: BaseDay;
  readonly times: DayTimes;
  readonly seed: string;
  readonly airport: string;
}

function* write({ places, late, base, times, seed, airport }: Writing): Generator<Step> {
  const random = randomStream(seed, `poison ${times.day}`);
  const next = counters(seed, times);
  const repeated = new Set(places.flatMap((place) => (place.kind === 'duplicate' ? [place.of] : [])));
  const originals = new Map<number, string>();
  let dttm = times.meta((base.drafts[0]?.at ?? 0) - 60);
  for (const place of places) {
    switch (place.kind) {
      case 'base': {
        const draft = base.drafts[place.index];
        if (draft === undefined) throw new Error('a place without its message');
        dttm = times.meta(draft.at);
        const { sender, type, subtype, payload, kind } = draft;
        const text = message({ sender, sequence: next(sender), dttm, type, subtype }, payload);
        if (repeated.has(place.index)) originals.set(place.index, text);
        const lateness = late.get(place.index);
        yield lateness === undefined
          ? { kind: 'message', text, note: { about: kind } }
          : { kind: 'late', text, note: { about: kind }, ...lateness };
        break;
      }
      case 'duplicate': {
        const original = originals.get(place.of) ?? '';
        const text = place.changed
          ? original.replace('</FLOP>', '<REMC>重发，内容有变</REMC></FLOP>')
          : original;
        yield { kind: 'message', text, note: { about: 'duplicate', changed: place.changed } };
        break;
      }
      case 'poison': {
        const errorClass = poisonClass(place.number);
        const flight = random.pick(base.scheduled);
        const sequence = () => next('AODB');
        const { what, text } = poison(errorClass, { times, airport, random, flight, dttm, sequence });
        yield { kind: 'message', text, note: { about: 'poison', errorClass, what } };
        break;
      }
      case 'unsupported': {
        const meta = { sender: 'AODB', sequence: next('AODB'), dttm, type: 'SCHS', subtype: 'DNLD' };
        const text = message(meta, '<SCHS><RECS>0</RECS></SCHS>');
        yield { kind: 'message', text, note: { about: 'unsupported' } };
        break;
      }
      case 'hole':
        yield { kind: 'hole' };
    }
  }
}

/** One counter per sender, six digits, coming round after 999999. */
function counters(seed: string, { dayNumber }: DayTimes): (sender: string) => string {
  const last = new Map<string, number>();
  return (sender) => {
    const start = hashOf(`${seed} ${sender}`) + dayNumber * SEQUENCES_PER_DAY;
    const value = ((last.get(sender) ?? start) % LAST_SEQUENCE) + 1;
    last.set(sender, value);
    return String(value).padStart(6, '0');
  };
}
