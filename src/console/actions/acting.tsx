/** Opens the dialog of an action from anywhere on the page, and tells everybody when something was done. */
import { createContext, use, useCallback, useMemo, useState, type ReactNode } from 'react';
import type { Action } from './action.ts';
import { ActionDialog } from './action-dialog.tsx';

interface Acting {
  readonly open: (action: Action) => void;
  /** Another one after each action that was done: what is on show has to be read again. */
  readonly done: number;
}

const Context = createContext<Acting | null>(null);

export function ActingProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [action, setAction] = useState<Action | null>(null);
  const [done, setDone] = useState(0);
  const close = useCallback(() => setAction(null), []);
  const tell = useCallback(() => setDone((before) => before + 1), []);
  const acting = useMemo<Acting>(() => ({ open: setAction, done }), [done]);
  return (
    <Context value={acting}>
      {children}
      {action !== null && <ActionDialog action={action} onDone={tell} onClose={close} />}
    </Context>
  );
}

export function useActing(): Acting {
  const acting = use(Context);
  if (acting === null) throw new Error('useActing outside of ActingProvider');
  return acting;
}

interface ActionButtonProps {
  readonly action: () => Action;
  readonly disabled?: boolean;
  readonly children: ReactNode;
}

/** A button that opens an action's dialog: nothing happens before it is confirmed there. */
export function ActionButton({ action, disabled = false, children }: ActionButtonProps): ReactNode {
  const { open } = useActing();
  return (
    <button
      type="button"
      className="plain action"
      aria-haspopup="dialog"
      // Not `disabled`: that would lose the focus when the last thing to act on has gone.
      aria-disabled={disabled}
      onClick={() => {
        if (!disabled) open(action());
      }}
    >
      {children}
    </button>
  );
}
