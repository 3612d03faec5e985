/** One flight as a set of registers, each with the ID of the message that wrote it last (decisions.md, "State"). */
import { ATTRIBUTED, LISTS, PORTS, SCALARS } from './elements.ts';
import { codeOf, place, type Entry, type Json, type Write } from './message.ts';

interface Register {
  readonly by: bigint;
  readonly value: Json;
}

const PATHS: readonly string[] = [
  ...SCALARS.map(({ to }) => to),
  ...Object.values(ATTRIBUTED).flatMap((sources) => sources.map(({ to }) => to)),
  ...Object.values(PORTS),
];
const LIST_NAMES = new Set(Object.values(LISTS).map(({ name }) => name));

export class Flight {
  readonly flid: string;
  readonly operationDay: string;
  version = 0;
  /** Scalars by path, lists by name, `delay CODE`, `push STAND`, `tractor STAND`, `deleted`. */
  readonly #registers = new Map<string, Register>();
  /** The newest message that cleared all delays. */
  #floor: bigint | null = null;

  constructor(flid: string, operationDay: string) {
    this.flid = flid;
    this.operationDay = operationDay;
  }

  get deleted(): boolean {
    return this.#valueOf('deleted') === true;
  }

  /** The message that wrote `deleted` last; 0 where none has. */
  get deletedBy(): bigint {
    return this.#registers.get('deleted')?.by ?? 0n;
  }

  /** Writes unless a newer message has written the register before. */
  write(by: bigint, write: Write): void {
    switch (write.what) {
      case 'scalar':
        this.#set(by, write.path, write.value);
        return;
      case 'list':
        this.#set(by, write.name, write.entries);
        return;
      case 'delay':
        if (this.#floor === null || by >= this.#floor) this.#set(by, `delay ${write.code}`, write.entry);
        return;
      case 'no-delays':
        this.#clearDelays(by);
        return;
      case 'push':
        this.#set(by, `push ${write.stand}`, write.value);
        return;
      case 'tractor':
        this.#set(by, `tractor ${write.stand}`, write.value);
    }
  }

  /** Says that the flight is deleted, or that it is not. */
  mark(by: bigint, deleted: boolean): void {
    this.#set(by, 'deleted', deleted);
  }

  /** The flight as it is stored: every field there, null or [] where nothing is known. */
  state(): Record<string, Json> {
    const state: Record<string, Json> = { flid: this.flid };
    for (const path of PATHS) place(state, path, this.#valueOf(path));
    for (const name of LIST_NAMES) state[name] = this.#valueOf(name) ?? [];
    state['stands'] = (state['stands'] as readonly Entry[]).map((stand) => {
      const push = this.#valueOf(`push ${codeOf(stand)}`) ?? { time: null, indicator: null };
      return { ...stand, push, tractorAt: this.#valueOf(`tractor ${codeOf(stand)}`) };
    });
    state['delays'] = this.#delays();
    return state;
  }

  #set(by: bigint, name: string, value: Json): void {
    const known = this.#registers.get(name);
    if (known === undefined || by >= known.by) this.#registers.set(name, { by, value });
  }

  #clearDelays(by: bigint): void {
    if (this.#floor !== null && this.#floor > by) return;
    this.#floor = by;
    for (const [name, register] of this.#registers) {
      if (name.startsWith('delay ') && register.by <= by) this.#registers.delete(name);
    }
  }

  #delays(): readonly Json[] {
    const names = [...this.#registers.keys()].filter((name) => name.startsWith('delay '));
    return names.sort().map((name) => this.#valueOf(name));
  }

  #valueOf(name: string): Json {
    return this.#registers.get(name)?.value ?? null;
  }
}
