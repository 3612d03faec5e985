/** Asks the mailbox who is writing; says once where it cannot be known (decisions.md, "Watermark details"). */
import type { Mailbox } from '../mailbox/port.ts';
import type { Log } from '../runtime/log.ts';

export class LivingWriters {
  readonly #mailbox: Mailbox;
  readonly #log: Log;
  #said = false;

  constructor(mailbox: Mailbox, log: Log) {
    this.#mailbox = mailbox;
    this.#log = log;
  }

  /** Tokens of the writers now; null where not wanted or not known: the clock alone decides then. */
  async ask(wanted: boolean): Promise<ReadonlySet<string> | null> {
    if (!wanted) return null;
    const tokens = await this.#mailbox.writers();
    if (tokens !== null) return new Set(tokens);
    if (!this.#said) {
      this.#said = true;
      this.#log.warn(
        { mailbox: this.#mailbox.name },
        'writers of the mailbox cannot be seen: holes are released by the clock alone',
      );
    }
    return null;
  }
}
