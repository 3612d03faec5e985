/** What the text says, as fields and values by the profile in use. */
import { useEffect, useState, type ReactNode } from 'react';
import { SCALARS } from '../../../domain/fields.ts';
import type { Json } from '../../../domain/json.ts';
import type { Body, DecodeOutcome, FlightPatch, Write } from '../../../domain/message.ts';
import { fetchDecoded, type FullMessage } from '../../api/messages.ts';
import type { Dictionary } from '../../i18n/en.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { entryText } from '../../model/entry-text.ts';
import { fieldLabel } from '../../model/flight-fields.ts';
import { members } from '../../model/reference.ts';
import { hrefTo } from '../../model/route.ts';

/** Records shown at once: a schedule has thousands. */
const RECORDS = 10;

export function DecodedPanel({ of }: { readonly of: FullMessage }): ReactNode {
  const { t } = useSpeech();
  // A schedule is long: it is read when somebody asks.
  const [open, setOpen] = useState(of.text.kept && of.type !== 'SCHD');
  if (!of.text.kept) return null;
  return (
    <details
      className="panel decoded"
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      data-testid="decoded"
    >
      <summary>
        <h2>{t.msg.decoded}</h2> <span className="quiet">{t.msg.decodedNow}</span>
      </summary>
      {open && <Decoded msgId={of.msgId} />}
    </details>
  );
}

function Decoded({ msgId }: { readonly msgId: string }): ReactNode {
  const { t } = useSpeech();
  const [decoded, setDecoded] = useState<DecodeOutcome | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    const reader = new AbortController();
    fetchDecoded(msgId, reader.signal).then(setDecoded, (reason: unknown) => {
      if (!reader.signal.aborted) setError(String(reason));
    });
    return () => reader.abort();
  }, [msgId]);
  if (error !== null) return <p className="is-bad">{error}</p>;
  if (decoded === null) return <p className="nothing">{t.loading}</p>;
  const header = decoded.outcome === 'decoded' ? decoded.message.header : decoded.header;
  return (
    <>
      {decoded.outcome !== 'decoded' && (
        <p>
          {t.msg.notDecoded} <span className="code">{decoded.reason}</span>
        </p>
      )}
      {header !== null && (
        <dl className="record-facts">
          {Object.entries(header)
            .filter(([, value]) => value !== null)
            .map(([name, value]) => (
              <div key={name}>
                <dt>{t.msg.headerField[name] ?? name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
        </dl>
      )}
      {decoded.outcome === 'decoded' && (
        <>
          <BodyView body={decoded.message.body} />
          {decoded.message.unknownElements.length > 0 && (
            <p>
              {t.msg.unknownElements}:{' '}
              <span className="code">{decoded.message.unknownElements.join(', ')}</span>
            </p>
          )}
        </>
      )}
    </>
  );
}

function BodyView({ body }: { readonly body: Body }): ReactNode {
  const { t } = useSpeech();
  switch (body.kind) {
    case 'ignored':
    case 'unsupported':
      return <p>{t.msg.bodyWords[body.kind]}</p>;
    case 'deletion':
      return <p>{t.msg.deletes(body.flids)}</p>;
    case 'schedule':
      return (
        <>
          {body.declared !== null && <p className="quiet">{t.msg.declared(body.declared)}</p>}
          <Records records={body.records} show={(record, index) => <Patch key={index} patch={record} />} />
        </>
      );
    case 'operation':
      return (
        <Records records={body.records} show={(record, index) => <Patch key={index} patch={record} />} />
      );
    case 'reference':
      return (
        <Records
          records={body.records}
          show={({ key, body: record }) => (
            <section key={key} className="decoded-record">
              <h3>
                {body.rtype} {key}
              </h3>
              <dl className="record-facts">
                {members(record).map(({ name, text }) => (
                  <div key={name}>
                    <dt>{name}</dt>
                    <dd>{text}</dd>
                  </div>
                ))}
              </dl>
            </section>
          )}
        />
      );
  }
}

interface RecordsProps<Record> {
  readonly records: readonly Record[];
  readonly show: (record: Record, index: number) => ReactNode;
}

function Records<Record>({ records, show }: RecordsProps<Record>): ReactNode {
  const { t } = useSpeech();
  const [shown, setShown] = useState(RECORDS);
  return (
    <>
      <p className="quiet">{t.msg.records(records.length)}</p>
      {records.slice(0, shown).map(show)}
      {shown < records.length && (
        <button type="button" className="plain" onClick={() => setShown(shown + 5 * RECORDS)}>
          {t.msg.moreRecords}
        </button>
      )}
    </>
  );
}

function Patch({ patch: { flid, writes } }: { readonly patch: FlightPatch }): ReactNode {
  const { t, label } = useSpeech();
  return (
    <section className="decoded-record">
      <h3>
        <a className="plain-link" href={hrefTo('flights', [flid])}>
          FLID {flid}
        </a>
      </h3>
      <dl className="record-facts">
        {writes.map((write, index) => {
          const { name, values } = told(write, t);
          return (
            <div key={index}>
              <dt>{name ?? label(fieldLabel('field' in write ? write.field : ''))}</dt>
              <dd>
                {values.length === 0 ? <span className="quiet">{t.msg.cleared}</span> : null}
                {values.map((value, position) => (
                  <span key={position} className="each">
                    {value}
                  </span>
                ))}
              </dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}

/** A write as a name (null where the catalogue has it) and values; without values it clears. */
function told(
  write: Write,
  t: Dictionary,
): { readonly name: string | null; readonly values: readonly string[] } {
  const one = (value: Json): readonly string[] => (value === null || value === '' ? [] : [String(value)]);
  switch (write.kind) {
    case 'scalar': {
      const time = SCALARS.some(({ path, type }) => path === write.field && type === 'time');
      return { name: null, values: one(time && write.value !== null ? timeText(write.value) : write.value) };
    }
    case 'list':
      return { name: null, values: write.entries.map((entry) => entryText(entry, t.attribute)) };
    case 'delay':
      return { name: t.msg.delayOf(write.code), values: [entryText(write.value, t.attribute)] };
    case 'delays-cleared':
      return { name: t.msg.delaysCleared, values: [] };
    case 'push':
      return {
        name: t.msg.pushAt(write.stand),
        values: write.value === null ? [] : [entryText(write.value, t.attribute)],
      };
    case 'tractor':
      return {
        name: t.msg.tractorAt(write.stand),
        values: one(write.value === null ? null : timeText(write.value)),
      };
  }
}

const timeText = (value: string | number): string => String(value).replace('T', ' ').slice(0, 19);
