/** The versions of a flight that are kept: what each changed, which message did it, and what became of its event. */
import { useMemo, type ReactNode } from 'react';
import type { Json } from '../../../domain/json.ts';
import { isJsonObject } from '../../../domain/json.ts';
import { versionPages, type Difference, type FlightVersion } from '../../api/flights.ts';
import { useSpeech } from '../../i18n/language.tsx';
import { entryText } from '../../model/entry-text.ts';
import { fieldLabel } from '../../model/flight-fields.ts';
import { hrefTo } from '../../model/route.ts';
import { Freshness } from '../../ui/freshness.tsx';
import { useMoment } from '../../ui/moment.ts';
import { More } from '../../ui/listing.tsx';
import { Panel } from '../../ui/panel.tsx';
import { useListed } from '../../ui/reading.ts';

interface VersionsProps {
  readonly flid: string;
  /** Another one: something has happened. */
  readonly news: string;
}

export function VersionsPanel({ flid, news }: VersionsProps): ReactNode {
  const { t } = useSpeech();
  const listed = useListed(useMemo(() => versionPages(flid), [flid, news]));
  return (
    <Panel title={t.flight.versions} extra={<Freshness of={listed} />}>
      {listed.data?.length === 0 && <p className="nothing">{t.flight.versionsNone}</p>}
      <ol className="versions" data-testid="versions">
        {(listed.data ?? []).map((version) => (
          <Version key={version.eventId} of={version} />
        ))}
      </ol>
      <More of={listed} />
    </Panel>
  );
}

function Version({ of }: { readonly of: FlightVersion }): ReactNode {
  const { t } = useSpeech();
  const moment = useMoment();
  const { version, type, state, createdAt, sentAt, msgId, attempts, lastError, target, eventId } = of;
  return (
    <li data-version={version}>
      <h3>
        {t.version(version)} <span className={`tag event-${state}`}>{state}</span>
      </h3>
      <p className="quiet">
        {moment(createdAt)}
        {msgId !== null && (
          <>
            {' · '}
            <a className="plain-link" href={hrefTo('messages', [msgId])}>
              {t.message(msgId)}
            </a>
          </>
        )}{' '}
        · {target} {eventId}
        {sentAt !== null && ` · ${t.flight.keptSent(moment(sentAt))}`}
      </p>
      {lastError !== null && state !== 'SENT' && (
        <p className="is-bad">{t.flight.attemptsFailed(attempts, lastError)}</p>
      )}
      {type === 'TOMBSTONE' ? (
        <p>
          <span className="tag is-bad">{t.flight.deletion}</span>
        </p>
      ) : (
        <Differences of={of} />
      )}
    </li>
  );
}

function Differences({
  of: { version, differences, beforeKept },
}: {
  readonly of: FlightVersion;
}): ReactNode {
  const { t } = useSpeech();
  const rows = (
    <dl className="differences">
      {differences.map((difference) => (
        <Row key={difference.path} difference={difference} compare={beforeKept && version > 1} />
      ))}
    </dl>
  );
  // The first names everything that it brings: whoever wants it opens it.
  if (version === 1) {
    return (
      <details>
        <summary>{t.flight.first}</summary>
        {rows}
      </details>
    );
  }
  return (
    <>
      {!beforeKept && <p className="quiet">{t.flight.beforeGone}</p>}
      {rows}
    </>
  );
}

function Row({
  difference,
  compare,
}: {
  readonly difference: Difference;
  readonly compare: boolean;
}): ReactNode {
  const { t, label } = useSpeech();
  const { path } = difference;
  const was = linesOf(difference.before, t.attribute);
  const is = linesOf(difference.after, t.attribute);
  const same = compare ? is.filter((line) => was.includes(line)).length : 0;
  const gone = compare ? was.filter((line) => !is.includes(line)) : [];
  const come = compare ? is.filter((line) => !was.includes(line)) : is;
  return (
    <div data-path={path}>
      <dt>{label(fieldLabel(path))}</dt>
      <dd>
        {gone.map((line) => (
          <del key={line}>{line}</del>
        ))}
        {come.map((line) => (
          <ins key={line}>{line}</ins>
        ))}
        {come.length === 0 && gone.length > 0 && <span className="quiet">{t.flight.nothing}</span>}
        {same > 0 && <span className="quiet">{t.flight.same(same)}</span>}
      </dd>
    </div>
  );
}

/** A value as lines: a collection an entry a line, nothing where there is none. */
function linesOf(value: Json, names: Readonly<Record<string, string>>): readonly string[] {
  if (value === null || value === '') return [];
  if (Array.isArray(value)) {
    return [
      ...new Set(
        (value as readonly Json[]).map((entry) =>
          isJsonObject(entry) ? entryText(entry, names) : String(entry),
        ),
      ),
    ];
  }
  const text = isJsonObject(value) ? entryText(value, names) : String(value);
  return [/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) ? text.slice(0, 16).replace('T', ' ') : text];
}
