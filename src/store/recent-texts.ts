/**
 * Texts on their way from the inbox to the pump of the same process. They stand in raw_message as well, which is what
 * counts after a crash; to read and inflate there what has just been packed would cost a tenth of all work on a message.
 */

/** Most characters held: some thousand usual messages. */
const MOST_CHARACTERS = 4 << 20;

export class RecentTexts {
  /** By message ID, ascending. */
  readonly #texts = new Map<bigint, string>();
  readonly #most: number;
  #characters = 0;
  #last = -1n;

  /** @param most most characters held; what does not fit is read from the database */
  constructor(most = MOST_CHARACTERS) {
    this.#most = most;
  }

  /** Holds texts that are stored and committed, as far as there is room; their IDs ascend from call to call. */
  hold(messages: readonly { readonly id: bigint; readonly text: string | null }[]): void {
    for (const { id, text } of messages) {
      if (text === null || id <= this.#last || this.#characters + text.length > this.#most) continue;
      this.#texts.set(id, text);
      this.#characters += text.length;
      this.#last = id;
    }
  }

  /** IDs between which the texts need not be read: most of them are here. Empty (to below from) where none is. */
  get range(): { readonly from: bigint; readonly to: bigint } {
    for (const from of this.#texts.keys()) return { from, to: this.#last };
    return { from: 0n, to: -1n };
  }

  /** Gives a text away; those of smaller IDs are let go, since the line has passed them. */
  take(id: bigint): string | undefined {
    const taken = this.#texts.get(id);
    for (const [held, { length }] of this.#texts) {
      if (held > id) break;
      this.#texts.delete(held);
      this.#characters -= length;
    }
    return taken;
  }
}
