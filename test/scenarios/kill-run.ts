/** Processes that are killed at a failpoint, one after the other, and the last one, which ends as it should. */
import { expect } from 'vitest';
import type { FailpointName } from '../../src/runtime/failpoints/names.ts';
import { startMsgx, type MsgxProcess } from '../kit/msgx-process.ts';
import type { Closing, Settings, TestPipeline } from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';

export interface KillOptions {
  readonly name: FailpointName;
  /** Each process is killed at its Nth passing. */
  readonly passings: readonly number[];
  /** A folder in which Node keeps what it has compiled: most of a start is that. */
  readonly compiled: string;
}

/** How a process that was to be killed ended. */
export interface Death {
  /** By SIGKILL, at its failpoint. */
  readonly killed: boolean;
  /** Messages that had ended by then. */
  readonly finished: number;
}

/** A failpoint and which of its passings. */
export interface Passing {
  readonly name: FailpointName;
  readonly passing: number;
}

/** Starts `msgx run` that ends itself with SIGKILL at a failpoint. */
export function startArmed(
  closing: Closing,
  pipeline: TestPipeline,
  { name, passing, compiled, settings = {} }: Passing & { compiled: string; settings?: Settings },
): Promise<MsgxProcess> {
  return startMsgx(closing, pipeline, {
    settings,
    nodeArguments: ['--conditions=msgx-failpoints'],
    env: { NODE_COMPILE_CACHE: compiled, MSGX_TEST_FAILPOINT: `${name}:${String(passing)}` },
  });
}

/** Waits for the end of an armed process; whether it was the one meant. */
export async function diedAt(armed: MsgxProcess, { name, passing }: Passing): Promise<boolean> {
  const { signal } = await armed.ended;
  // Node itself may have warned of something before.
  return signal === 'SIGKILL' && armed.stderr().endsWith(`failpoint ${name}, passing ${String(passing)}\n`);
}

/** Nobody renews it: as if its 4 s had passed. That a standby waits for them is a scenario of its own. */
export async function freeLease(pipeline: TestPipeline): Promise<void> {
  await pipeline.rows('update lease set expires_at = clock_timestamp()');
}

/** `msgx run` again and again: each process takes over from the one that was killed before it. */
export class Killed {
  readonly #closing: Closing;
  readonly #pipeline: TestPipeline;
  readonly #options: KillOptions;
  readonly #processes: MsgxProcess[] = [];
  readonly #deaths: Death[] = [];
  #error: Error | null = null;

  constructor(closing: Closing, pipeline: TestPipeline, options: KillOptions) {
    this.#closing = closing;
    this.#pipeline = pipeline;
    this.#options = options;
    void this.#run().catch((error: unknown) => {
      this.#error = error instanceof Error ? error : new Error(String(error));
    });
  }

  /** URL of the process that runs now. */
  async url(): Promise<string> {
    const current = this.#processes.at(-1);
    return current === undefined ? '' : current.serving();
  }

  /** The death of a process; where it still lives, SIGTERM has to take it to its failpoint. */
  async death(index: number): Promise<Death> {
    if (this.#deaths[index] === undefined) this.#processes[index]?.signal('SIGTERM');
    return this.#wait('the failpoint to be reached', () => this.#deaths[index] ?? null);
  }

  /** Ends the last process with SIGTERM. */
  async stop(): Promise<void> {
    const count = this.#options.passings.length + 1;
    await this.#wait('the last process', () => (this.#processes.length === count ? true : null));
    const last = this.#processes.at(-1)!;
    await last.active();
    last.signal('SIGTERM');
    expect(await last.ended, last.stderr()).toEqual({ code: 0, signal: null });
  }

  async #run(): Promise<void> {
    const { name, passings, compiled } = this.#options;
    const env = { NODE_COMPILE_CACHE: compiled };
    for (const passing of passings) {
      const armed = await startArmed(this.#closing, this.#pipeline, { name, passing, compiled });
      this.#processes.push(armed);
      const killed = await diedAt(armed, { name, passing });
      const { finished } = await this.#pipeline.standing();
      this.#deaths.push({ killed, finished });
      await freeLease(this.#pipeline);
    }
    this.#processes.push(await startMsgx(this.#closing, this.#pipeline, { env }));
  }

  #wait<T>(what: string, ask: () => T | null): Promise<T> {
    return until(what, () => {
      if (this.#error !== null) throw this.#error;
      return ask();
    });
  }
}
