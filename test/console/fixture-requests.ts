/** Requests of the fixture: one of each kind that waits, and more that have ended than a page shows. */
import type { RequestItem, RequestPage, RequestState } from '../../src/console/api/types.ts';

const AT = '2026-03-14T01:00:00.000Z';
const OPEN: readonly RequestState[] = ['PENDING', 'SENT'];

export class FixtureRequests {
  #requests: readonly RequestItem[] = [
    request(64, { type: 'SCHD', operationDay: '2026-03-16', state: 'PENDING' }),
    ...Array.from({ length: 60 }, (_, index) =>
      request(63 - index, {
        ...{ type: 'ARPT', state: 'DONE', doneAt: AT, doneBy: String(900 + index) },
        ...{ matched: index === 0 ? 'downgraded' : 'exact', ...written(63 - index) },
      }),
    ),
    request(3, {
      ...{ type: 'SCHD', operationDay: '2026-03-15', state: 'SENT', expiresAt: '2026-03-14T01:05:00.000Z' },
      ...written(3),
    }),
    request(2, { state: 'EXPIRED', expiredAt: AT, expiredBecause: 'timeout', ...written(2) }),
    request(1, { state: 'EXPIRED', expiredAt: AT, expiredBecause: 'replaced' }),
  ];

  /** Requests by state. */
  counts(): Readonly<Record<RequestState, number>> {
    const counts = { PENDING: 0, SENT: 0, DONE: 0, EXPIRED: 0 };
    for (const { state } of this.#requests) counts[state] += 1;
    return counts;
  }

  page(query: URLSearchParams): RequestPage {
    const wanted = query.get('state');
    const found = this.#requests.filter(({ state }) =>
      wanted === 'open'
        ? OPEN.includes(state)
        : wanted === 'closed'
          ? !OPEN.includes(state)
          : state === wanted,
    );
    const limit = Number(query.get('limit'));
    return {
      requests: found.slice(0, limit),
      next: found.length > limit ? 'more' : null,
      referenceTypes: ['ARPT', 'STTS'],
    };
  }

  /** One that waits was written and answered. */
  answer(reqId: string): void {
    this.#requests = this.#requests.map((each) =>
      each.reqId === reqId
        ? { ...each, state: 'DONE', doneAt: AT, doneBy: '999', matched: 'exact', ...written(Number(reqId)) }
        : each,
    );
  }
}

function written(reqId: number): Pick<RequestItem, 'sentAt' | 'outId' | 'sequence'> {
  return { sentAt: AT, outId: String(7_000 + reqId), sequence: String(reqId) };
}

function request(reqId: number, fields: Partial<RequestItem>): RequestItem {
  return {
    ...{ reqId: String(reqId), type: 'STTS', operationDay: null, state: 'PENDING', requestedAt: AT },
    ...{ requestedBy: 'msgx:on-start', sequence: null, sentAt: null, outId: null, expiresAt: null },
    ...{ doneAt: null, doneBy: null, matched: null, expiredAt: null, expiredBecause: null },
    ...fields,
  };
}
