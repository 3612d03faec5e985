/**
 * The upstream of a torture run: plays a simulated day into a mailbox whose server is killed under it. It does what any
 * client has to: a write whose answer is lost is written again, and the mailbox may then hold it twice.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenInsert } from '../../src/mailbox/port.ts';
import type { WritableMailbox } from '../../src/simulator/writer.ts';

/** How long the mailbox may be away, ms. */
const PATIENCE_MS = 120_000;
const PAUSE_MS = 200;

export class StubbornUpstream implements WritableMailbox {
  /** IDs of which the mailbox said that they are committed. */
  readonly acknowledged = new Set<bigint>();
  readonly #mailbox: WritableMailbox;
  #repeats = 0;

  constructor(mailbox: WritableMailbox) {
    this.#mailbox = mailbox;
  }

  /** Writes that had to be repeated. */
  get repeats(): number {
    return this.#repeats;
  }

  async insert(text: string): ReturnType<WritableMailbox['insert']> {
    const id = await this.#again(() => this.#mailbox.insert(text));
    this.acknowledged.add(id);
    return id;
  }

  async insertAll(texts: readonly string[]): ReturnType<WritableMailbox['insertAll']> {
    const ids = await this.#again(() => this.#mailbox.insertAll(texts));
    for (const id of ids) this.acknowledged.add(id);
    return ids;
  }

  async openInsert(text: string): Promise<OpenInsert> {
    const open = await this.#again(() => this.#mailbox.openInsert(text));
    return {
      id: open.id,
      commit: async () => {
        try {
          await open.commit();
          this.acknowledged.add(open.id);
        } catch {
          // Its server died under it: nobody knows whether it was committed.
          this.#repeats += 1;
          await this.insert(text);
        }
      },
      // What died was rolled back.
      rollback: () => open.rollback().catch(() => undefined),
    };
  }

  async #again<T>(write: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (performance.now() > deadline) throw error;
        this.#repeats += 1;
        await sleep(PAUSE_MS);
      }
    }
  }
}
