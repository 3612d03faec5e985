/**
 * The pump (seed §5): strictly first in, first out. Each tick takes the consecutive heads that are waiting and
 * ends them in one transaction; what does not end is retried at the head and holds the line.
 */
import { failpoint } from '#failpoint';
import pg from 'pg';
import type { DecodedMessage, Header } from '../domain/message.ts';
import { kindReason } from '../domain/reasons.ts';
import { collectGarbage, withSteadyHeap } from '../runtime/heap.ts';
import { LostLease, Outage, messageOf } from '../runtime/outage.ts';
import { AGAIN, REST, restUntil, type Round } from '../runtime/station.ts';
import type { Session } from '../store/transaction.ts';
import { exhaustMessage, failMessage, type Failure, type Head } from '../store/proc-state.ts';
import { isTerminal, readCandidates, type Candidate } from './candidate.ts';
import { Batch, StaleHeads } from './commit.ts';
import type { PumpContext } from './context.ts';
import type { Ending, Finished } from './decisions.ts';
import { reportDuplicates } from './duplicates.ts';
import { isLarge } from './head.ts';
import { bindBatch, type Bound } from './identities.ts';
import { Line } from './line.ts';
import { requestAgain } from './request-book.ts';
import { checkTiers, nextAttempt } from './retry.ts';
import { traceSchedules } from './trace.ts';

type MessageCandidate = Extract<Candidate, { kind: 'message' }>;

/** How a run of heads went; `waits` where the head holds the line or has to be read again. */
type Tried = { readonly result: 'ended' | 'waits' } | { readonly result: 'failed'; readonly error: unknown };

/** A batch on its way, with the heads it is to end. */
interface Underway {
  readonly batch: Batch;
  readonly heads: readonly Head[];
  readonly ends: () => void;
}

/** The line behind a batch: what it may go on with. */
interface Course {
  readonly session: Session;
  readonly line: Line;
  /** ms; behind it no further batch is begun. */
  readonly until: number;
}

/** How long one tick goes on along the line, ms: between ticks the station may pause, stop, or see late messages. */
const CHAIN_MS = 500;

/** A batch failed after another one had ended in the same tick: nothing is known of who is to be charged. */
class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

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
      const first = { batch, heads, ends };
      const course = { session, line, until: goesOn ? clock.now() + CHAIN_MS : Number.NEGATIVE_INFINITY };
      await this.#follow(course, first, await batch.decide());
    });
    return 'ended';
  }

  /**
   * Ends a batch that has been decided, and goes on along the line for a while: as the transaction of each batch goes
   * out, the one after the next is begun to be read and the next is decided. A batch that fails behind another leaves
   * nothing, and the next tick meets it first, which decides who is charged.
   */
  async #follow(course: Course, first: Underway, decided: readonly Finished[]): Promise<void> {
    let current = first;
    let finished = decided;
    let next: Underway | null = null;
    try {
      for (;;) {
        const whole = finished.length === current.heads.length && !current.heads.some(isLarge);
        const goesOn = whole && this.#context.clock.now() < course.until;
        const committed = await current.batch.send();
        let later: Underway | null = null;
        let ahead: readonly Finished[] | null = null;
        let failed: { readonly error: unknown } | null = null;
        if (goesOn) {
          next ??= await this.#begin(course, current.batch);
          later = next === null ? null : await this.#begin(course, next.batch);
          try {
            if (next?.batch.ahead === true) ahead = await next.batch.decide();
          } catch (error) {
            failed = { error };
          }
        }
        await committed();
        failpoint('pump.committed');
        current.ends();
        this.#context.onProgress?.(finished.length);
        await this.#report(finished);
        if (!goesOn || next === null) return;
        current = next;
        next = later;
        if (failed !== null) throw failed.error;
        finished = ahead ?? (await current.batch.decide());
      }
    } catch (error) {
      if (current === first || error instanceof LostLease || error instanceof Outage) throw error;
      throw new Interrupted('a batch behind another was not ended', { cause: error });
    }
  }

  /** Begins to read a batch behind another; null where it is not one that ends as a whole: that is for the next tick. */
  async #begin({ session, line }: Course, behind: Batch): Promise<Underway | null> {
    const ends = this.#context.metrics.processSeconds.startTimer();
    await line.refill();
    const heads = line.take();
    // What cannot be read now is met by the next tick as its head, where there are rules for it.
    const candidates = heads.some(isLarge) ? [] : await readCandidates(this.#context, heads).catch(() => []);
    const ending = endingOf(candidates);
    if (ending.length < heads.length) line.close();
    if (ending.length === 0) return null;
    const { generation } = line;
    return {
      batch: new Batch(this.#context, session, ending, { generation, bound: null, behind }),
      heads,
      ends,
    };
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

  /** Counts and names what people should know of; after the commit, so that a repeated batch counts once. */
  async #report(finished: readonly Finished[]): Promise<void> {
    const { metrics, log } = this.#context;
    for (const { terminal, decision, ready } of finished) {
      const { msgId, type, styp, state, errorClass, reason } = terminal;
      metrics.messages.inc({ type: type ?? 'NONE', styp: styp ?? 'NONE', outcome: state });
      if (state === 'DEAD') log.error({ msgId, type, styp, errorClass, reason }, 'message dead');
      if (decision?.state === 'SUCCEEDED' && decision.unmatchedStands > 0) {
        metrics.unmatchedStand.inc(decision.unmatchedStands);
        log.warn(
          { msgId, stands: decision.unmatchedStands },
          'push-back or tractor for a stand the flight does not have',
        );
      }
      if (ready.candidate.kind === 'message') this.#reportUnknown(msgId, ready.candidate.message);
    }
    await reportDuplicates(this.#context, finished);
    await traceSchedules(this.#context, finished);
  }

  #reportUnknown(msgId: bigint, { unknownElements }: DecodedMessage): void {
    if (unknownElements.length === 0) return;
    this.#context.metrics.unknownElements.inc(unknownElements.length);
    this.#context.log.warn(
      { msgId, elements: unknownElements.slice(0, 20) },
      'elements unknown to the profile, ignored',
    );
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

/** The messages that end together, from the first. */
function endingOf(candidates: readonly Candidate[]): readonly Ending[] {
  const others = candidates.findIndex((candidate) => !isTerminal(candidate));
  const ending = others === -1 ? candidates : candidates.slice(0, others);
  return ending.flatMap((candidate) => (candidate.kind === 'codec-error' ? [] : [candidate]));
}

function isUnsupported(candidate: Candidate): candidate is MessageCandidate {
  return candidate.kind === 'message' && candidate.message.body.kind === 'unsupported';
}

/** serialization_failure and deadlock_detected: somebody else was in the way, which is no fault of the message. */
function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01');
}
