/** Asks the upstream for the schedules of some days, or for a type of reference data; with the reason. */
import { useId, useState, type SyntheticEvent, type ReactNode } from 'react';
import { sendRequest } from '../api/requests.ts';
import { useSpeech } from '../i18n/language.tsx';
import { airportDay } from '../model/time.ts';
import { useClock, useStatus } from './live-context.tsx';

interface RequestFormProps {
  /** Reference types that can be asked for. */
  readonly types: readonly string[];
  readonly onAsked: () => void;
}

/** What the first choice says for schedules; no reference type is called so. */
const SCHEDULE = 'SCHD';

type Outcome = { readonly kind: 'done' | 'refused'; readonly text: string };

export function RequestForm({ types, onAsked }: RequestFormProps): ReactNode {
  const { t } = useSpeech();
  const zone = useStatus().status?.timeZone ?? 'UTC';
  const today = airportDay(useClock(), zone);
  const [type, setType] = useState(SCHEDULE);
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const told = useId();

  const first = from === '' ? today : from;
  const ask = async (event: SyntheticEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      const asked =
        type === SCHEDULE
          ? ({ what: 'schedule', from: first, to: to === '' ? first : to } as const)
          : ({ what: 'reference', type } as const);
      setOutcome({ kind: 'done', text: t.registered(await sendRequest(asked, reason)) });
      setReason('');
      onAsked();
    } catch (error) {
      setOutcome({ kind: 'refused', text: error instanceof Error ? error.message : String(error) });
    }
    setBusy(false);
  };

  return (
    <form className="tools" aria-label={t.askUpstream} onSubmit={(event) => void ask(event)}>
      <select value={type} aria-label={t.askFor} onChange={(event) => setType(event.target.value)}>
        <option value={SCHEDULE}>{t.schedule}</option>
        {types.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
      {type === SCHEDULE && (
        <>
          <input
            type="date"
            className="day"
            value={first}
            aria-label={t.firstDay}
            onChange={(event) => setFrom(event.target.value)}
          />
          <input
            type="date"
            className="day"
            value={to === '' ? first : to}
            aria-label={t.lastDay}
            onChange={(event) => setTo(event.target.value)}
          />
        </>
      )}
      <input
        value={reason}
        required
        maxLength={1_000}
        placeholder={t.reasonHint}
        aria-label={t.reason}
        aria-describedby={told}
        onChange={(event) => setReason(event.target.value)}
      />
      <button type="submit" className="plain" disabled={busy || reason.trim() === ''}>
        {t.ask}
      </button>
      <p id={told} role="status" className={outcome?.kind === 'refused' ? 'is-bad' : 'quiet'}>
        {outcome?.text}
      </p>
    </form>
  );
}
