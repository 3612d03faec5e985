/** Invariant 6: what the target holds against what we believe to have told it. */
import { publishedFlight, type Publication } from '../../domain/event.ts';
import { jsonEqual, type Json, type JsonObject } from '../../domain/json.ts';
import {
  eventTotals,
  latestFactsAfter,
  sentAtOf,
  sentEventsAfter,
  versionNow,
  type LatestFact,
  type SentEvent,
} from '../../store/audit-facts.ts';
import type { Queryable } from '../../store/database.ts';
import { toMillis } from '../../store/time.ts';
import {
  hasJournal,
  readMessageJournal,
  readStateJournal,
  type MessageJournal,
  type StateJournal,
  type ToldState,
} from './journal.ts';
import { finding, type Finding } from './report.ts';

const PAGE = 5_000;
const MOST_NOTES = 20;

/** Where events went; the audit reads a journal itself. */
export type Target = { readonly kind: 'journal'; readonly directory: string } | { readonly kind: 'kafka' };

/**
 * Compares the journal with the snapshot.
 *
 * @param snapshot the audit's consistent view
 * @param live the database as it goes on, to tell a change since the snapshot from a fault
 */
export async function verifyDelivered(
  snapshot: Queryable,
  live: Queryable,
  target: Target,
  publication: Publication,
): Promise<Finding> {
  const messages = await eventTotals(snapshot, 'KAFKA:msg');
  const states = await eventTotals(snapshot, 'KAFKA:schd');
  const counted = {
    sentEvents: messages.sent,
    pendingEvents: messages.pending + states.pending,
    deadEvents: messages.dead + states.dead,
    droppedEvents: messages.dropped + states.dropped,
  };
  if (target.kind === 'kafka') return finding(6, counted, [], 'the topics are not read by this version');
  if (!(await hasJournal(target.directory))) {
    if (messages.sent + states.sent === 0) return finding(6, counted, []);
    return finding(6, counted, [], `there is no journal in ${target.directory}`);
  }
  const journal = await readMessageJournal(target.directory);
  const told = await readStateJournal(target.directory);
  if (journal.oldest === null && messages.sent > 0) {
    return finding(6, counted, [], `the journal in ${target.directory} is empty`);
  }
  const offenders = [...journal.disorder];
  const isBefore = await scopeOf(snapshot, journal.oldest);
  let beforeJournal = 0;
  let after = -1n;
  for (;;) {
    const page = await sentEventsAfter(snapshot, after, PAGE);
    for (const event of page) {
      const { eventId, flid, version } = event;
      if (journal.events.has(eventId.toString())) continue;
      if (isBefore(event)) {
        beforeJournal += 1;
        continue;
      }
      offenders.push(
        `event ${eventId.toString()} of flight ${flid}, version ${String(version)}, is SENT but not in the journal`,
      );
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    after = last.eventId;
  }
  offenders.push(...(await wrongStates(snapshot, live, journal, told, publication)));
  return finding(
    6,
    { ...counted, beforeJournal, journalLines: journal.lines + told.lines, flights: told.last.size },
    offenders.slice(0, MOST_NOTES),
  );
}

/**
 * Whether an event was sent before the oldest record: a journal that was rotated knows nothing of it. By the
 * time of sending, because a retried event goes out after younger ones.
 */
async function scopeOf(snapshot: Queryable, oldest: bigint | null): Promise<(event: SentEvent) => boolean> {
  if (oldest === null) return () => false;
  const sentAt = await sentAtOf(snapshot, oldest);
  if (sentAt === null) return ({ eventId }) => eventId < oldest;
  const from = toMillis(sentAt);
  return (event) => toMillis(event.sentAt) < from;
}

async function wrongStates(
  snapshot: Queryable,
  live: Queryable,
  journal: MessageJournal,
  told: StateJournal,
  publication: Publication,
): Promise<readonly string[]> {
  const offenders: string[] = [];
  let after = '';
  for (;;) {
    const page = await latestFactsAfter(snapshot, after, PAGE);
    for (const fact of page) {
      const states = told.last.get(fact.flid);
      if (!fact.sent || agrees(fact, states ?? [], publication)) continue;
      // Neither file names the flight: it was told before the oldest record of both.
      if (states === undefined && !journal.flights.has(fact.flid)) continue;
      // Told again since the snapshot, because it has changed or gone.
      if ((await versionNow(live, fact.flid)) !== fact.flightVersion) continue;
      offenders.push(
        `flight ${fact.flid}: the last state told is not version ${String(fact.version)} as stored`,
      );
    }
    const place = page.at(-1);
    if (place === undefined || page.length < PAGE) return offenders;
    after = place.flid;
  }
}

function agrees(fact: LatestFact, told: readonly ToldState[], publication: Publication): boolean {
  const newest = told.at(-1);
  if (newest === undefined) return false;
  if (fact.state === null) return newest.flight === null;
  if (newest.flight === null) return false;
  return (
    fact.state['flid'] === fact.flid &&
    newest.version === fact.version &&
    jsonEqual(publishedFlight(fact.state as JsonObject, publication), newest.flight as Json)
  );
}
