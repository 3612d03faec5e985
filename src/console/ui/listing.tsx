/** A list as every page shows it: a table that scrolls in its frame, reachable by keyboard, and the button for more. */
import type { KeyboardEventHandler, ReactNode, Ref } from 'react';
import { useSpeech } from '../i18n/language.tsx';
import type { Listed } from './reading.ts';
import { ChooseAll, type Selection } from './selection.tsx';

interface ListTableProps {
  /** What is listed, for those who hear it. */
  readonly label: string;
  readonly id: string;
  /** Heads of the columns behind that of the selection. */
  readonly heads: readonly string[];
  readonly selection?: Selection;
  /** Classes of the frame and of the table. */
  readonly frame?: string;
  readonly look?: string;
  readonly table?: Ref<HTMLTableElement>;
  readonly onKeyDown?: KeyboardEventHandler;
  /** The rows. */
  readonly children: ReactNode;
}

export function ListTable(props: ListTableProps): ReactNode {
  const { label, id, heads, selection, frame = '', look = '', table, onKeyDown, children } = props;
  return (
    <div className={`list-scroll ${frame}`} tabIndex={0} role="region" aria-label={label}>
      <table className={`list ${look}`} data-testid={id} ref={table} onKeyDown={onKeyDown}>
        <thead>
          <tr>
            {selection !== undefined && (
              <th className="box" scope="col">
                <ChooseAll of={selection} />
              </th>
            )}
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** @param label what the button says, where it is not the usual */
export function More({ of, label }: { readonly of: Listed<unknown>; readonly label?: string }): ReactNode {
  const { t } = useSpeech();
  if (of.more === null) return null;
  return (
    <button type="button" className="plain list-more" onClick={of.more}>
      {label ?? t.act.moreRows}
    </button>
  );
}
