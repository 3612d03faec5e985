/** Which messages are shown; kept in the address, so that it can be passed on. */
import { useId, type ReactNode } from 'react';
import { useSpeech } from '../../i18n/language.tsx';
import { FILTER_NAMES, messageFilter } from '../../model/message-filter.ts';
import type { Query } from '../../model/route.ts';
import { useStatus } from '../../ui/live-context.tsx';
import { setQuery, useRoute } from '../../ui/router.ts';

const STATES = ['PENDING', 'FAILED', 'SUCCEEDED', 'SKIPPED', 'DEAD'] as const;
const CLASSES = ['MALFORMED', 'PROTOCOL', 'CODEC_ERROR', 'UNSUPPORTED', 'INFRA', 'EXHAUSTED'] as const;
const NOTHING: Query = Object.fromEntries(FILTER_NAMES.map((name) => [name, '']));
/** Types that are typed often. */
const TYPES = ['FLOP', 'SCHD'] as const;

/** What the address asks for, as the API wants it; the same text for the same question. */
export function useMessageFilter(): string {
  const { query } = useRoute();
  const zone = useStatus().status?.timeZone ?? null;
  return JSON.stringify(messageFilter(query, zone));
}

export function MessageFilter(): ReactNode {
  const { t } = useSpeech();
  const { query } = useRoute();
  const id = useId();
  const some = FILTER_NAMES.some((name) => (query[name] ?? '') !== '');
  const text = (name: 'type' | 'styp' | 'flight', words: string, hint: string): ReactNode => (
    <input
      type="search"
      className={`of-${name}`}
      value={query[name] ?? ''}
      placeholder={hint}
      aria-label={words}
      list={name === 'type' ? `${id}types` : undefined}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => setQuery({ [name]: event.target.value })}
    />
  );
  const time = (name: 'from' | 'to', words: string): ReactNode => (
    <label>
      {words}
      <input
        type="datetime-local"
        value={query[name] ?? ''}
        onChange={(event) => setQuery({ [name]: event.target.value })}
      />
    </label>
  );
  return (
    <form
      className="list-tools"
      role="search"
      aria-label={t.msg.filters}
      onSubmit={(event) => event.preventDefault()}
    >
      <button
        type="button"
        className="plain"
        aria-pressed={query['attention'] === 'true'}
        onClick={() => setQuery({ attention: query['attention'] === 'true' ? '' : 'true' })}
      >
        {t.msg.attention}
      </button>
      <select
        value={query['state'] ?? ''}
        aria-label={t.msg.state}
        onChange={(event) => setQuery({ state: event.target.value })}
      >
        <option value="">{t.msg.anyState}</option>
        {STATES.map((state) => (
          <option key={state} value={state}>
            {state} – {t.procState[state]}
          </option>
        ))}
      </select>
      <select
        value={query['class'] ?? ''}
        aria-label={t.msg.errorClass}
        onChange={(event) => setQuery({ class: event.target.value })}
      >
        <option value="">{t.msg.anyClass}</option>
        {CLASSES.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      {text('type', t.msg.type, `${t.msg.type}…`)}
      <datalist id={`${id}types`}>
        {TYPES.map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
      {text('styp', t.msg.subtype, `${t.msg.subtype}…`)}
      {text('flight', t.msg.flight, t.msg.flightHint)}
      {time('from', t.msg.from)}
      {time('to', t.msg.to)}
      {some && (
        <button type="button" className="plain" onClick={() => setQuery(NOTHING)}>
          {t.msg.clear}
        </button>
      )}
    </form>
  );
}
