/** A value that components can watch. The smallest thing that lets a row render without its table. */
export interface Store<State> {
  readonly get: () => State;
  readonly set: (next: State) => void;
  readonly update: (change: (state: State) => State) => void;
  /** Calls back after each change; the returned function ends that. */
  readonly subscribe: (listener: () => void) => () => void;
}

export function createStore<State>(initial: State): Store<State> {
  let state = initial;
  const listeners = new Set<() => void>();
  const set = (next: State): void => {
    if (Object.is(next, state)) return;
    state = next;
    for (const listener of listeners) listener();
  };
  return {
    get: () => state,
    set,
    update: (change) => set(change(state)),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
