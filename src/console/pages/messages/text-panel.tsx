/** The text of a message as it came, with the offending places marked; for operators. */
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { isJsonObject, type Json } from '../../../domain/json.ts';
import { fetchText, textAddress, type FullMessage } from '../../api/messages.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { piecesOf, placeOf, placesNaming, type Place } from '../../model/text-place.ts';
import { Panel } from '../../ui/panel.tsx';
import { useRole } from '../../ui/role.ts';

/** A fault as the record keeps it. */
interface KeptFault {
  readonly reason: string;
  readonly message: string;
  readonly line: number | null;
  readonly column: number | null;
}

export function TextPanel({ of }: { readonly of: FullMessage }): ReactNode {
  const { t } = useSpeech();
  const role = useRole();
  const faults = useMemo(() => faultsOf(of.detail), [of.detail]);
  const { kept, bytes } = of.text;
  return (
    <Panel
      title={t.msg.text}
      extra={
        <span className="quiet">
          {bytes !== null && t.msg.textOf(bytes)}{' '}
          {kept && role === 'operator' && (
            <a className="plain-link" href={textAddress(of.msgId)} target="_blank" rel="noreferrer">
              {t.msg.textAlone}
            </a>
          )}
        </span>
      }
    >
      {faults.length > 0 && (
        <ul className="faults" aria-label={t.msg.faults}>
          {faults.map(({ reason, message, line, column }, index) => (
            <li key={index}>
              <span className="code">{reason}</span> {message}{' '}
              {line !== null && column !== null && (
                <span className="quiet">{t.msg.faultAt(line, column)}</span>
              )}
            </li>
          ))}
        </ul>
      )}
      {!kept && <p className="nothing">{t.msg.textGone}</p>}
      {kept && role !== null && role !== 'operator' && <p className="nothing">{t.msg.textForOperators}</p>}
      {kept && role === 'operator' && <Text msgId={of.msgId} faults={faults} />}
    </Panel>
  );
}

function Text({
  msgId,
  faults,
}: {
  readonly msgId: string;
  readonly faults: readonly KeptFault[];
}): ReactNode {
  const { t } = useSpeech();
  const [text, setText] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const first = useRef<HTMLElement>(null);
  useEffect(() => {
    const reader = new AbortController();
    fetchText(msgId, reader.signal).then(setText, (reason: unknown) => {
      if (!reader.signal.aborted) setError(String(reason));
    });
    return () => reader.abort();
  }, [msgId]);
  const pieces = useMemo(() => (text === null ? [] : piecesOf(text, placesIn(text, faults))), [text, faults]);
  useEffect(() => {
    // The place lies in a box that scrolls for itself; the page stays where it is.
    const mark = first.current;
    const box = mark?.closest('pre');
    if (mark !== null && box) box.scrollTop = Math.max(0, mark.offsetTop - box.clientHeight / 3);
  }, [pieces]);
  if (error !== null) return <p className="is-bad">{error}</p>;
  if (text === null) return <p className="nothing">{t.loading}</p>;
  const firstMark = pieces.findIndex(({ kind }) => kind === 'marked');
  return (
    <pre className="message-text" tabIndex={0} role="region" aria-label={t.msg.text} data-testid="text">
      {pieces.map((piece, index) => {
        switch (piece.kind) {
          case 'plain':
            return <span key={index}>{piece.text}</span>;
          case 'marked':
            return (
              <mark key={index} ref={index === firstMark ? first : undefined}>
                {piece.text === '' ? t.msg.endsHere : piece.text}
              </mark>
            );
          case 'left-out':
            return (
              <i key={index} className="left-out">
                {t.msg.leftOut(piece.characters)}
              </i>
            );
        }
      })}
    </pre>
  );
}

function placesIn(text: string, faults: readonly KeptFault[]): readonly Place[] {
  return faults.flatMap(({ reason, line, column }) => {
    if (line === null || column === null) return placesOfFlight(text, reason);
    const place = placeOf(text, line, column);
    return place === null ? [] : [place];
  });
}

/** A refused package names flights, which have their places in the text. */
function placesOfFlight(text: string, reason: string): readonly Place[] {
  const flid = /^(?:duplicate-flid|operation-day-conflict):(\d+)/.exec(reason)?.[1];
  return flid === undefined ? [] : placesNaming(text, flid);
}

/** The faults that the judgement kept (src/pump/candidate.ts); other details have none. */
function faultsOf(detail: FullMessage['detail']): readonly KeptFault[] {
  const faults: Json = detail?.['faults'] ?? null;
  if (!Array.isArray(faults)) return [];
  return (faults as readonly Json[]).flatMap((fault) => {
    if (typeof fault === 'string') return [{ reason: fault, message: '', line: null, column: null }];
    if (!isJsonObject(fault)) return [];
    const { reason = '', message = '', line = null, column = null } = fault;
    return [
      {
        reason: typeof reason === 'string' ? reason : '',
        message: typeof message === 'string' ? message : '',
        line: typeof line === 'number' ? line : null,
        column: typeof column === 'number' ? column : null,
      },
    ];
  });
}
