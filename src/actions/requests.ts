/** Requesting schedules and reference data (seed §7.2): precheck, registration and audit in one transaction each. */
import { addDays, isDay } from '../domain/operation-day.ts';
import { SCHEDULE_REQUEST } from '../domain/request.ts';
import type { Database } from '../store/database.ts';
import { insertAudit } from '../store/op-audit.ts';
import { registerRequest, selectOpenOf, type RequestKey } from '../store/req-track.ts';
import type { Operator } from './outcome.ts';

/** Most operation days of one command: more is a mistake, and a burden on the upstream. */
export const MOST_DAYS = 31;

/** What an action on requests works with. */
export interface RequestActions {
  readonly database: Database;
  /** Our SNDR. */
  readonly sender: string;
  /** In shadow mode nothing is sent upstream. */
  readonly shadow: boolean;
  /** Types that the dialect reads. */
  readonly referenceTypes: readonly string[];
}

/** A request that was registered. */
export interface Registered {
  readonly reqId: string;
  readonly type: string;
  readonly operationDay: string | null;
  /** Older open requests of the same type and day: EXPIRED now. */
  readonly replaced: readonly string[];
}

/** A request that would be registered. */
export type Planned = Omit<Registered, 'reqId'>;

export type RequestOutcome =
  | { readonly outcome: 'done'; readonly message: string; readonly requests: readonly Registered[] }
  /** A dry run: nothing is registered. */
  | { readonly outcome: 'planned'; readonly message: string; readonly requests: readonly Planned[] }
  /** What was asked for does not exist, whatever the state. */
  | { readonly outcome: 'invalid'; readonly message: string }
  | { readonly outcome: 'refused'; readonly message: string };

/** Requests the schedule of each operation day from one to another (yyyy-MM-dd), a request per day. Throws Outage. */
export async function requestSchedule(
  actions: RequestActions,
  { from, to }: { readonly from: string; readonly to: string },
  operator: Operator,
  dryRun = false,
): Promise<RequestOutcome> {
  for (const day of [from, to]) if (!isDay(day)) return invalid(`${day} is no day yyyy-MM-dd`);
  const days: string[] = [];
  for (let day = from; day <= to && days.length <= MOST_DAYS; day = addDays(day, 1)) days.push(day);
  if (days.length === 0) return invalid(`the last day ${to} is before the first ${from}`);
  if (days.length > MOST_DAYS) return invalid(`at most ${MOST_DAYS} days can be requested at once`);
  return register(
    actions,
    days.map((operationDay) => ({ rtype: SCHEDULE_REQUEST, operationDay, sender: actions.sender })),
    operator,
    dryRun,
  );
}

/** Requests all reference data of a type. Throws Outage. */
export async function requestReference(
  actions: RequestActions,
  rtype: string,
  operator: Operator,
  dryRun = false,
): Promise<RequestOutcome> {
  if (!actions.referenceTypes.includes(rtype)) {
    return invalid(`no reference type ${rtype.slice(0, 20)}: ${actions.referenceTypes.join(', ')}`);
  }
  return register(actions, [{ rtype, operationDay: null, sender: actions.sender }], operator, dryRun);
}

/** A transaction per request: one that holds several could wait for another that does, and that one for it. */
async function register(
  { database, shadow }: RequestActions,
  keys: readonly RequestKey[],
  { who, reason, now }: Operator,
  dryRun: boolean,
): Promise<RequestOutcome> {
  if (shadow) return { outcome: 'refused', message: 'shadow mode sends nothing upstream' };
  if (dryRun) return plan(database, keys);
  const requests: Registered[] = [];
  for (const key of keys) {
    const { rtype: type, operationDay } = key;
    const { reqId, replaced } = await database.transaction(async (tx) => {
      const registered = await registerRequest(tx, key, { by: who, now });
      await insertAudit(tx, {
        ...{ at: now, who, action: 'request', target: `request:${registered.reqId.toString()}`, reason },
        before: registered.replaced.length === 0 ? null : { open: registered.replaced.map(String) },
        after: { type, operationDay, state: 'PENDING' },
      });
      return registered;
    });
    requests.push({ reqId: reqId.toString(), type, operationDay, replaced: replaced.map(String) });
  }
  const [first] = requests;
  const message =
    requests.length === 1 && first !== undefined
      ? `request ${first.reqId} registered`
      : `${requests.length} requests registered`;
  return { outcome: 'done', message, requests };
}

/** What would be registered, and which open requests that would end. */
async function plan(database: Database, keys: readonly RequestKey[]): Promise<RequestOutcome> {
  const requests: Planned[] = [];
  for (const key of keys) {
    const replaced = (await selectOpenOf(database, key)).map(String);
    requests.push({ type: key.rtype, operationDay: key.operationDay, replaced });
  }
  const replaced = requests.flatMap((request) => request.replaced);
  const ending = replaced.length === 0 ? '' : `; ends the open ${named(replaced)}`;
  const count = requests.length === 1 ? '1 request' : `${requests.length} requests`;
  return { outcome: 'planned', message: `would register ${count}${ending}`, requests };
}

function named(reqIds: readonly string[]): string {
  return `${reqIds.length === 1 ? 'request' : 'requests'} ${reqIds.join(', ')}`;
}

function invalid(message: string): RequestOutcome {
  return { outcome: 'invalid', message };
}
