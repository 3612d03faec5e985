/**
 * The first code of the console that runs. It is small, so that what the page will show is asked for while the page's own
 * code is still on its way; then it lets that begin. No request waits for another.
 */
import { fetchFlight, versionPages } from './api/flights.ts';
import { fetchMessage, messagePages } from './api/messages.ts';
import { seriesOf, spanIn } from './api/operate.ts';
import { PAGE_ROWS, readEarly } from './api/read.ts';
import { fetchFlightPage, fetchStatus } from './api/requests.ts';
import { fetchSession } from './api/session.ts';
import { messageFilter } from './model/message-filter.ts';
import { parseRoute, type Route } from './model/route.ts';

type Reading = (signal: AbortSignal) => Promise<unknown>;

/** What the page of an address reads first; exactly as the page itself will. Lists that are short are not worth it. */
function firstReadings({ page, rest: [id], query }: Route): readonly Reading[] {
  switch (page) {
    case 'messages': {
      if (id !== undefined) return [(signal) => fetchMessage(id, signal)];
      // A time is one of the airport, whose zone is not known yet.
      if ((query['from'] ?? '') !== '' || (query['to'] ?? '') !== '') return [];
      return [(signal) => messagePages(messageFilter(query, null))(null, PAGE_ROWS, signal)];
    }
    case 'flights':
      if (id === undefined) return [(signal) => fetchFlightPage(null, null, signal)];
      return [(signal) => fetchFlight(id, signal), (signal) => versionPages(id)(null, PAGE_ROWS, signal)];
    case 'health':
      return [(signal) => seriesOf(spanIn(query), signal)];
    default:
      return [];
  }
}

for (const reading of [fetchSession, fetchStatus, ...firstReadings(parseRoute(window.location.hash))]) {
  readEarly(reading);
}
void import('./main.tsx');
