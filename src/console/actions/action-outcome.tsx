/** What an action would do, has done, or was refused for; of several things, each that is worth a line. */
import type { ReactNode } from 'react';
import type { ActionAnswer } from '../api/operate.ts';
import { useSpeech } from '../i18n/language.tsx';
import { rowsOf, type AnswerNote, type AnswerRow } from '../model/action-answer.ts';
import { Icon, type Sign } from '../ui/icons.tsx';

interface ActionOutcomeProps {
  readonly answer: ActionAnswer | null;
  readonly waiting: boolean;
}

const SIGNS: Readonly<Record<ActionAnswer['outcome'], Sign>> = {
  done: 'check',
  planned: 'info',
  refused: 'stop',
  failed: 'alert',
};

/** Things named one by one. */
const SHOWN = 50;

export function ActionOutcome({ answer, waiting }: ActionOutcomeProps): ReactNode {
  const { t } = useSpeech();
  if (answer === null) return waiting ? <p className="quiet">{t.act.looking}</p> : null;
  const rows = answer.outcome === 'failed' ? null : rowsOf(answer.body);
  const plan = answer.outcome === 'failed' ? undefined : answer.body.plan;
  const listed = rows?.length ?? 0;
  const { all, changed } = (answer.outcome === 'failed' ? undefined : answer.body.counted) ?? {
    all: listed,
    changed: rows?.filter(({ refused }) => refused === null).length ?? 0,
  };
  return (
    <>
      <p className={`outcome is-${answer.outcome}`} data-outcome={answer.outcome}>
        <Icon sign={SIGNS[answer.outcome]} />
        <b>{rows === null ? t.act.outcome[answer.outcome] : t.act.outcomeOf[answer.outcome](changed, all)}</b>
      </p>
      {rows !== null && all > listed && (
        <p data-testid="beyond">
          {t.act.beyond[answer.outcome === 'done' ? 'done' : 'planned'](listed, all - listed)}
        </p>
      )}
      {plan !== undefined && (
        <p>{t.act.plan(plan.flights, plan.deleted, plan.alreadyPending, plan.seconds)}</p>
      )}
      {(rows === null || rows.length === 1 || answer.outcome === 'refused') && (
        <p className="words" lang="en">
          {answer.message}
        </p>
      )}
      {rows !== null && rows.some(worthALine) && <Things rows={rows} />}
    </>
  );
}

const worthALine = ({ refused, about }: AnswerRow): boolean => refused !== null || about.length > 0;

function Things({ rows }: { readonly rows: readonly AnswerRow[] }): ReactNode {
  const { t } = useSpeech();
  const shown = rows.filter(worthALine).slice(0, SHOWN);
  return (
    <ul className="things" tabIndex={0} aria-label={t.act.each}>
      {shown.map((row) => (
        <li key={row.id} className={row.refused === null ? '' : 'is-refused'}>
          {row.name.kind !== 'request' && <b>{t.act.thing[row.name.kind](row.name.id)}</b>}{' '}
          {row.about.map((note, index) => (
            <Note key={index} note={note} />
          ))}
          {row.refused !== null && (
            <span className="why">
              {t.act.left} <span lang="en">{row.refused}</span>
            </span>
          )}
        </li>
      ))}
      {rows.length > shown.length && <li className="quiet">{t.act.andMore(rows.length - shown.length)}</li>}
    </ul>
  );
}

function Note({ note }: { readonly note: AnswerNote }): ReactNode {
  const { t } = useSpeech();
  switch (note.kind) {
    case 'becomes':
      return <span>{t.act.becomes(note.outcome)} </span>;
    case 'superseded':
      return <span className="warned">{t.act.superseded(note.flid, note.fields)} </span>;
    case 'version':
      return <span>{t.act.versionOf(note.flid, note.version)} </span>;
    case 'later':
      return <span className="warned">{t.act.later(note.versions)} </span>;
    case 'asks':
      return <span>{t.requestOf(note.type, note.operationDay)} </span>;
    case 'replaces':
      return <span className="warned">{t.act.replaces(note.requests)} </span>;
  }
}
