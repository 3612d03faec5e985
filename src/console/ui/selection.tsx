/** Choosing rows of a list for an action. */
import { useState, type ReactNode } from 'react';
import { useSpeech } from '../i18n/language.tsx';

export interface Selection {
  /** Those that are still on show. */
  readonly ids: readonly string[];
  readonly has: (id: string) => boolean;
  readonly toggle: (id: string) => void;
  readonly toggleAll: () => void;
  readonly all: boolean;
}

export function useSelection(shown: readonly string[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const ids = shown.filter((id) => chosen.has(id));
  const all = shown.length > 0 && ids.length === shown.length;
  return {
    ...{ ids, all, has: (id) => chosen.has(id) },
    toggle: (id) =>
      setChosen((before) => {
        const after = new Set(before);
        if (!after.delete(id)) after.add(id);
        return after;
      }),
    toggleAll: () => setChosen(all ? new Set() : new Set(shown)),
  };
}

/** The box in a row. */
export function Choose({
  of,
  id,
  name,
}: {
  readonly of: Selection;
  readonly id: string;
  readonly name: string;
}): ReactNode {
  const { t } = useSpeech();
  return (
    <input
      type="checkbox"
      checked={of.has(id)}
      onChange={() => of.toggle(id)}
      aria-label={t.act.choose(name)}
    />
  );
}

/** The box above all rows. */
export function ChooseAll({ of }: { readonly of: Selection }): ReactNode {
  const { t } = useSpeech();
  return <input type="checkbox" checked={of.all} onChange={of.toggleAll} aria-label={t.act.chooseAll} />;
}
