/**
 * An operator's action: what would happen, as msgx itself has tried it; why; and what became of it. It takes the focus
 * and gives it back; Escape leaves, Enter in the reason does it.
 */
import {
  useEffect,
  useId,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
  type SyntheticEvent,
} from 'react';
import { act, type ActionAnswer } from '../api/operate.ts';
import { useSpeech } from '../i18n/language.tsx';
import { PAGE_TITLE } from '../ui/page-head.tsx';
import { useSession } from '../ui/session.tsx';
import type { Action, Values } from './action.ts';
import { ActionFields } from './action-fields.tsx';
import { ActionOutcome } from './action-outcome.tsx';
import { useTrial } from './use-trial.ts';
import './actions.css';

interface ActionDialogProps {
  readonly action: Action;
  /** Something was changed. */
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** What msgx keeps of a reason (src/actions/outcome.ts). */
const LONGEST_REASON = 1_000;

export function ActionDialog({ action, onDone, onClose }: ActionDialogProps): ReactNode {
  const { t } = useSpeech();
  const { session } = useSession();
  const allowed = session?.role === 'operator';
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries((action.fields ?? []).map(({ name, initial }) => [name, initial])),
  );
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<ActionAnswer | null>(null);
  const body = action.body(values);
  const path = action.path(values);
  const trial = useTrial(path, allowed ? body : null);
  const dialog = useDialog();
  const reasonField = useRef<HTMLInputElement>(null);
  const closeButton = useRef<HTMLButtonElement>(null);
  const id = useId();
  const ended = answer?.outcome === 'done';
  const possible = trial?.outcome === 'planned';

  useEffect(() => {
    (reasonField.current ?? closeButton.current)?.focus();
  }, []);
  useEffect(() => {
    if (ended) closeButton.current?.focus();
  }, [ended]);

  const confirm = async (event: SyntheticEvent): Promise<void> => {
    event.preventDefault();
    if (busy || ended || !possible || body === null || reason.trim() === '') return;
    setBusy(true);
    const told = await act(path, { ...body, reason });
    setBusy(false);
    setAnswer(told);
    if (told.outcome === 'done') onDone();
  };
  /** What lies under the dialog must not hear the key that leaves it. */
  const hear = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') event.stopPropagation();
  };

  return (
    <dialog
      ref={dialog}
      className={`action-dialog ${action.final === true ? 'is-final' : ''}`}
      aria-labelledby={`${id}title`}
      aria-describedby={`${id}lead`}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onKeyDown={hear}
      data-testid="action"
    >
      <form onSubmit={(event) => void confirm(event)}>
        <h2 id={`${id}title`}>{action.title}</h2>
        <p id={`${id}lead`} className="lead">
          {action.lead}
        </p>
        {!ended && allowed && (
          <ActionFields
            fields={action.fields ?? []}
            values={values}
            onChange={(name, value) => {
              setValues((before) => ({ ...before, [name]: value }));
              setAnswer(null);
            }}
          />
        )}
        <div className="told" role="status" data-testid="action-told">
          {allowed ? (
            <ActionOutcome
              answer={answer ?? trial}
              waiting={answer === null && trial === null && body !== null}
            />
          ) : (
            <p>{t.session.needsOperator(session?.name ?? '', session?.role ?? '')}</p>
          )}
        </div>
        {!ended && allowed && (
          <label className="reason">
            <span>{t.act.why}</span>
            <input
              ref={reasonField}
              value={reason}
              required
              maxLength={LONGEST_REASON}
              autoComplete="off"
              onChange={(event) => setReason(event.target.value)}
            />
          </label>
        )}
        <div className="buttons">
          {!ended && allowed && (
            <button type="submit" className="plain do" disabled={busy || !possible || reason.trim() === ''}>
              {action.confirm}
            </button>
          )}
          <button type="button" className="plain" ref={closeButton} onClick={onClose}>
            {ended || !allowed ? t.act.close : t.act.cancel}
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** Opens the element as a modal while it is there; whoever had the focus gets it back, if it still stands. */
function useDialog(): React.RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    const opener = document.activeElement;
    if (element !== null && !element.open) element.showModal();
    return () => {
      element?.close();
      if (opener instanceof HTMLElement) giveBack(opener);
    };
  }, []);
  return dialog;
}

/** How long the opener may take to vanish by what was done, ms. */
const VANISHING_MS = 10_000;

/** Gives the focus to the opener, and to the heading of the page once it has gone, perhaps by this very action. */
function giveBack(opener: HTMLElement): void {
  const toHeading = (): void => document.getElementById(PAGE_TITLE)?.focus();
  if (!opener.isConnected) {
    toHeading();
    return;
  }
  opener.focus();
  const watch = new MutationObserver(() => {
    if (opener.isConnected) return;
    watch.disconnect();
    if (document.activeElement === document.body) toHeading();
  });
  watch.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => watch.disconnect(), VANISHING_MS);
}
