/**
 * The station of requests (seed §7.2): registers what the service asks by itself, writes requests and error reports
 * into COUTMSGS, expires what waits too long. It keeps nothing in memory that a crash could lose.
 */
import { failpoint } from '#failpoint';
import { LostLease, Outage, messageOf } from '../runtime/outage.ts';
import { AGAIN, REST, restUntil, type Round } from '../runtime/station.ts';
import type { Queryable } from '../store/statement.ts';
import { postponeReport, reportsSince, selectDueReports } from '../store/error-report.ts';
import { expireRequests, hasOverdue, postponeRequest, selectDueRequests } from '../store/req-track.ts';
import type { RequestsContext } from './context.ts';
import { reportToSend, requestToSend } from './outgoing.ts';
import { OwnRequests } from './own-requests.ts';
import { sendOnce, type Outgoing } from './send-once.ts';

/** Most messages of one round. */
const BATCH = 50;
/** Reports in a minute (C-25): a burst of faulty messages must not become a burst of ours. */
const REPORTS = 10;
const MINUTE_MS = 60_000;
/** Longest wait after tries that the mailbox refused, ms. */
const BACKOFF_CAP_MS = 10 * MINUTE_MS;

export class RequestCoordinator {
  readonly #context: RequestsContext;
  readonly #own: OwnRequests;

  constructor(context: RequestsContext) {
    this.#context = context;
    this.#own = new OwnRequests(context);
  }

  /** One round. Throws Outage, which charges nothing, and LostLease. */
  async round(): Promise<Round> {
    if (this.#context.shadow) return REST;
    await this.#expire();
    await this.#own.register();
    const requests = await this.#sendRequests();
    const reports = await this.#sendReports();
    return requests === BATCH ? AGAIN : reports;
  }

  async #expire(): Promise<void> {
    const { database, fence, clock, log } = this.#context;
    if (!(await hasOverdue(database, clock.now()))) return;
    failpoint('request.overdue');
    const expired = await database.transaction(
      async (tx) => {
        const overdue = await expireRequests(tx, clock.now());
        failpoint('request.expiring');
        return overdue;
      },
      { fence },
    );
    failpoint('request.expired');
    for (const request of expired) log.warn(request, 'request expired: no answer in time');
  }

  async #sendRequests(): Promise<number> {
    const { database, clock } = this.#context;
    const due = await selectDueRequests(database, clock.now(), BATCH);
    for (const request of due) {
      const { reqId, rtype, operationDay, attempts } = request;
      await this.#send(requestToSend(this.#context, request), {
        fields: { reqId, rtype, operationDay },
        attempts,
        postpone: (tx, lookAt) => postponeRequest(tx, reqId, lookAt),
      });
    }
    return due.length;
  }

  async #sendReports(): Promise<Round> {
    const { database, clock } = this.#context;
    const now = clock.now();
    const due = await selectDueReports(database, now, BATCH);
    if (due.length === 0) return REST;
    const since = now - MINUTE_MS;
    const { reports, oldest } = await reportsSince(database, since);
    let left = REPORTS - reports;
    for (const report of due) {
      // One tried within the minute is counted already.
      const counted = report.attempt !== null && report.attempt.sentAt > since;
      if (!counted && left <= 0) return restUntil((oldest ?? now) + MINUTE_MS);
      if (!counted) left -= 1;
      const { msgId, attempts } = report;
      await this.#send(reportToSend(this.#context, report), {
        fields: { msgId },
        attempts,
        postpone: (tx, lookAt) => postponeReport(tx, msgId, lookAt),
      });
    }
    return due.length === BATCH ? AGAIN : REST;
  }

  /** Sends one; what the mailbox refuses for the message's own sake waits longer each time and holds up no other. */
  async #send(
    item: Outgoing,
    record: {
      readonly fields: object;
      readonly attempts: number;
      postpone(tx: Queryable, lookAt: number): Promise<void>;
    },
  ): Promise<void> {
    const { database, fence, clock, log, mailbox, mailboxTimeoutMs, onSent } = this.#context;
    try {
      const sent = await sendOnce(this.#context, item);
      if (sent === 'sent' || sent === 'found') onSent?.();
      if (sent === 'found') log.info(record.fields, 'found in COUTMSGS: it had been sent');
    } catch (error) {
      if (error instanceof LostLease || error instanceof Outage) throw error;
      if (!(await database.probe())) throw new Outage('database', error);
      if (!(await mailbox.probe())) throw new Outage('mailbox', error);
      failpoint('outbound.refused');
      const wait = Math.min(mailboxTimeoutMs * 2 ** Math.min(record.attempts, 20), BACKOFF_CAP_MS);
      await database.transaction((tx) => record.postpone(tx, clock.now() + wait), { fence });
      failpoint('outbound.postponed');
      log.error({ ...record.fields, error: messageOf(error) }, 'the mailbox refuses a message of ours');
    }
  }
}
