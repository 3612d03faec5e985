/** One row of reference data: what it holds, the messages behind it, and what it had been. */
import { useEffect, useState, type ReactNode } from 'react';
import { fetchReferenceRow } from '../../api/requests.ts';
import type { ReferenceDetailRow } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { changedMembers, members } from '../../model/reference.ts';
import { airportClock, airportDay } from '../../model/time.ts';
import { DetailFrame } from '../../ui/detail-frame.tsx';
import { useStatus } from '../../ui/live-context.tsx';
import type { ReferenceKey } from './reference-panel.tsx';

interface ReferenceDetailProps {
  readonly of: ReferenceKey;
  readonly onClose: () => void;
}

export function ReferenceDetail({ of: { rtype, rkey }, onClose }: ReferenceDetailProps): ReactNode {
  const { t } = useSpeech();
  const [row, setRow] = useState<ReferenceDetailRow | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    const reader = new AbortController();
    setRow(null);
    setError(null);
    fetchReferenceRow(rtype, rkey, reader.signal).then(setRow, (reason: unknown) => {
      if (!reader.signal.aborted) setError(String(reason));
    });
    return () => reader.abort();
  }, [rtype, rkey]);

  return (
    <DetailFrame name={`${rtype} ${rkey}`} onClose={onClose}>
      <h2 id="detail-name">
        {rkey} <span className="quiet">{rtype}</span>
      </h2>
      {error !== null && <p className="is-bad">{error}</p>}
      {row === null ? error === null && <p className="nothing">{t.loading}</p> : <Known row={row} />}
    </DetailFrame>
  );
}

function Known({ row }: { readonly row: ReferenceDetailRow }): ReactNode {
  const { t } = useSpeech();
  const zone = useStatus().status?.timeZone ?? 'UTC';
  const time = (at: string): string => `${airportDay(at, zone)} ${airportClock(at, zone)}`;
  return (
    <>
      <p className="detail-marks">
        <span className={row.active ? 'tag is-ok' : 'tag'}>{row.active ? t.activeRow : t.inactive}</span>
      </p>
      <p className="quiet">
        {t.namedBy(row.namedBy)} · {t.updated} {time(row.updatedAt)}
      </p>
      <section>
        <h3>{t.record}</h3>
        <Body of={row} next={null} />
      </section>
      <section data-testid="reference-history">
        <h3>{t.history}</h3>
        {row.history.length === 0 && <p className="nothing">{t.noHistory}</p>}
        {row.history.map((past, index) => (
          <article key={index}>
            <p className="quiet">
              {t.untilMessage(past.until.msgId, time(past.until.at))}
              {!past.active && <span className="tag">{t.inactive}</span>}
            </p>
            <Body of={past} next={index === 0 ? row : (row.history[index - 1] ?? null)} />
          </article>
        ))}
      </section>
    </>
  );
}

interface BodyProps {
  readonly of: Pick<ReferenceDetailRow, 'body'>;
  /** What came after it: members that differ are marked. */
  readonly next: Pick<ReferenceDetailRow, 'body'> | null;
}

function Body({ of: { body }, next }: BodyProps): ReactNode {
  const changed = next === null ? new Set<string>() : changedMembers(next.body, body);
  return (
    <dl className="fields">
      {members(body).map(({ name, text }) => (
        <div key={name} className={changed.has(name) ? 'is-changed' : ''}>
          <dt>{name}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}
