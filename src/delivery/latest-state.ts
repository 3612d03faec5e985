/** KAFKA:schd: the newest state of each flight, intermediate ones may be skipped (seed §8.2). */
import { failpoint } from '#failpoint';
import { cloudEventHeaders, scheduleEventValue, type ScheduleEventValue } from '../domain/event.ts';
import { eventId, flid } from '../domain/ids.ts';
import { codesOf, namesOf, type Names } from '../domain/names.ts';
import { airportTime } from '../runtime/airport-time.ts';
import { AGAIN, REST, restUntil, type Round } from '../runtime/station.ts';
import { nextEventAttempt } from '../store/msg-event.ts';
import {
  claimLatestStates,
  lockLatestStates,
  markLatestStatesSent,
  refuseLatestStates,
  type ClaimedLatestState,
} from '../store/schd-event.ts';
import { selectRecords } from '../store/reference-names.ts';
import { toMillis, toMillisOrNull, toTimestamp } from '../store/time.ts';
import type { DeliveryContext } from './context.ts';
import { chargeAttempt } from './retry.ts';
import type { Outgoing, Sender, Sent } from './sender.ts';

const TARGET = 'KAFKA:schd';

export class LatestState {
  readonly #context: DeliveryContext;
  readonly #sender: Sender;

  constructor(context: DeliveryContext, sender: Sender) {
    this.#context = context;
    this.#sender = sender;
  }

  /**
   * Sends the newest state of the due flights. Throws Outage where a dependency is away (nothing is charged)
   * and LostLease.
   */
  async flush(): Promise<Round> {
    const { database, clock, flushLimit } = this.#context;
    const states = await claimLatestStates(database, toTimestamp(clock.now()), flushLimit);
    if (states.length > 0) {
      failpoint('flush.claimed');
      const namesOfRow = await this.#names(states);
      const sent = await this.#sender.send(states.map((state) => this.#outgoing(state, namesOfRow(state))));
      failpoint('flush.accepted');
      await this.#record(sent);
      failpoint('flush.recorded');
      if (sent.outage !== null) throw sent.outage;
      // Full of changes, there may be more of them. What waited for its time has time: a flush per interval is the rate
      // at which states are told again on demand, so that they never stand in the way of live traffic.
      if (states.length === flushLimit && !states.some(({ waited }) => waited)) return AGAIN;
    }
    const due = toMillisOrNull(await nextEventAttempt(database, TARGET));
    return due === null ? REST : restUntil(due);
  }

  /** Names of the flights' codes as they are now, read in one statement; nothing where none are published. */
  async #names(
    states: readonly ClaimedLatestState[],
  ): Promise<(row: ClaimedLatestState) => Names | undefined> {
    const { database, publication } = this.#context;
    const { names: rules } = publication;
    if (rules === undefined) return () => undefined;
    const codes = states.flatMap(({ flight }) => (flight === null ? [] : codesOf(flight.state, rules)));
    const recordOf = await selectRecords(database, codes);
    return ({ flight }) => (flight === null ? undefined : namesOf(flight.state, rules, recordOf));
  }

  #outgoing(row: ClaimedLatestState, names: Names | undefined): Outgoing<ClaimedLatestState> {
    const { airport, timeZone } = this.#context;
    // A flight that is no longer there has been archived: its deletion is dated by the row.
    const time = airportTime(toMillis(row.flight?.updatedAt ?? row.createdAt), timeZone);
    const value = this.#value(row, time, names);
    return {
      row,
      record: {
        stream: 'schd',
        key: row.flid,
        headers: cloudEventHeaders({
          eventId: eventId(row.sendId),
          value: 'schd',
          type: value === null ? 'TOMBSTONE' : 'UPSERT',
          airport,
          flid: flid(row.flid),
          time,
        }),
        value: value === null ? null : JSON.stringify(value),
      },
    };
  }

  #value(
    { flight, flid: key }: ClaimedLatestState,
    updatedAt: string,
    names: Names | undefined,
  ): ScheduleEventValue | null {
    if (flight === null) return null;
    return scheduleEventValue({ ...flight, flid: flid(key), updatedAt }, this.#context.publication, names);
  }

  async #record({ accepted, refused }: Sent<ClaimedLatestState>): Promise<void> {
    const { database, fence, clock, metrics, retry, log } = this.#context;
    const now = clock.now();
    const charged = refused.map(({ row, reason }) => ({
      ...chargeAttempt(row, reason, now, retry),
      stateVersion: row.stateVersion,
      flid: row.flid,
    }));
    const marked = await database.transaction(
      async (tx) => {
        await lockLatestStates(
          tx,
          [...accepted, ...charged].map(({ eventId: id }) => id),
        );
        await refuseLatestStates(tx, charged);
        const sent = await markLatestStatesSent(tx, accepted, toTimestamp(now));
        failpoint('flush.written');
        return sent;
      },
      { fence },
    );
    metrics.delivery.inc({ target: TARGET, outcome: 'sent' }, marked.size);
    metrics.delivery.inc({ target: TARGET, outcome: 'overtaken' }, accepted.length - marked.size);
    for (const { flid: key, nextAttemptAt, attempts, reason } of charged) {
      failpoint('refusal.recorded');
      const dead = nextAttemptAt === null;
      metrics.delivery.inc({ target: TARGET, outcome: dead ? 'dead' : 'refused' });
      const fields = { flid: key, attempts, reason };
      if (dead) log.error(fields, 'state is DEAD: the target refused it at every attempt');
      else log.warn(fields, 'state refused by the target');
    }
  }
}
