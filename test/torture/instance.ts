/** One of the two places where `msgx run` runs: whatever ends it, it is started again, as an operator's supervisor would. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startMsgx, type LogLine, type MsgxProcess } from '../kit/msgx-process.ts';
import type { Closing } from '../kit/service-pipeline.ts';
import type { Parts, Wiring } from './parts.ts';

const ACTIVE = 'active: lease acquired';
const ROLES = new Set([
  ACTIVE,
  'standby: another instance is active',
  'lease lost: another instance is active',
  'lease lost: it could not be renewed in time',
]);
const CLOCK = new URL('../kit/shifted-clock.ts', import.meta.url).href;
/** How long a process may take to serve, ms: its servers may be away. */
const STARTING_MS = 90_000;

/** An end that nobody had asked for. */
export interface OwnEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

export class Instance {
  readonly name: string;
  readonly wiring: Wiring;
  readonly ownEnds: OwnEnd[] = [];
  readonly #closing: Closing;
  readonly #parts: Parts;
  readonly #jumps: string;
  readonly #processes: MsgxProcess[] = [];
  readonly #asked = new WeakSet<MsgxProcess>();
  #busy: Promise<unknown> = Promise.resolve();
  #stopping = false;

  /** @param jumps by how much the clock of its processes is set, one after the other, ms */
  constructor(closing: Closing, parts: Parts, name: string, wiring: Wiring, jumps: readonly number[]) {
    this.#closing = closing;
    this.#parts = parts;
    this.name = name;
    this.wiring = wiring;
    this.#jumps = jumps.join(',');
  }

  get #process(): MsgxProcess {
    const process = this.#processes.at(-1);
    if (process === undefined) throw new Error(`${this.name} was never started`);
    return process;
  }

  /** When it became the active one, by its own clock's line number; null where it is not, or does not know yet. */
  get active(): LogLine | null {
    const last = this.#process.log.findLast(({ msg }) => ROLES.has(msg));
    return last?.msg === ACTIVE ? last : null;
  }

  /** Whether it waits for the other one's silence. */
  get waiting(): boolean {
    return this.#process.log.findLast(({ msg }) => ROLES.has(msg))?.msg.startsWith('standby') === true;
  }

  /** Epochs under which it was active. */
  epochs(): readonly bigint[] {
    return this.#processes.flatMap(({ log }) =>
      log.flatMap(({ msg, epoch }) => (msg === ACTIVE ? [BigInt(String(epoch))] : [])),
    );
  }

  /** What its processes wrote to stderr: an operator would take it for trouble. */
  stderr(): readonly string[] {
    return this.#processes.map((process) => process.stderr().trim()).filter((text) => text !== '');
  }

  async start(): Promise<void> {
    const process = await startMsgx(this.#closing, this.#parts.pipeline, {
      settings: this.wiring.settings,
      env: { SHIFTED_CLOCK_JUMPS: this.#jumps },
      nodeArguments: ['--import', CLOCK],
    });
    this.#processes.push(process);
    void process.ended.then(async ({ code, signal }) => {
      if (this.#asked.has(process)) return;
      this.ownEnds.push({ code, signal, stderr: process.stderr().trim() });
      await sleep(500);
      if (!this.#stopping && this.#process === process) await this.start();
    });
  }

  /** Kill -9, and started again after a while. */
  kill(downMs: number): Promise<void> {
    return this.#alone(async () => {
      const process = this.#process;
      this.#asked.add(process);
      process.signal('SIGKILL');
      await process.ended;
      await sleep(downMs);
      await this.start();
    });
  }

  /** SIGSTOP, and SIGCONT after a while. */
  freeze(forMs: number): Promise<void> {
    return this.#alone(async () => {
      const process = this.#process;
      process.signal('SIGSTOP');
      await sleep(forMs);
      process.signal('SIGCONT');
    });
  }

  /** Sets its wall clock. */
  setClock(): Promise<void> {
    return this.#alone(async () => {
      // Before it runs, the signal would end it.
      await this.#process.logged('msgx is running', STARTING_MS);
      this.#process.signal('SIGUSR2');
    });
  }

  /** Stops it as an operator would; gives how it ended. */
  async stop(): Promise<string> {
    this.#stopping = true;
    await this.#busy;
    const process = this.#process;
    this.#asked.add(process);
    process.signal('SIGCONT');
    process.signal('SIGTERM');
    const { code, signal } = await process.ended;
    return signal ?? String(code);
  }

  /** Writes the logs of all its processes into a folder. */
  async writeLogs(folder: string): Promise<void> {
    for (const [index, process] of this.#processes.entries()) {
      const name = join(folder, `msgx-${this.name}-${String(index + 1).padStart(3, '0')}`);
      await writeFile(`${name}.jsonl`, process.log.map((line) => `${JSON.stringify(line)}\n`).join(''));
      if (process.stderr() !== '') await writeFile(`${name}.stderr`, process.stderr());
    }
  }

  /** One thing after the other is done to its process. */
  #alone(work: () => Promise<void>): Promise<void> {
    const done = this.#busy.then(work);
    this.#busy = done.catch(() => undefined);
    return done;
  }
}
