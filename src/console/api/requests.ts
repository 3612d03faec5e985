/** Requests of the console to msgx. Relative addresses, so that a path prefix in front of msgx works. */
import type {
  DayCount,
  EventRow,
  FlightNames,
  FlightPage,
  FlightRow,
  ReferenceDetailRow,
  ReferencePage,
  ReferenceType,
  RequestPage,
  RequestState,
  Status,
} from './types.ts';

/** A state, or those that wait and those that have ended. */
export type RequestFilter = RequestState | 'open' | 'closed';

/** The answer was not the one asked for: an HTTP error, or no answer at all. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
}

async function get<Answer>(path: string, signal: AbortSignal): Promise<Answer> {
  const response = await fetch(`api/v1/${path}`, { signal, headers: { accept: 'application/json' } });
  if (!response.ok) throw new ApiError(`${path}: HTTP ${String(response.status)}`);
  return (await response.json()) as Answer;
}

/** Asks for a change. The answer's own words are the error where it is refused. */
async function post<Answer>(path: string, body: object): Promise<Answer> {
  const response = await fetch(`api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = (await response.json().catch(() => ({}))) as { error?: string; message?: string };
  if (!response.ok) throw new ApiError(answer.error ?? answer.message ?? `HTTP ${String(response.status)}`);
  return answer as Answer;
}

export const fetchStatus = (signal: AbortSignal): Promise<Status> => get<Status>('status', signal);

/** The newest events, newest first. */
export async function fetchEvents(limit: number, signal: AbortSignal): Promise<readonly EventRow[]> {
  return (await get<{ events: readonly EventRow[] }>(`events?limit=${String(limit)}`, signal)).events;
}

/** A whole day of flights. */
export interface FlightDay {
  readonly day: string | null;
  readonly days: readonly DayCount[];
  readonly flights: readonly FlightRow[];
}

/** Reads all pages of a day; without a day msgx chooses the one an operator wants to see now. */
export async function fetchFlights(day: string | null, signal: AbortSignal): Promise<FlightDay> {
  const flights: FlightRow[] = [];
  let after: string | null = null;
  let chosen = day;
  for (;;) {
    const query = new URLSearchParams({ limit: '500' });
    if (chosen !== null) query.set('day', chosen);
    if (after !== null) query.set('after', after);
    const page: FlightPage = await get<FlightPage>(`flights?${query.toString()}`, signal);
    flights.push(...page.flights);
    chosen = page.day;
    after = page.next;
    if (after === null) return { day: page.day, days: page.days, flights };
  }
}

/** The names of the codes in a flight. */
export function fetchNames(flid: string, signal: AbortSignal): Promise<FlightNames> {
  return get<FlightNames>(`flights/${encodeURIComponent(flid)}`, signal);
}

/** The types of reference data that have rows. */
export async function fetchReferenceTypes(signal: AbortSignal): Promise<readonly ReferenceType[]> {
  return (await get<{ types: readonly ReferenceType[] }>('reference', signal)).types;
}

/** Which rows of a type are wanted: behind a code, containing a text, inactive ones too or not. */
export interface ReferenceSearch {
  readonly text: string;
  readonly inactive: boolean;
  readonly after: string | null;
}

/** A page of a type. */
export function fetchReferencePage(
  rtype: string,
  { text, inactive, after }: ReferenceSearch,
  signal: AbortSignal,
): Promise<ReferencePage> {
  const query = new URLSearchParams({ limit: '100' });
  if (text !== '') query.set('text', text);
  if (!inactive) query.set('active', 'true');
  if (after !== null) query.set('after', after);
  return get<ReferencePage>(`reference/${encodeURIComponent(rtype)}?${query.toString()}`, signal);
}

/** One row with its history. */
export function fetchReferenceRow(
  rtype: string,
  rkey: string,
  signal: AbortSignal,
): Promise<ReferenceDetailRow> {
  return get<ReferenceDetailRow>(
    `reference/${encodeURIComponent(rtype)}/${encodeURIComponent(rkey)}`,
    signal,
  );
}

/** Requests to the upstream, newest first. */
export function fetchRequests(
  state: RequestFilter,
  limit: number,
  signal: AbortSignal,
): Promise<RequestPage> {
  return get<RequestPage>(`requests?state=${state}&limit=${String(limit)}`, signal);
}

/** What is asked of the upstream: the schedules of some operation days, or all data of a type. */
export type Asked =
  | { readonly what: 'schedule'; readonly from: string; readonly to: string }
  | { readonly what: 'reference'; readonly type: string };

/** Asks the upstream, with the reason for the audit. Gives the IDs of the requests. Throws ApiError. */
export async function sendRequest({ what, ...asked }: Asked, reason: string): Promise<readonly string[]> {
  const { requests } = await post<{ requests: readonly { reqId: string }[] }>(`actions/request/${what}`, {
    ...asked,
    reason,
  });
  return requests.map(({ reqId }) => reqId);
}
