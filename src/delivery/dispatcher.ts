/** KAFKA:msg: every change of every flight, in EVENT_ID order per FLID (seed §8.1). */
import { failpoint } from '#failpoint';
import { cloudEventHeaders } from '../domain/event.ts';
import { eventId, flid } from '../domain/ids.ts';
import { AGAIN, REST, restUntil, type Round } from '../runtime/station.ts';
import {
  claimMessageEvents,
  markMessageEventsSent,
  nextEventAttempt,
  refuseMessageEvents,
  type ClaimedMessageEvent,
} from '../store/msg-event.ts';
import { toMillis, toMillisOrNull, toTimestamp } from '../store/time.ts';
import type { DeliveryContext } from './context.ts';
import { chargeAttempt } from './retry.ts';
import type { Outgoing, Sender, Sent } from './sender.ts';

const TARGET = 'KAFKA:msg';

export class Dispatcher {
  readonly #context: DeliveryContext;
  readonly #sender: Sender;

  constructor(context: DeliveryContext, sender: Sender) {
    this.#context = context;
    this.#sender = sender;
  }

  /**
   * Sends one frozen batch and records what became of it. Throws Outage where a dependency is away (nothing
   * is charged) and LostLease.
   */
  async round(): Promise<Round> {
    const { database, clock, batch } = this.#context;
    const events = await claimMessageEvents(database, toTimestamp(clock.now()), batch);
    if (events.length > 0) {
      failpoint('delivery.claimed');
      const sent = await this.#sender.send(events.map((event) => this.#outgoing(event)));
      failpoint('delivery.accepted');
      await this.#record(sent);
      failpoint('delivery.recorded');
      if (sent.outage !== null) throw sent.outage;
      if (events.length === batch || sent.refused.length > 0) return AGAIN;
    }
    const due = toMillisOrNull(await nextEventAttempt(database, TARGET));
    return due === null ? REST : restUntil(due);
  }

  #outgoing(event: ClaimedMessageEvent): Outgoing<ClaimedMessageEvent> {
    return {
      row: event,
      record: {
        stream: 'msg',
        key: event.flid,
        headers: cloudEventHeaders({
          eventId: eventId(event.eventId),
          value: 'msg',
          type: event.eventType,
          airport: this.#context.airport,
          flid: flid(event.flid),
          time: updatedAtOf(event.body),
        }),
        value: withEventId(event.eventId, event.body),
      },
    };
  }

  async #record({ accepted, refused }: Sent<ClaimedMessageEvent>): Promise<void> {
    const { database, fence, clock, metrics, retry, log } = this.#context;
    const now = clock.now();
    const charged = refused.map(({ row, reason }) => chargeAttempt(row, reason, now, retry));
    await database.transaction(
      async (tx) => {
        const ids = accepted.map((event) => event.eventId);
        await markMessageEventsSent(tx, ids, toTimestamp(now));
        await refuseMessageEvents(tx, charged);
        failpoint('delivery.written');
      },
      { fence },
    );
    metrics.delivery.inc({ target: TARGET, outcome: 'sent' }, accepted.length);
    for (const { enqueuedAt } of accepted) {
      if (enqueuedAt !== null)
        metrics.endToEndSeconds.observe(Math.max(0, now - toMillis(enqueuedAt)) / 1000);
    }
    for (const { eventId: id, nextAttemptAt, attempts, reason } of charged) {
      failpoint('refusal.recorded');
      const dead = nextAttemptAt === null;
      metrics.delivery.inc({ target: TARGET, outcome: dead ? 'dead' : 'refused' });
      const fields = { eventId: id.toString(), attempts, reason };
      if (dead) log.error(fields, 'event is DEAD: the target refused it at every attempt');
      else log.warn(fields, 'event refused by the target');
    }
  }
}

/** The first member of this name; quotes inside values are escaped, so that no value looks like one. */
const UPDATED_AT = /"updatedAt" ?: ?"([^"]*)"/;

/** Reads it out of the text: parsing whole bodies, here or in the database, costs more than all else of a claim. */
function updatedAtOf(body: string): string {
  const updatedAt = UPDATED_AT.exec(body)?.[1];
  if (updatedAt === undefined) throw new Error('an event without updatedAt');
  return updatedAt;
}

/**
 * Puts the ID first. The body is stored as compact JSON text in published order, so that no event is parsed
 * and built again on its way out.
 */
function withEventId(id: bigint, body: string): string {
  return `{"eventId":"${id.toString()}",${body.trimStart().slice(1)}`;
}
