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
import { exhaustMessage, failMessage, selectHeads, type Failure, type Head } from '../store/proc-state.ts';
import { isTerminal, readCandidates, type Candidate } from './candidate.ts';
import { StaleHeads, commitBatch, type Finished, type Ready } from './commit.ts';
import type { PumpContext } from './context.ts';
import { reportDuplicates } from './duplicates.ts';
import { batchOf, ruleOf, isLarge } from './head.ts';
import { bindBatch, type Bound } from './identities.ts';
import { requestAgain } from './request-book.ts';
import { checkTiers, nextAttempt } from './retry.ts';
import { traceSchedules } from './trace.ts';

type MessageCandidate = Extract<Candidate, { kind: 'message' }>;

/** How a run of heads went; `waits` where the head holds the line or has to be read again. */
type Tried = { readonly result: 'ended' | 'waits' } | { readonly result: 'failed'; readonly error: unknown };

export class Pump {
  readonly #context: PumpContext;
  /** W at the last warning about a head above it: one line per value. */
  #warnedAt: bigint | null = null;

  /** Throws RangeError where the retry tiers do not fit the attempts (seed §9.1). */
  constructor(context: PumpContext) {
    checkTiers(context.retry);
    this.#context = context;
  }

  /** One batch. Throws Outage (nothing charged) and LostLease. */
  async tick(): Promise<Round> {
    const { database, clock, commitBatch: limit, retry, batchBytes } = this.#context;
    const now = clock.now();
    const { heads, watermark } = await selectHeads(database, { messages: limit, bytes: batchBytes, now });
    const head = heads[0];
    if (head === undefined) return REST;
    const rule = ruleOf(head, watermark, retry.maxAttempts, now);
    switch (rule.rule) {
      case 'above-watermark':
        this.#warnAbove(head, watermark);
        return REST;
      case 'exhausted':
        await this.#exhaust(head);
        return AGAIN;
      case 'not-due':
        return restUntil(rule.until);
      case 'process':
        await this.#process(batchOf(heads, watermark, retry.maxAttempts, now, batchBytes));
        return AGAIN;
    }
  }

  /** Runs a batch; where something unexpected happens, its messages one by one, so that a failure hits its own. */
  async #process(heads: readonly Head[]): Promise<void> {
    const tried = await this.#try(heads);
    if (tried.result !== 'failed') return;
    if (heads.length > 1) {
      this.#context.log.warn(
        { error: messageOf(tried.error), messages: heads.length },
        'batch repeated one by one',
      );
    }
    for (const head of heads) {
      const single = heads.length > 1 ? await this.#try([head]) : tried;
      if (single.result === 'ended') continue;
      if (single.result === 'failed') await this.#charge(head, single.error);
      return;
    }
  }

  /**
   * Runs heads, a conflict with another transaction once more. Rethrows what charges nobody and pauses the
   * station: a lost lease, an outage, and any error with the database silent afterwards.
   */
  async #try(heads: readonly Head[]): Promise<Tried> {
    for (let conflicts = 0; ; conflicts++) {
      try {
        const run = () => this.#run(heads);
        return { result: await (heads.some(isLarge) ? withSteadyHeap(run) : run()) };
      } catch (error) {
        if (error instanceof LostLease || error instanceof Outage) throw error;
        // Somebody else ended a head: the next tick reads again.
        if (error instanceof StaleHeads) return { result: 'waits' };
        if (conflicts === 0 && isConflict(error)) continue;
        // A lock held for long or a stalled disk would hit every message alike (and is no fault of any).
        if (!(await this.#context.database.commits())) throw new Outage('database', error);
        return { result: 'failed', error };
      }
    }
  }

  /** Ends as many of the heads as end together, or charges the first where it does not end. */
  async #run(heads: readonly Head[]): Promise<'ended' | 'waits'> {
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
    // The batch ends before the first message that would not end: it waits until it is the head itself.
    const prefix = isUnsupported(first) ? [first] : candidates.filter(isTerminal);
    failpoint('pump.decoded');
    const bound = await bindBatch(this.#context, prefix);
    failpoint('pump.bound');
    if (isUnsupported(first)) {
      const own = bound.get(first.head.msgId) ?? null;
      if (own?.duplicate == null) {
        const { header } = first.message;
        const reason = kindReason('unsupported', header);
        await this.#fail(first.head, header, own, { errorClass: 'UNSUPPORTED', reason, detail: null });
        return 'waits';
      }
    }
    const batch = prefix.flatMap((candidate): Ready[] =>
      candidate.kind === 'codec-error' ? [] : [{ candidate, bound: bound.get(candidate.head.msgId) ?? null }],
    );
    const finished = await commitBatch(this.#context, batch);
    failpoint('pump.committed');
    ends();
    this.#context.onProgress?.(finished.length);
    await this.#report(finished);
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

function isUnsupported(candidate: Candidate): candidate is MessageCandidate {
  return candidate.kind === 'message' && candidate.message.body.kind === 'unsupported';
}

/** serialization_failure and deadlock_detected: nobody's fault, tried again at once. */
function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01');
}
