/**
 * The points at which a test can have a process killed: one before and after each step that lasts (seed §5.3, §9.2).
 * The list is closed; docs/invariants.md shows it, and test/scenarios/kill-points.test.ts kills at each. None of it is
 * in a build.
 */

/** What a failpoint stands for. */
export interface Failpoint {
  /** The section of the seed, and its line where it has a table. */
  readonly seed: string;
  /** What has just been done, and what not yet. */
  readonly when: string;
}

const INTAKE = '§5.3 enqueue';
const UNREAD = '§9.2 in the mailbox, not enqueued';
const HOLE = '§9.2 W stands at a hole';
const LATE = '§4.2 compensating scan';
const COMPAT = '§9.2 compat entry, W not there yet';
const BIND = '§5.3 bind the identity';
const BUSINESS = '§9.2 inside the business transaction';
const ENDED = '§9.2 committed, mark not written';
const FAILED = '§9.1 attempt failed';
const EXHAUSTED = '§5.3 end without business';
const TRACE = '§9.2 the schedule trace may be lost';
const TOLD = '§9.2 the target has accepted, SENT not set';
const FLUSHED = '§8.2 newest states, SENT not set';
const MARKING = '§9.2 in the middle of marking';
const MARKED = '§5.3 backfill: mark, then BACKFILL_AT';
const SINGLE = '§4.5 one instance';
const ASKED = '§7.2 register a request';
const WRITING = '§7.2 write into COUTMSGS once';
const LOOKING = '§7.2 in COUTMSGS, SENT not set';
const OVERDUE = '§7.2 timeout';
const UPKEEP = '§9.3 archives and retention';

export const FAILPOINTS = {
  'lease.raised': { seed: SINGLE, when: 'the epoch is raised, no station has begun' },
  'lease.releasing': { seed: SINGLE, when: 'the stations have stopped, the lease is still held' },
  'seeding.chosen': { seed: '§4.3 seeding', when: 'W is chosen, not written' },
  'seeding.committed': { seed: '§4.3 seeding', when: 'W and SEEDED_AT are written, nothing is read' },
  'inbox.texts-read': { seed: UNREAD, when: 'IDs and texts are read, nothing is written' },
  'inbox.written': { seed: INTAKE, when: 'rows, texts, holes and W are written, not committed' },
  'inbox.committed': { seed: INTAKE, when: 'the batch is enqueued, W has moved' },
  'hole.waiting': { seed: HOLE, when: 'a hole is recorded with its first sight, W is below it' },
  'hole.reread': { seed: HOLE, when: 'a ripe hole was read once more, it is not released' },
  'hole.passed': { seed: HOLE, when: 'W has passed the hole' },
  'late.texts-read': { seed: LATE, when: 'a late row is read, it is not enqueued' },
  'late.written': { seed: LATE, when: 'a late row and its hole are written, not committed' },
  'late.committed': { seed: LATE, when: 'a late row is enqueued, the scan is not recorded' },
  'late.recorded': { seed: LATE, when: 'the scan and its W are recorded' },
  'send.received': { seed: COMPAT, when: 'a body is received, the mailbox is not written' },
  'send.in-mailbox': { seed: UNREAD, when: 'the mailbox has the message, it is not enqueued' },
  'send.enqueued': { seed: COMPAT, when: 'the message is enqueued, the client has no answer' },
  'pump.heads-read': { seed: BIND, when: 'the heads are chosen, nothing is decoded' },
  'pump.decoded': { seed: BIND, when: 'the batch is decoded, its identities are not bound' },
  'pump.bound': { seed: BIND, when: 'the identities are bound, the business transaction has done nothing' },
  'pump.decided': { seed: BUSINESS, when: 'the batch is decided, nothing is written' },
  'pump.locked': { seed: BUSINESS, when: 'the business transaction is sent, nothing is committed' },
  'pump.committed': { seed: ENDED, when: 'the batch has ended, nobody has been told' },
  'fail.charging': { seed: FAILED, when: 'an attempt has failed, it is not charged' },
  'fail.committed': { seed: FAILED, when: 'the attempt is charged, the message waits at the head' },
  'exhaust.deciding': { seed: EXHAUSTED, when: 'the attempts are used up, the message is not DEAD' },
  'exhaust.committed': { seed: EXHAUSTED, when: 'the message is DEAD, its mark is owed' },
  'trace.due': { seed: TRACE, when: 'a schedule is committed, SCHD_SNAP_LOG is not written' },
  'trace.written': { seed: TRACE, when: 'SCHD_SNAP_LOG is written' },
  'delivery.claimed': { seed: '§8.1 frozen batch', when: 'changes are claimed, nothing is sent' },
  'delivery.accepted': { seed: TOLD, when: 'the target has accepted changes, SENT is not written' },
  'delivery.written': { seed: TOLD, when: 'SENT of changes is written, not committed' },
  'delivery.recorded': { seed: '§8.1 SENT', when: 'SENT of changes is committed' },
  'refusal.charging': { seed: '§9.1 delivery refused', when: 'the target has refused, nothing is charged' },
  'refusal.recorded': { seed: '§9.1 delivery refused', when: 'the refusal is charged to its event' },
  'flush.claimed': { seed: '§8.2 newest states', when: 'newest states are claimed, nothing is sent' },
  'flush.accepted': { seed: FLUSHED, when: 'the target has accepted states, SENT is not written' },
  'flush.written': { seed: FLUSHED, when: 'SENT of states is written, not committed' },
  'flush.recorded': { seed: '§8.2 newest states', when: 'SENT of states is committed' },
  'journal.written': { seed: TOLD, when: 'the lines are written, the disk is not waited for' },
  'journal.synced': { seed: TOLD, when: 'the lines are on disk, the batch is not accepted' },
  'kafka.produced': { seed: TOLD, when: 'the records are produced, their transaction is not committed' },
  'kafka.committed': { seed: TOLD, when: 'their transaction is committed, the batch is not accepted' },
  'backfill.selected': { seed: ENDED, when: 'marks owed are chosen, none is written' },
  'backfill.marked': { seed: MARKING, when: 'the mailbox has the marks, BACKFILL_AT is not written' },
  'backfill.written': { seed: MARKED, when: 'BACKFILL_AT is written, not committed' },
  'backfill.recorded': { seed: MARKED, when: 'BACKFILL_AT is committed' },
  'request.due': { seed: ASKED, when: 'the service has to ask by itself, nothing is registered' },
  'request.written': { seed: ASKED, when: 'a request is written as PENDING, not committed' },
  'request.registered': { seed: ASKED, when: 'a request is PENDING, nothing is sent' },
  'outbound.chosen': { seed: WRITING, when: 'a request or report is due, the lock is not held' },
  'outbound.locked': { seed: WRITING, when: 'the lock is held, nothing is noted' },
  'outbound.noting': { seed: WRITING, when: 'SEQN, remembered ID and sent_at are written, not committed' },
  'outbound.noted': { seed: WRITING, when: 'the try is noted, COUTMSGS has no row' },
  'outbound.inserted': { seed: WRITING, when: 'COUTMSGS has the row, not committed' },
  'outbound.committed': { seed: LOOKING, when: 'COUTMSGS has the row, SENT is not written' },
  'outbound.looking': { seed: LOOKING, when: 'the lock is held, a try without result is not looked for' },
  'outbound.looked': { seed: LOOKING, when: 'a try without result was looked for, nothing is written' },
  'outbound.confirming': { seed: LOOKING, when: 'SENT is written, not committed' },
  'outbound.confirmed': { seed: LOOKING, when: 'SENT is committed' },
  'outbound.forgetting': { seed: LOOKING, when: 'it is not there and not wanted, the search has not ended' },
  'outbound.forgotten': { seed: LOOKING, when: 'the search has ended without a row' },
  'outbound.refused': { seed: WRITING, when: 'the mailbox has refused a message, it is not postponed' },
  'outbound.postponed': { seed: WRITING, when: 'a refused message is postponed' },
  'request.overdue': { seed: OVERDUE, when: 'a request has waited too long, it is SENT' },
  'request.expiring': { seed: OVERDUE, when: 'EXPIRED is written, not committed' },
  'request.expired': { seed: OVERDUE, when: 'EXPIRED is committed' },
  'upkeep.begun': { seed: UPKEEP, when: 'the run is recorded as begun, nothing is moved' },
  'upkeep.written': { seed: UPKEEP, when: 'a batch is moved or deleted and told, not committed' },
  'upkeep.committed': { seed: UPKEEP, when: 'a batch is committed, the run goes on' },
  'upkeep.ended': { seed: UPKEEP, when: 'the end of the run is recorded' },
} as const satisfies Record<string, Failpoint>;

export type FailpointName = keyof typeof FAILPOINTS;
