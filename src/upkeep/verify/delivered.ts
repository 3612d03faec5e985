/** Invariant 6: what the target holds against what we believe to have told it. */
import { publishedFlight, type Publication } from '../../domain/event.ts';
import type { JsonObject } from '../../domain/json.ts';
import {
  eventTotals,
  latestFactsAfter,
  retriedEvents,
  sentAtOf,
  sentEventsAfter,
  versionNow,
  type LatestFact,
  type SentEvent,
} from '../../store/audit-events.ts';
import type { Queryable } from '../../store/statement.ts';
import { toMillis } from '../../store/time.ts';
import { finding, type Finding } from './report.ts';
import { TargetUnreadable, type Target, type TargetReader } from './target.ts';
import {
  readMessages,
  readStates,
  stateHash,
  type ToldMessages,
  type ToldState,
  type ToldStates,
} from './told.ts';

const PAGE = 5_000;
const MOST_NOTES = 20;

/**
 * Compares the target with the snapshot.
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
  let reader: TargetReader | null = null;
  try {
    // The snapshot is there: whatever it calls SENT stands before the ends that are taken now.
    reader = await target.open();
    if (reader === null) {
      if (messages.sent + states.sent === 0) return finding(6, counted, []);
      return finding(6, counted, [], target.missing);
    }
    const told = await readMessages(reader, await retriedEvents(live));
    if (told.records === 0 && messages.sent > 0) {
      return finding(6, counted, [], `${target.name} is empty`);
    }
    const toldStates = await readStates(reader);
    const lost = await lostEvents(snapshot, reader, told);
    const offenders = [
      ...told.disorder,
      ...lost.offenders.map((event) => `${event}, is SENT but not in ${shortName(target)}`),
      ...(await wrongStates(snapshot, live, told, toldStates, publication)),
    ];
    return finding(
      6,
      {
        ...counted,
        beforeJournal: lost.before,
        journalLines: told.records + toldStates.records,
        flights: toldStates.last.size,
      },
      offenders.slice(0, MOST_NOTES),
    );
  } catch (error) {
    if (!(error instanceof TargetUnreadable)) throw error;
    return finding(6, counted, [], `${target.name} cannot be read: ${error.message}`);
  } finally {
    await reader?.close();
  }
}

/** `the journal in X` as it stands in a sentence about one event. */
function shortName({ name }: Target): string {
  return name.startsWith('the journal') ? 'the journal' : name;
}

/** SENT events that the target does not hold although it should, and how many are older than what it holds. */
async function lostEvents(
  snapshot: Queryable,
  reader: TargetReader,
  told: ToldMessages,
): Promise<{ readonly offenders: readonly string[]; readonly before: number }> {
  const isBefore = await scopeOf(snapshot, reader, told);
  const offenders: string[] = [];
  let before = 0;
  let after = -1n;
  for (;;) {
    const page = await sentEventsAfter(snapshot, after, PAGE);
    for (const event of page) {
      const { eventId, flid, version } = event;
      if (told.events.has(eventId)) continue;
      if (isBefore(event)) before += 1;
      else if (offenders.length < MOST_NOTES)
        offenders.push(`event ${eventId.toString()} of flight ${flid}, version ${String(version)}`);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return { offenders, before };
    after = last.eventId;
  }
}

/** From where on a partition must hold everything; null: from its beginning, which nobody knows. */
interface Start {
  readonly event: bigint;
  /** ms; null where the event is not kept any more. */
  readonly sentAt: number | null;
}

/**
 * Whether an event was sent before the oldest record, so that retention, a rotation or a topic made anew has taken it
 * out of sight. By the time of sending, because a retried event goes out after younger ones; by ID within one batch.
 * A partition from which nothing was taken begins with its topic, that is with the oldest record of them all.
 */
async function scopeOf(
  snapshot: Queryable,
  reader: TargetReader,
  told: ToldMessages,
): Promise<(event: SentEvent) => boolean> {
  const own: (Start | null)[] = [];
  for (const { event } of told.oldest) {
    const sentAt = event === null ? null : await sentAtOf(snapshot, event);
    own.push(event === null ? null : { event, sentAt: sentAt === null ? null : toMillis(sentAt) });
  }
  const first = own.reduce(
    (least, start) => (least === null || (start !== null && precedes(start, least)) ? start : least),
    null,
  );
  const starts = told.oldest.map(({ trimmed }, index) => (trimmed ? (own[index] ?? null) : first));
  return ({ flid, eventId, sentAt }) => {
    const start = starts[reader.partitionOf('msg', flid)] ?? null;
    return start === null || precedes({ event: eventId, sentAt: toMillis(sentAt) }, start);
  };
}

function precedes(left: Start, right: Start): boolean {
  if (left.sentAt === null || right.sentAt === null || left.sentAt === right.sentAt)
    return left.event < right.event;
  return left.sentAt < right.sentAt;
}

async function wrongStates(
  snapshot: Queryable,
  live: Queryable,
  messages: ToldMessages,
  states: ToldStates,
  publication: Publication,
): Promise<readonly string[]> {
  const offenders: string[] = [];
  let after = '';
  for (;;) {
    const page = await latestFactsAfter(snapshot, after, PAGE);
    for (const fact of page) {
      const told = states.last.get(fact.flid);
      if (!fact.sent || fact.restoring || agrees(fact, told ?? [], publication)) continue;
      // Neither stream names the flight: it was told before the oldest record of both.
      if (told === undefined && !messages.flights.has(fact.flid)) continue;
      // A compacted topic forgets a deleted flight altogether, some time after its tombstone.
      if (told === undefined && fact.state === null) continue;
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

/** A consumer keeps the highest version of what it finds; a tombstone has none, so that all must be tombstones. */
function agrees(fact: LatestFact, told: readonly ToldState[], publication: Publication): boolean {
  if (told.length === 0) return false;
  if (fact.state === null) return told.every(({ hash }) => hash === null);
  const newest = told.reduce((left, right) => ((right.version ?? 0) > (left.version ?? 0) ? right : left));
  return (
    fact.state['flid'] === fact.flid &&
    newest.version === fact.version &&
    newest.hash === stateHash(publishedFlight(fact.state as JsonObject, publication))
  );
}
