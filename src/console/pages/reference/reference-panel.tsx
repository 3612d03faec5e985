/** Reference data: a type, its rows page by page, found by code or text. */
import { useCallback, useDeferredValue, useEffect, useState, type ReactNode } from 'react';
import { fetchReferencePage, fetchReferenceTypes } from '../../api/requests.ts';
import type { ReferenceRow, ReferenceType } from '../../api/types.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { summary } from '../../model/reference.ts';

interface ReferencePanelProps {
  /** The type on show; null: the first that there is. */
  readonly type: string | null;
  readonly onType: (type: string) => void;
  readonly open: ReferenceKey | null;
  readonly onOpen: (row: ReferenceKey) => void;
}

/** Which row. */
export interface ReferenceKey {
  readonly rtype: string;
  readonly rkey: string;
}

/** Rows of one search, as far as they were read. */
interface Found {
  readonly rows: readonly ReferenceRow[];
  readonly next: string | null;
}

export function ReferencePanel(props: ReferencePanelProps): ReactNode {
  return (
    <section className="panel reference-panel">
      <Lookup {...props} />
    </section>
  );
}

function Lookup({ type, onType, open, onOpen }: ReferencePanelProps): ReactNode {
  const { t } = useSpeech();
  const [types, setTypes] = useState<readonly ReferenceType[] | null>(null);
  const rtype = type ?? types?.[0]?.rtype ?? null;
  const [text, setText] = useState('');
  const [inactive, setInactive] = useState(true);
  const [found, setFound] = useState<Found | null>(null);
  const [error, setError] = useState<string | null>(null);
  const wanted = useDeferredValue(text.trim());

  useEffect(() => {
    const reader = new AbortController();
    fetchReferenceTypes(reader.signal).then(
      (answer) => {
        setTypes(answer);
      },
      (reason: unknown) => {
        if (!reader.signal.aborted) setError(String(reason));
      },
    );
    return () => reader.abort();
  }, []);

  const read = useCallback(
    async (after: string | null, signal: AbortSignal): Promise<void> => {
      if (rtype === null) return;
      try {
        const page = await fetchReferencePage(rtype, { text: wanted, inactive, after }, signal);
        setError(null);
        setFound((before) => ({
          rows: after === null ? page.rows : [...(before?.rows ?? []), ...page.rows],
          next: page.next,
        }));
      } catch (reason) {
        if (!signal.aborted) setError(String(reason));
      }
    },
    [inactive, rtype, wanted],
  );

  useEffect(() => {
    const reader = new AbortController();
    void read(null, reader.signal);
    return () => reader.abort();
  }, [read]);

  if (types?.length === 0) return <p className="nothing">{t.noReference}</p>;
  return (
    <>
      <form className="tools" role="search" onSubmit={(event) => event.preventDefault()}>
        <select
          value={rtype ?? ''}
          aria-label={t.referenceType}
          onChange={(event) => {
            setFound(null);
            onType(event.target.value);
          }}
        >
          {(types ?? []).map((type) => (
            <option key={type.rtype} value={type.rtype}>
              {t.referenceCount(type.rtype, type.active, type.inactive)}
            </option>
          ))}
        </select>
        <input
          type="search"
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder={t.referenceHint}
          aria-label={t.referenceSearch}
        />
        <button
          type="button"
          className="plain"
          aria-pressed={inactive}
          onClick={() => setInactive((shown) => !shown)}
        >
          {t.showInactive}
        </button>
      </form>
      {error !== null && <p className="is-bad">{error}</p>}
      <ul className="reference-rows" data-testid="reference-rows">
        {(found?.rows ?? []).map((row) => (
          <li key={row.rkey} className={row.active ? '' : 'is-gone'}>
            <button
              type="button"
              className="link"
              aria-haspopup="dialog"
              aria-expanded={open?.rtype === rtype && open?.rkey === row.rkey}
              onClick={() => rtype !== null && onOpen({ rtype, rkey: row.rkey })}
            >
              {row.rkey}
            </button>
            <span className="reference-summary">{summary(row)}</span>
            {!row.active && <span className="tag">{t.inactive}</span>}
          </li>
        ))}
      </ul>
      {found === null && error === null && <p className="nothing">{t.loading}</p>}
      {found?.rows.length === 0 && <p className="nothing">{t.noRow}</p>}
      {found !== null && found.next !== null && (
        <button
          type="button"
          className="plain"
          onClick={() => void read(found.next, new AbortController().signal)}
        >
          {t.more}
        </button>
      )}
    </>
  );
}
