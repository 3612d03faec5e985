/**
 * The pump (seed §5): strictly first in, first out. Each tick takes the consecutive heads that are waiting and
 * ends them in one transaction; what does not end is retried at the head and holds the line.
 */
import pg from 'pg';
import type { DecodedMessage } from '../domain/message.ts';
import { LostLease, Outage, messageOf } from '../runtime/outage.ts';
import { AGAIN, REST, restUntil, type Round } from '../runtime/station.ts';
import { exhaustMessage, failMessage, selectHeads, type Failure, type Head } from '../store/proc-state.ts';
import { isTerminal, readCandidates, type Candidate } from './candidate.ts';
import { StaleHeads, commitBatch, type Finished, type Ready } from './commit.ts';
import type { PumpContext } from './context.ts';
import { batchOf, ruleOf } from './head.ts';
import { bindBatch, type Bound } from './identities.ts';
import { checkTiers, nextAttempt } from './retry.ts';
import { traceSchedules } from './trace.ts';

type MessageCandidate = Extract<Candidate, { kind: 'message' }>;

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
    const { heads, watermark } = await selectHeads(database, limit);
    const head = heads[0];
    if (head === undefined) return REST;
    const now = clock.now();
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

  async #process(heads: readonly Head[]): Promise<void> {
    const ends = this.#context.metrics.processSeconds.startTimer();
    const candidates = await readCandidates(this.#context, heads);
    const first = candidates[0];
    if (first === undefined) return;
    if (first.kind === 'codec-error') {
      await this.#fail(first.head, first.header?.type ?? null, first.header?.subtype ?? null, null, {
        errorClass: 'CODEC_ERROR',
        reason: first.reason,
        detail: first.detail,
      });
      return;
    }
    if (isUnsupported(first)) {
      await this.#processUnsupported(first);
      return;
    }
    // The batch ends before the first message that would not end: it waits until it is the head itself.
    const prefix = candidates.filter(isTerminal);
    const bound = await bindBatch(this.#context, prefix);
    const batch = prefix.flatMap((candidate): Ready[] =>
      candidate.kind === 'codec-error' ? [] : [{ candidate, bound: bound.get(candidate.head.msgId) ?? null }],
    );
    await this.#commit(batch);
    ends();
  }

  /** Commits a batch; whatever is unexpected repeats it one by one, so that a failure hits its own message. */
  async #commit(batch: readonly Ready[]): Promise<void> {
    const failed = await this.#tryCommit(batch);
    if (failed === null) return;
    if (batch.length === 1) {
      await this.#charge(batch, failed.error);
      return;
    }
    this.#context.log.warn(
      { error: messageOf(failed.error), messages: batch.length },
      'batch repeated one by one',
    );
    for (const ready of batch) {
      const single = await this.#tryCommit([ready]);
      if (single === null) continue;
      await this.#charge([ready], single.error);
      return;
    }
  }

  async #tryCommit(batch: readonly Ready[]): Promise<{ readonly error: unknown } | null> {
    for (let conflicts = 0; ; conflicts++) {
      try {
        const finished = await commitBatch(this.#context, batch);
        this.#context.onProgress?.(finished.length);
        await this.#report(finished);
        return null;
      } catch (error) {
        if (error instanceof LostLease || error instanceof Outage) throw error;
        // Somebody else ended a head: the next tick reads again.
        if (error instanceof StaleHeads) return null;
        if (conflicts === 0 && isConflict(error)) continue;
        return { error };
      }
    }
  }

  /** Charges one message with an error, unless the database itself is the trouble. */
  async #charge(batch: readonly Ready[], error: unknown): Promise<void> {
    const [ready] = batch;
    if (ready === undefined) return;
    if (!(await this.#context.database.probe())) throw new Outage('database', error);
    const { candidate, bound } = ready;
    const header = candidate.kind === 'message' ? candidate.message.header : candidate.header;
    this.#context.log.error({ err: error, msgId: candidate.head.msgId }, 'message failed');
    await this.#fail(candidate.head, header?.type ?? null, header?.subtype ?? null, bound?.identity ?? null, {
      errorClass: 'INFRA',
      reason: messageOf(error).slice(0, 500),
      detail: null,
    });
  }

  async #processUnsupported(candidate: MessageCandidate): Promise<void> {
    const { head, message } = candidate;
    const bound: Bound | undefined = (await bindBatch(this.#context, [candidate])).get(head.msgId);
    if (bound?.duplicate != null) {
      await this.#commit([{ candidate, bound }]);
      return;
    }
    const { type, subtype } = message.header;
    await this.#fail(head, type, subtype, bound?.identity ?? null, {
      errorClass: 'UNSUPPORTED',
      reason: `unsupported:${type}/${subtype}`,
      detail: null,
    });
  }

  async #fail(
    head: Head,
    type: string | null,
    styp: string | null,
    identity: string | null,
    what: Pick<Failure, 'errorClass' | 'reason' | 'detail'>,
  ): Promise<void> {
    const { database, fence, clock, retry, dialect, log } = this.#context;
    const attempt = head.attempts + 1;
    const nextAttemptAt = nextAttempt(retry, what.errorClass, attempt, clock.now());
    const failure: Failure = { msgId: head.msgId, type, styp, identity, ...what, attempt, nextAttemptAt };
    await database.transaction((tx) => failMessage(tx, failure, dialect.profileHash), { fence });
    log.warn(
      { msgId: head.msgId, type, styp, attempt, errorClass: what.errorClass, reason: what.reason },
      'attempt failed',
    );
  }

  async #exhaust(head: Head): Promise<void> {
    const { database, fence, clock, retry, log, metrics } = this.#context;
    const ended = await database.transaction(
      (tx) => exhaustMessage(tx, head.msgId, retry.maxAttempts, clock.now()),
      { fence },
    );
    if (ended === null) return;
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
