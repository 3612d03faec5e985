/** The checker finds nothing in a good run, and each kind of fault in the same run once it is tampered with. */
import { beforeAll, describe, expect, it } from 'vitest';
import { play } from '../../src/simulator/writer.ts';
import { createTestDatabase, postgresMissing } from '../kit/postgres.ts';
import { createPipeline } from '../kit/service-pipeline.ts';
import { daySteps } from '../scenarios/simulated.ts';
import { check } from './checker/check.ts';
import type { EventRow, Facts, FlightRow, MessageRow, Told } from './checker/facts.ts';
import { readFacts } from './read-facts.ts';

let good: Facts;

/** The run: a day with repeats, poison, holes, unsupported and late messages; and topics with the broker's times. */
async function run(): Promise<Facts> {
  const { url: databaseUrl } = await createTestDatabase();
  const pipeline = await createPipeline({
    databaseUrl,
    settings: { pipeline: { 'max-hole-hold': '300ms' } },
  });
  try {
    await pipeline.start();
    const shares = { duplicates: 0.03, poison: 0.04, unsupported: 0.01, holes: 0.02, late: 0.01 };
    const steps = daySteps({ count: 700, ...shares });
    // Held far longer than the pipeline waits, so that it has passed their IDs by then.
    await play({ mailbox: pipeline.mailbox, steps, rate: 0, maxCommitDelayMs: 4_000 });
    await pipeline.drained();
    const facts = await readFacts(pipeline);
    // A journal knows no times: those of the first telling, as a broker notes them.
    const sent = new Map(facts.events.map(({ eventId, sentAt }) => [eventId, sentAt]));
    const changes = facts.changes.map((told) => ({ ...told, at: (sent.get(told.eventId) ?? 0) - 5 }));
    return { ...facts, changes };
  } finally {
    await pipeline.close();
  }
}

describe.skipIf(postgresMissing !== null)('the checker', () => {
  beforeAll(async () => {
    good = await run();
  }, 120_000);

  it('finds nothing in a good run', () => {
    expect(check(good)).toEqual([]);
    expect(good.changes.length).toBeGreaterThan(500);
    expect(good.messages.filter(({ late }) => late).length).toBeGreaterThan(0);
    expect(good.flights.some(({ deleted }) => deleted)).toBe(true);
  });

  it('takes an event that is told again before it was recorded as SENT', () => {
    const again = tellAgain(0);
    expect(check({ ...good, changes: again })).toEqual([]);
  });

  it.each<[string, () => Partial<Facts>, string, (facts: Facts) => string]>([
    [
      'a message that the mailbox has lost',
      () => ({ acknowledged: new Set([...good.acknowledged, 99_999n]) }),
      'lost',
      () => 'message 99999',
    ],
    [
      'a message that was never taken in',
      () => ({
        messages: good.messages.filter((row) => row !== quiet()),
        mailbox: change(good.mailbox, row(quiet()), () => ({ markedAt: null })),
      }),
      'lost',
      () => message(quiet()),
    ],
    [
      'a message that was taken in from nowhere',
      () => ({ messages: [...good.messages, { ...quiet(), id: 99_999n, terminalSeq: 99_999n }] }),
      'invented',
      () => 'message 99999',
    ],
    [
      'an event that is missing from the topic',
      () => ({ changes: good.changes.filter((told) => told !== updated()) }),
      'lost',
      () => event(updated()),
    ],
    [
      'a change of which neither an event nor a telling is left',
      () => ({
        changes: good.changes.filter((told) => told !== newest()),
        events: good.events.filter(({ eventId }) => eventId !== newest().eventId),
        flights: change(good.flights, storedOf(newest()), ({ version }) => ({ version: version - 1 })),
        states: good.states,
      }),
      'lost, version-gap',
      () => `flight ${newest().key}`,
    ],
    [
      'an event that is still waiting',
      () => ({
        events: change(good.events, storedEvent(updated()), () => ({ state: 'PENDING', sentAt: null })),
      }),
      'lost',
      () => event(updated()),
    ],
    [
      'an event that is told again after it was recorded as SENT',
      () => ({ changes: tellAgain(60_000) }),
      'duplicated',
      () => event(updated()),
    ],
    [
      'a change that is told as two events',
      () => {
        const second: Told = { ...updated(), eventId: '99999' };
        return { changes: good.changes.flatMap((told) => (told === updated() ? [told, second] : [told])) };
      },
      'duplicated',
      () => 'event 99999',
    ],
    [
      'a message that is applied as well as its repeat',
      () => ({ messages: change(good.messages, repeat(), () => ({ state: 'SUCCEEDED', reason: null })) }),
      'duplicated, wrong-outcome',
      () => message(repeat()),
    ],
    [
      'two changes of a flight told the wrong way round',
      () => ({ changes: swapped(good.changes, ...neighbours(good.changes)) }),
      'reordered',
      () => `flight ${neighbours(good.changes)[0].key}`,
    ],
    [
      'two states of a flight told the wrong way round',
      () => {
        const [older, newer] = neighbours(good.states);
        // The last one is told once more, so that only the order is wrong.
        return { states: [...swapped(good.states, older, newer), latest(good.states, older.key)] };
      },
      'reordered',
      () => `flight ${neighbours(good.states)[0].key}`,
    ],
    [
      'a message that ended after a later one',
      () => {
        const [first, second] = quietPair();
        const given = change(good.messages, first, () => ({ terminalSeq: second.terminalSeq }));
        return { messages: change(given, second, () => ({ terminalSeq: first.terminalSeq })) };
      },
      'reordered',
      () => '',
    ],
    [
      'a message called late into no hole',
      () => ({ released: good.released.filter(({ from, to }) => lateOne().id < from || to < lateOne().id) }),
      'reordered',
      () => message(lateOne()),
    ],
    [
      'another field of a stored flight',
      () => ({
        flights: change(good.flights, stored(), ({ state }) => ({
          state: { ...(state as object), remark: 'x' },
        })),
      }),
      'wrong-state',
      () => `flight ${stored().flid}`,
    ],
    [
      'a flight that is there although it was deleted',
      () => ({ flights: change(good.flights, deleted(), () => ({ deleted: false })) }),
      'wrong-state',
      () => `flight ${deleted().flid}`,
    ],
    [
      'another field in an event',
      () => ({
        changes: change(good.changes, updated(), ({ value }) => ({
          value: { ...value, flight: { ...(value?.['flight'] as object), remark: 'x' } },
        })),
      }),
      'wrong-state',
      () => event(updated()),
    ],
    [
      'another last state',
      () => {
        const last = latest(good.states, stored().flid);
        return { states: change(good.states, last, () => ({ value: null })) };
      },
      'wrong-state',
      () => `flight ${stored().flid}`,
    ],
    [
      'a last state of another version',
      () => {
        const last = latest(good.states, stored().flid);
        return {
          states: change(good.states, last, ({ value }) => ({ value: { ...value, stateVersion: 99 } })),
        };
      },
      'wrong-state',
      () => `flight ${stored().flid}`,
    ],
    [
      'a row of reference data that is inactive',
      () => ({
        reference: good.reference.map((row, index) => (index === 0 ? { ...row, active: false } : row)),
      }),
      'wrong-state',
      () => `reference ${good.reference[0]?.rtype ?? ''} ${good.reference[0]?.rkey ?? ''}`,
    ],
    [
      'a message that was given up instead of refused',
      () => ({
        messages: change(good.messages, quiet(), () => ({
          state: 'DEAD',
          errorClass: 'MALFORMED',
          reason: 'raw-missing',
        })),
      }),
      'wrong-outcome',
      () => message(quiet()),
    ],
    [
      'a mark that is missing',
      () => ({ mailbox: change(good.mailbox, row(quiet()), () => ({ markedAt: null })) }),
      'unmarked',
      () => message(quiet()),
    ],
    [
      'a mark that is older than the end',
      () => ({
        mailbox: change(good.mailbox, row(quiet()), ({ markedAt }) => ({
          markedAt: (markedAt ?? 0) - 3_000,
        })),
      }),
      'marked-early',
      () => message(quiet()),
    ],
    [
      'a mark that was seen before the end',
      () => ({ seenMarkedEarly: [quiet().id] }),
      'marked-early',
      () => message(quiet()),
    ],
    [
      'a version that was left out',
      () => ({ events: good.events.filter(({ eventId }) => eventId !== updated().eventId) }),
      'version-gap',
      () => `flight ${updated().key}`,
    ],
    [
      'a version too many',
      () => ({ flights: change(good.flights, stored(), ({ version }) => ({ version: version + 1 })) }),
      'version-gap',
      () => `flight ${stored().flid}`,
    ],
    [
      'a flight that is not stored',
      () => ({ flights: good.flights.filter((flight) => flight !== stored()) }),
      'lost',
      () => `flight ${stored().flid}`,
    ],
  ])('finds %s', (_, tamper, kinds, subject) => {
    const findings = check({ ...good, ...tamper() });
    expect(findings.length, JSON.stringify(findings)).toBeGreaterThan(0);
    expect([...new Set(findings.map(({ kind }) => kind))].sort().join(', '), JSON.stringify(findings)).toBe(
      kinds,
    );
    const wanted = subject(good);
    if (wanted !== '') expect(findings.map((finding) => finding.subject)).toContain(wanted);
    if (wanted !== '' && !kinds.includes(',')) expect(findings).toHaveLength(1);
  });
});

function first<T>(rows: readonly T[], wanted: (row: T) => boolean): T {
  const found = rows.find(wanted);
  if (found === undefined) throw new Error('the run has none of these');
  return found;
}

const versionOf = ({ value }: Told) => Number(value?.['stateVersion']);
/** A message that changes nothing and binds no identity: nothing else depends on it. */
const quiet = () => first(good.messages, ({ errorClass }) => errorClass === 'MALFORMED');
const lateOne = () => first(good.messages, ({ late }) => late);
const repeat = () => first(good.messages, ({ reason }) => reason?.startsWith('duplicate-of:') === true);
const deleted = () => first(good.flights, (flight) => flight.deleted);
const stored = (): FlightRow => first(good.flights, (flight) => !flight.deleted && flight.version > 3);
/** The second change of a flight that has more. */
const updated = () => first(good.changes, (told) => told.key === stored().flid && versionOf(told) === 2);
/** The last change of a flight. */
const newest = () =>
  first(good.changes, (told) => told.key === stored().flid && versionOf(told) === stored().version);
const storedOf = (told: Told) => first(good.flights, ({ flid }) => flid === told.key);
const storedEvent = (told: Told): EventRow => first(good.events, ({ eventId }) => eventId === told.eventId);
const row = ({ id }: MessageRow) => first(good.mailbox, (one) => one.id === id);

/** Two neighbours in the order of ends that change nothing, so that only their order is wrong. */
function quietPair(): readonly [MessageRow, MessageRow] {
  const quiet = good.messages.filter(({ errorClass }) => errorClass === 'MALFORMED');
  const [one, two] = quiet.toSorted((left, right) => (left.id < right.id ? -1 : 1));
  if (one === undefined || two === undefined) throw new Error('the run has no two of these');
  return [one, two];
}

/** Two tellings of a flight that stand one before the other. */
function neighbours(list: readonly Told[]): readonly [Told, Told] {
  for (const told of list) {
    const next = list.slice(list.indexOf(told) + 1).find(({ key }) => key === told.key);
    if (next?.value != null && told.value !== null && versionOf(next) > versionOf(told)) return [told, next];
  }
  throw new Error('the run has no two of these');
}

function latest(list: readonly Told[], flid: string): Told {
  return first(list.toReversed(), ({ key }) => key === flid);
}

function swapped(list: readonly Told[], one: Told, other: Told): readonly Told[] {
  return list.map((told) => (told === one ? other : told === other ? one : told));
}

/** The run's topic with one event of a flight told twice in a row, the second time so much later. */
function tellAgain(later: number): readonly Told[] {
  const twice = { ...updated(), at: (updated().at ?? 0) + later };
  return good.changes.flatMap((told) => (told === updated() ? [told, twice] : [told]));
}

function change<T>(rows: readonly T[], one: T, changed: (row: T) => Partial<T>): readonly T[] {
  return rows.map((each) => (each === one ? { ...each, ...changed(each) } : each));
}

function message({ id }: MessageRow): string {
  return `message ${String(id)}`;
}

function event({ eventId }: Told): string {
  return `event ${eventId}`;
}
