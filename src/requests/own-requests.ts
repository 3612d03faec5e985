/** Requests that the service makes by itself: at its start, and each day at a set time. */
import { failpoint } from '#failpoint';
import { addDays, operationDay } from '../domain/operation-day.ts';
import { SCHEDULE_REQUEST } from '../domain/request.ts';
import { airportTime, localMoment } from '../runtime/airport-time.ts';
import { registerRequest, wasRegisteredSince, type RequestKey } from '../store/req-track.ts';
import type { RequestsContext } from './context.ts';

const AT_START = 'msgx:on-start';
const DAILY = 'msgx:daily-at';

export class OwnRequests {
  readonly #context: RequestsContext;
  /** Settings of `requests.on-start` that are still to be registered. */
  readonly #starting: string[];

  constructor(context: RequestsContext) {
    this.#context = context;
    this.#starting = [...context.onStart];
  }

  /** Registers what is due now; what an outage leaves is registered in a later round. */
  async register(): Promise<void> {
    for (let [setting] = this.#starting; setting !== undefined; [setting] = this.#starting) {
      for (const key of this.#keysOf(setting)) await this.#registerOne(key, AT_START);
      this.#starting.shift();
    }
    await this.#registerDaily();
  }

  #keysOf(setting: string): readonly RequestKey[] {
    const { sender, dialect } = this.#context;
    const reference = (rtype: string) => ({ rtype, operationDay: null, sender });
    switch (setting) {
      case 'today':
        return [this.#scheduleOf(this.#today())];
      case 'tomorrow':
        return [this.#scheduleOf(addDays(this.#today(), 1))];
      case 'reference':
        return dialect.referenceTypes.map(reference);
      default:
        return [reference(setting)];
    }
  }

  /** Once per day, from the set time on; the record tells whether it has been, also after a restart. */
  async #registerDaily(): Promise<void> {
    const { database, clock, timeZone, dailyAt } = this.#context;
    if (dailyAt === null) return;
    const date = airportTime(clock.now(), timeZone).slice(0, 10);
    const due = localMoment(date, dailyAt, timeZone);
    if (clock.now() < due) return;
    const key = this.#scheduleOf(addDays(date, 1));
    if (await wasRegisteredSince(database, key, DAILY, due)) return;
    await this.#registerOne(key, DAILY);
  }

  async #registerOne(key: RequestKey, by: string): Promise<void> {
    const { database, fence, clock, log } = this.#context;
    failpoint('request.due');
    const { reqId } = await database.transaction(
      async (tx) => {
        const registered = await registerRequest(tx, key, { by, now: clock.now() });
        failpoint('request.written');
        return registered;
      },
      { fence },
    );
    failpoint('request.registered');
    log.info({ reqId, rtype: key.rtype, operationDay: key.operationDay, by }, 'request registered');
  }

  #scheduleOf(day: string): RequestKey {
    return { rtype: SCHEDULE_REQUEST, operationDay: day, sender: this.#context.sender };
  }

  #today(): string {
    const { clock, timeZone, operationDayCutoff } = this.#context;
    return operationDay(airportTime(clock.now(), timeZone), operationDayCutoff);
  }
}
