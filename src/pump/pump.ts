/**
 * The pump (seed §5): strictly first in, first out. Each tick takes the consecutive heads that are waiting and
 * ends them in one transaction; what does not end is retried at the head and holds the line.
 */
import { failpoint } from '#failpoint';
import pg from 'pg';
import type { Header } from '../domain/message.ts';
import { kindReason } from '../domain/reasons.ts';
import { collectGarbage, withSteadyHeap } from '../runtime/heap.ts';
import { LostLease, Outage, messageOf } from '../runtime/outage.ts';
import { AGAIN, REST, restUntil, type Round } from '../runtime/station.ts';
import { exhaustMessage, failMessage, type Failure, type Head } from '../store/proc-state.ts';
import { endingOf, readCandidates, type Candidate } from './candidate.ts';
import { Batch, StaleHeads } from './commit.ts';
import type { PumpContext } from './context.ts';
import { Course, Interrupted } from './course.ts';
import { isLarge } from './head.ts';
import { bindBatch, type Bound } from './identities.ts';
import { Line } from './line.ts';
import { requestAgain } from './request-book.ts';
import { checkTiers, nextAttempt } from './retry.ts';

type MessageCandidate = Extract<Candidate, { kind: 'message' }>;

/** How a run of heads went; `waits` where the head holds the line or has to be read again. */
type Tried = { readonly result: 'ended' | 'waits' } | { readonly result: 'failed'; readonly error: unknown };

/** How long one tick goes on along the line, ms: between ticks the station may pause, stop, or see late messages. */
const CHAIN_MS = 500;

export class Pump {
  readonly #context: PumpContext;
  /** W at the last warning about a head above it: one line per value. */
  #warnedAt: bigint | null = null;

  /** Throws RangeError where the retry tiers do not fit the attempts (seed §9.1). */
  constructor(context: PumpContext) {
    checkTiers(context.retry);
    this.#context = context;
  }

  /**
   * A batch, and those behind it on the line, each decided while the one before it is being written.
   * Throws Outage (nothing charged) and LostLease.
   */
  async tick(): Promise<Round> {
    const line = await Line.look(this.#context);
    const { head } = line;
    const rule = line.rule();
    if (head === null || rule === null) return REST;
    switch (rule.rule) {
      case 'above-watermark':
        this.#warnAbove(head, line.watermark);
        return REST;
      case 'exhausted':
        await this.#exhaust(head);
        return AGAIN;
      case 'not-due':
        return restUntil(rule.until);
      case 'process':
        await this.#process(line.take(), line);
        return AGAIN;
    }
  }

  /** Runs a batch; where something unexpected happens, its messages one by one, so that a failure hits its own. */
  async #process(heads: readonly Head[], line: Line): Promise<void> {
    const tried = await this.#try(heads, line, true);
    if (tried.result !== 'failed') return;
    if (heads.length > 1) {
      this.#context.log.warn(
        { error: messageOf(tried.error), messages: heads.length },
        'batch repeated one by one',
      );
    }
    for (const head of heads) {
      const single = heads.length > 1 ? await this.#try([head], line, false) : tried;
      if (single.result === 'ended') continue;
      if (single.result === 'failed') await this.#charge(head, single.error);
      return;
    }
  }

  /**
   * Runs heads, a conflict with another transaction once more, and then leaves them to the next tick. Rethrows what charges
   * nobody and pauses the station: a lost lease, an outage, and any error with the database silent afterwards.
   */
  async #try(heads: readonly Head[], line: Line, goesOn: boolean): Promise<Tried> {
    for (let conflicts = 0; ; conflicts++) {
      try {
        // What a failed attempt has taken off the line is behind its heads: the next tick looks again.
        const run = () => this.#run(heads, line, goesOn && conflicts === 0);
        return { result: await (heads.some(isLarge) ? withSteadyHeap(run) : run()) };
      } catch (error) {
        if (error instanceof LostLease || error instanceof Outage) throw error;
        // Somebody else ended a head: the next tick reads again. So it does where others have ended.
        if (error instanceof StaleHeads || error instanceof Interrupted) return { result: 'waits' };
        if (isConflict(error)) {
          if (conflicts === 0) continue;
          return { result: 'waits' };
        }
        // A lock held for long or a stalled disk would hit every message alike (and is no fault of any).
        if (!(await this.#context.database.commits())) throw new Outage('database', error);
        return { result: 'failed', error };
      }
    }
  }

  /**
   * Ends as many of the heads as end together, or charges the first where it does not end; then, where it `goesOn`, the
   * line behind them.
   */
  async #run(heads: readonly Head[], line: Line, goesOn: boolean): Promise<'ended' | 'waits'> {
    const ends = this.#context.metrics.processSeconds.startTimer();
    failpoint('pump.heads-read');
    const candidates = await readCandidates(this.#context, heads);
    // The elements of a large message are several times its text, and what comes next needs the room.
    if (heads.some(isLarge)) collectGarbage();
    const [first] = candidates;
    if (first === undefined) return 'waits';
    if (first.kind === 'codec-error') {
      const { reason, detail } = first;
      await this.#fail(first.head, first.header, null, { errorClass: 'CODEC_ERROR', reason, detail });
      return 'waits';
    }
    failpoint('pump.decoded');
    let bound: ReadonlyMap<bigint, Bound> | null = null;
    if (isUnsupported(first)) {
      bound = await bindBatch(this.#context, [first]);
      const own = bound.get(first.head.msgId) ?? null;
      if (own?.duplicate == null) {
        const { header } = first.message;
        const reason = kindReason('unsupported', header);
        await this.#fail(first.head, header, own, { errorClass: 'UNSUPPORTED', reason, detail: null });
        return 'waits';
      }
    }
    // The batch ends before the first message that would not end: it waits until it is the head itself.
    const ending = bound === null ? endingOf(candidates) : [first];
    const { database, clock } = this.#context;
    const { generation } = line;
    await database.session(async (session) => {
      const batch = new Batch(this.#context, session, ending, { generation, bound, behind: null });
      const until = goesOn ? clock.now() + CHAIN_MS : Number.NEGATIVE_INFINITY;
      const course = new Course(this.#context, { session, line, until });
      await course.follow({ batch, heads, ends }, await batch.decide());
    });
    return 'ended';
  }

  /** Charges one message with an error that nobody expected. */
  async #charge(head: Head, error: unknown): Promise<void> {
    this.#context.log.error({ err: error, msgId: head.msgId }, 'message failed');
    await this.#fail(head, null, null, {
      errorClass: 'INFRA',
      // A NUL would be refused by the database.
      reason: messageOf(error).replaceAll('\0', '').slice(0, 500),
      detail: null,
    });
  }

  async #fail(
    head: Head,
    header: Partial<Header> | null,
    bound: Bound | null,
    what: Pick<Failure, 'errorClass' | 'reason' | 'detail'>,
  ): Promise<void> {
    const type = header?.type ?? null;
    const styp = header?.subtype ?? null;
    const identity = bound?.identity ?? null;
    const { database, fence, clock, retry, dialect, log } = this.#context;
    const attempt = head.attempts + 1;
    const nextAttemptAt = nextAttempt(retry, what.errorClass, attempt, clock.now());
    const failure: Failure = { msgId: head.msgId, type, styp, identity, ...what, attempt, nextAttemptAt };
    failpoint('fail.charging');
    await database.transaction((tx) => failMessage(tx, failure, dialect.profileHash), { fence });
    failpoint('fail.committed');
    log.warn(
      { msgId: head.msgId, type, styp, attempt, errorClass: what.errorClass, reason: what.reason },
      'attempt failed',
    );
  }

  async #exhaust(head: Head): Promise<void> {
    const { database, fence, clock, retry, log, metrics, requests } = this.#context;
    failpoint('exhaust.deciding');
    const [dead] = requests?.onDeadSchedule === true ? await readCandidates(this.#context, [head]) : [];
    const now = clock.now();
    const ended = await database.transaction(
      async (tx) => {
        const row = await exhaustMessage(tx, head.msgId, retry.maxAttempts, now);
        if (row !== null && dead !== undefined) await requestAgain(this.#context, tx, dead, now);
        return row;
      },
      { fence },
    );
    if (ended === null) return;
    failpoint('exhaust.committed');
    this.#context.onProgress?.(1);
    metrics.messages.inc({ type: ended.type ?? 'NONE', styp: ended.styp ?? 'NONE', outcome: 'DEAD' });
    log.error({ msgId: head.msgId, ...ended, attempts: head.attempts }, 'message dead: attempts exhausted');
  }

  #warnAbove(head: Head, watermark: bigint): void {
    if (this.#warnedAt === watermark) return;
    this.#warnedAt = watermark;
    this.#context.log.warn(
      { msgId: head.msgId, watermark },
      'head of line is above the watermark, waiting for the inbox',
    );
  }
}

function isUnsupported(candidate: Candidate): candidate is MessageCandidate {
  return candidate.kind === 'message' && candidate.message.body.kind === 'unsupported';
}

/** serialization_failure and deadlock_detected: somebody else was in the way, which is no fault of the message. */
function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01');
}
