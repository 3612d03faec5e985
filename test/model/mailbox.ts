/**
 * The mailbox as the model sees it: who inserted which ID and when each transaction ended. From that alone follows how
 * each row may end (decisions.md, "Watermark details"): never, in the order of the IDs, or late.
 */

/** When a hole may be passed, ms. */
export interface HoleRules {
  readonly maxCommitDelayMs: number;
  readonly maxHoleHoldMs: number;
  readonly mode: 'elapsed' | 'proved';
}

/** never: it was not committed. in-order: nothing may have passed it. any: its ID may have been passed as empty. */
export type Allowed = 'never' | 'in-order' | 'any';

interface Row {
  readonly id: bigint;
  readonly text: string | null;
  readonly writer: Writer;
}

/** A transaction; it holds the table from its first insert to its end. Moments are the places in the history. */
interface Writer {
  readonly since: number;
  committed: Moment | null;
}

interface Moment {
  readonly place: number;
  /** ms. */
  readonly at: number;
}

export class MailboxModel {
  readonly #rules: HoleRules;
  readonly #rows = new Map<bigint, Row>();
  readonly #open = new Map<number, Writer>();
  #place = 0;

  constructor(rules: HoleRules) {
    this.#rules = rules;
  }

  insert(slot: number, id: bigint, text: string | null): void {
    const writer = this.#open.get(slot) ?? { since: this.#next(), committed: null };
    this.#open.set(slot, writer);
    this.#rows.set(id, { id, text, writer });
  }

  /** @param at ms of the pipeline's clock */
  commit(slot: number, at: number): void {
    const writer = this.#open.get(slot);
    if (writer !== undefined) writer.committed = { place: this.#next(), at };
    this.#open.delete(slot);
  }

  rollback(slot: number): void {
    this.#open.delete(slot);
  }

  /** The committed texts by their IDs. */
  committed(): ReadonlyMap<bigint, string | null> {
    const rows = [...this.#rows.values()].filter(({ writer }) => writer.committed !== null);
    return new Map(rows.map(({ id, text }) => [id, text]));
  }

  allowed(id: bigint): Allowed {
    const { writer } = this.#rows.get(id) ?? {};
    const committed = writer?.committed ?? null;
    if (writer === undefined || committed === null) return 'never';
    // Nobody can see that an ID is missing before a higher one is there.
    const seen = this.#firstAbove(id);
    if (seen === null || seen.place >= committed.place) return 'in-order';
    const { maxCommitDelayMs, maxHoleHoldMs, mode } = this.#rules;
    const held = writer.since < seen.place;
    const wait = held ? Math.max(maxHoleHoldMs, maxCommitDelayMs) : mode === 'proved' ? 0 : maxCommitDelayMs;
    return committed.at >= seen.at + wait ? 'any' : 'in-order';
  }

  /** When the first row with a higher ID was committed. */
  #firstAbove(id: bigint): Moment | null {
    let first: Moment | null = null;
    for (const row of this.#rows.values()) {
      const { committed } = row.writer;
      if (row.id <= id || committed === null) continue;
      if (first === null || committed.place < first.place) first = committed;
    }
    return first;
  }

  #next(): number {
    this.#place += 1;
    return this.#place;
  }
}
