/** Which entries are shown; kept in the address. */
import type { ReactNode } from 'react';
import { useSpeech } from '../../i18n/language.tsx';
import { setQuery, useRoute } from '../../ui/router.ts';

export function AuditFilter(): ReactNode {
  const { t } = useSpeech();
  const { query } = useRoute();
  const { who = '', action = '', target = '', from = '', to = '' } = query;
  return (
    <form className="list-tools" role="search" onSubmit={(event) => event.preventDefault()}>
      <input
        type="search"
        value={who}
        placeholder={t.act.whoFilter}
        aria-label={t.act.who}
        onChange={(event) => setQuery({ who: event.target.value })}
      />
      <select
        value={action}
        aria-label={t.act.action}
        onChange={(event) => setQuery({ action: event.target.value })}
      >
        <option value="">{t.act.anyAction}</option>
        {Object.entries(t.act.actionWords).map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
      <input
        type="search"
        value={target}
        placeholder={t.act.targetFilter}
        aria-label={t.act.target}
        onChange={(event) => setQuery({ target: event.target.value })}
      />
      <label>
        {t.act.fromDay}
        <input type="date" value={from} onChange={(event) => setQuery({ from: event.target.value })} />
      </label>
      <label>
        {t.act.toDay}
        <input type="date" value={to} onChange={(event) => setQuery({ to: event.target.value })} />
      </label>
    </form>
  );
}
