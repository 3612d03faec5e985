/** Invariant 6: what the target holds against what we believe to have told it. */
import { publishedFlight, type Publication } from '../../domain/event.ts';
import { jsonEqual, type Json, type JsonObject } from '../../domain/json.ts';
import {
  eventTotals,
  latestFactsAfter,
  sentEventsAfter,
  versionNow,
  type LatestFact,
} from '../../store/audit-facts.ts';
import type { Queryable } from '../../store/database.ts';
import { hasJournal, readMessageJournal, readStateJournal, type ToldState } from './journal.ts';
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
  const offenders = [...journal.disorder];
  let after = -1n;
  for (;;) {
    const page = await sentEventsAfter(snapshot, after, PAGE);
    for (const { eventId, flid, version } of page) {
      if (journal.events.has(eventId.toString())) continue;
      offenders.push(
        `event ${eventId.toString()} of flight ${flid}, version ${String(version)}, is SENT but not in the journal`,
      );
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    after = last.eventId;
  }
  offenders.push(...(await wrongStates(snapshot, live, told.last, publication)));
  return finding(
    6,
    { ...counted, journalLines: journal.lines + told.lines, flights: told.last.size },
    offenders.slice(0, MOST_NOTES),
  );
}

async function wrongStates(
  snapshot: Queryable,
  live: Queryable,
  last: ReadonlyMap<string, readonly ToldState[]>,
  publication: Publication,
): Promise<readonly string[]> {
  const offenders: string[] = [];
  let after = '';
  for (;;) {
    const page = await latestFactsAfter(snapshot, after, PAGE);
    for (const fact of page) {
      if (!fact.sent || agrees(fact, last.get(fact.flid) ?? [], publication)) continue;
      const now = await versionNow(live, fact.flid);
      if (now !== null && now !== fact.version) continue;
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
    newest.version === fact.version &&
    jsonEqual(publishedFlight(fact.state as JsonObject, publication), newest.flight as Json)
  );
}
