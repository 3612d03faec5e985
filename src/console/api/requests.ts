/** What the console reads of stations, flights of a day, events, reference data and requests. */
import { read } from './read.ts';
import type {
  DayCount,
  EventRow,
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

export const fetchStatus = (signal: AbortSignal): Promise<Status> => read<Status>('api/v1/status', signal);

/** The newest events, newest first. */
export async function fetchEvents(limit: number, signal: AbortSignal): Promise<readonly EventRow[]> {
  return (await read<{ events: readonly EventRow[] }>(`api/v1/events?limit=${String(limit)}`, signal)).events;
}

/** A whole day of flights. */
export interface FlightDay {
  readonly day: string | null;
  readonly days: readonly DayCount[];
  readonly flights: readonly FlightRow[];
}

/** Rows of the first page of a day, which fill a screen, and of each further one: the most that msgx gives. */
const FIRST_ROWS = 100;
const MORE_ROWS = 2_000;

/** A page of a day; without a day of the one that msgx chooses. @param after where the page before ended */
export function fetchFlightPage(
  day: string | null,
  after: string | null,
  signal: AbortSignal,
): Promise<FlightPage> {
  const query = new URLSearchParams({ limit: String(after === null ? FIRST_ROWS : MORE_ROWS) });
  if (day !== null) query.set('day', day);
  if (after !== null) query.set('after', after);
  return read<FlightPage>(`api/v1/flights?${query.toString()}`, signal);
}

/**
 * Reads all pages of a day; without a day msgx chooses the one an operator wants to see now.
 *
 * @param onPart told of what has been read so far, where there is more
 */
export async function fetchFlights(
  day: string | null,
  signal: AbortSignal,
  onPart: (read: FlightDay) => void,
): Promise<FlightDay> {
  const flights: FlightRow[] = [];
  let after: string | null = null;
  let chosen = day;
  for (;;) {
    const page: FlightPage = await fetchFlightPage(chosen, after, signal);
    flights.push(...page.flights);
    chosen = page.day;
    after = page.next;
    const known = { day: page.day, days: page.days, flights };
    if (after === null) return known;
    onPart(known);
  }
}

/** The types of reference data that have rows. */
export async function fetchReferenceTypes(signal: AbortSignal): Promise<readonly ReferenceType[]> {
  return (await read<{ types: readonly ReferenceType[] }>('api/v1/reference', signal)).types;
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
  return read<ReferencePage>(`api/v1/reference/${encodeURIComponent(rtype)}?${query.toString()}`, signal);
}

/** One row with its history. */
export function fetchReferenceRow(
  rtype: string,
  rkey: string,
  signal: AbortSignal,
): Promise<ReferenceDetailRow> {
  return read<ReferenceDetailRow>(
    `api/v1/reference/${encodeURIComponent(rtype)}/${encodeURIComponent(rkey)}`,
    signal,
  );
}

/** Requests to the upstream, newest first. */
export function fetchRequests(
  state: RequestFilter,
  limit: number,
  signal: AbortSignal,
): Promise<RequestPage> {
  return read<RequestPage>(`api/v1/requests?state=${state}&limit=${String(limit)}`, signal);
}
