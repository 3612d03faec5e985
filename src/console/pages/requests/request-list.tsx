/** The requests, open ones first, or those of a state; read again whenever one has gone on. */
import { useEffect, useState, type ReactNode } from 'react';
import { fetchRequests, type RequestFilter } from '../../api/requests.ts';
import type { RequestItem } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { airportClock, airportDay } from '../../model/time.ts';
import { useStatus } from '../../ui/live-context.tsx';

interface RequestListProps {
  /** Another one: something has happened. */
  readonly version: string;
}

const FILTERS: readonly (RequestFilter | 'all')[] = ['all', 'open', 'PENDING', 'SENT', 'DONE', 'EXPIRED'];
const PAGE = 50;
/** What msgx gives at once. */
const MOST = 500;

export function RequestList({ version }: RequestListProps): ReactNode {
  const { t } = useSpeech();
  const [filter, setFilter] = useState<RequestFilter | 'all'>('all');
  const [limit, setLimit] = useState(PAGE);
  const [found, setFound] = useState<{ readonly requests: readonly RequestItem[]; more: boolean } | null>(
    null,
  );
  const [error, setError] = useState<string | null>(null);

  useEffect(() => {
    const reader = new AbortController();
    const read = async (): Promise<void> => {
      try {
        // Open ones are few: one per day and type.
        const [first, then] = await Promise.all(
          filter === 'all'
            ? [fetchRequests('open', MOST, reader.signal), fetchRequests('closed', limit, reader.signal)]
            : [fetchRequests(filter, limit, reader.signal)],
        );
        if (first === undefined) return;
        setError(null);
        setFound({
          requests: [...first.requests, ...(then?.requests ?? [])],
          more: (then ?? first).next !== null && limit < MOST,
        });
      } catch (reason) {
        if (!reader.signal.aborted) setError(String(reason));
      }
    };
    void read();
    return () => reader.abort();
  }, [filter, limit, version]);

  return (
    <>
      <select
        value={filter}
        aria-label={t.requestsShown}
        onChange={(event) => {
          setLimit(PAGE);
          setFilter(FILTERS.find((each) => each === event.target.value) ?? 'all');
        }}
      >
        {FILTERS.map((each) => (
          <option key={each} value={each}>
            {each === 'all' ? t.allRequests : t.requestFilter[each]}
          </option>
        ))}
      </select>
      {error !== null && <p className="is-bad">{error}</p>}
      {found === null && error === null && <p className="nothing">{t.loading}</p>}
      {found?.requests.length === 0 && <p className="nothing">{t.noRequest}</p>}
      {found !== null && found.requests.length > 0 && (
        <div className="request-scroll">
          <table className="collection" data-testid="requests">
            <thead>
              <tr>
                <th scope="col">{t.request}</th>
                <th scope="col">{t.statusColumn}</th>
                <th scope="col">{t.asked}</th>
                <th scope="col">{t.inCoutmsgs}</th>
                <th scope="col">{t.answer}</th>
              </tr>
            </thead>
            <tbody>
              {found.requests.map((request) => (
                <Row key={request.reqId} request={request} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {found?.more === true && (
        <button type="button" className="plain" onClick={() => setLimit((before) => before + PAGE)}>
          {t.more}
        </button>
      )}
    </>
  );
}

function Row({ request }: { readonly request: RequestItem }): ReactNode {
  const { t } = useSpeech();
  const zone = useStatus().status?.timeZone ?? 'UTC';
  const time = (at: string): string => `${airportDay(at, zone)} ${airportClock(at, zone)}`;
  const { reqId, type, operationDay, state, requestedAt, requestedBy, sentAt, outId, sequence } = request;
  return (
    <tr data-request={reqId}>
      <th scope="row">
        {t.requestOf(type, operationDay)} <span className="quiet">{reqId}</span>
      </th>
      <td>
        <span className={`tag request-${state}`}>{t.requestState[state]}</span>
      </td>
      <td>
        {time(requestedAt)} <span className="quiet">{requestedBy}</span>
      </td>
      <td>
        {outId === null || sentAt === null ? (
          <span className="quiet">{t.notYet}</span>
        ) : (
          <>
            {time(sentAt)} <span className="quiet">{t.outbound(outId, sequence ?? '')}</span>
          </>
        )}
      </td>
      <td>{answerOf(request, t, time)}</td>
    </tr>
  );
}

/** What answered it and when, or how long it waits, or why there is none. */
function answerOf(
  request: RequestItem,
  t: ReturnType<typeof useSpeech>['t'],
  time: (at: string) => string,
): string {
  const { state, expiresAt, doneAt, doneBy, matched, expiredAt, expiredBecause } = request;
  switch (state) {
    case 'PENDING':
      return '';
    case 'SENT':
      return expiresAt === null ? '' : t.waitsUntil(time(expiresAt));
    case 'DONE':
      return `${doneAt === null ? '' : time(doneAt)} ${t.answeredBy(doneBy ?? '', matched ?? 'exact')}`;
    case 'EXPIRED':
      return `${expiredAt === null ? '' : time(expiredAt)} ${t.unanswered(expiredBecause ?? 'timeout')}`;
  }
}
