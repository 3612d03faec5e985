/** A TCP proxy that delays, cuts or silences connections, for faults between us and a server. */
import { createServer, connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface TcpProxy {
  readonly port: number;
  /** Ends all connections at once, with a reset. */
  cut(): void;
  /**
   * A cable pulled out: from now on swallows everything in both directions, the end of a connection included;
   * connections stay open and new ones are accepted. A connection that was silent once stays so.
   */
  silence(): void;
  /** From now on new connections are reset at once. */
  refuse(): void;
  /** From now on each chunk arrives this much later, in either direction, in order; on open connections as well, ms. */
  delay(millis: number): void;
  /**
   * Half-open connections: on those that are open now, this side is gone and the other is told nothing: its socket
   * stays open and silent. New connections pass.
   */
  halfOpen(gone: 'server' | 'client'): void;
  /**
   * Lets a server do something and loses its answer: on the first connection that sends all of `texts`, in this
   * order, what the server answers from then on is swallowed up to `answer`, and the connection is reset. Resolves then.
   */
  loseAnswer(texts: readonly string[], answer: string): Promise<void>;
  /**
   * A slow network: on the first connection that sends all of `texts`, in this order, the server is told nothing from
   * the last of them on, not even that the client has gone. Resolves then; what it resolves to has the server told.
   */
  hold(texts: readonly string[]): Promise<() => void>;
  /** Passes everything again, without delay (to connections opened from now on, where others were silenced). */
  heal(): void;
}

/** Longest text that may be looked for: it is found across chunks. */
const TEXT_LENGTH = 100;

/** What is waited for on any connection, and what happens to the one that says it. */
interface Awaited {
  readonly texts: readonly string[];
  readonly found: (connection: Connection) => void;
}

/** An answer to be lost. */
interface Loss {
  readonly answer: string;
  readonly lost: () => void;
}

/** How far one connection has come with the texts. */
interface Search {
  /** Texts found so far. */
  readonly found: number;
  /** What was said since, as far as a text may begin in it. */
  readonly tail: string;
}

/** What all connections of a proxy go by. */
interface Rules {
  mode: 'pass' | 'silent' | 'refuse';
  delayMs: number;
  awaited: readonly Awaited[];
}

/** Registers what has to be closed. */
export type Register = (close: () => Promise<void>) => void;

/** Starts a proxy to a server, on any free port or the given one; stopped when the test ends, or what it is registered at. */
export async function startProxy(
  target: { readonly host: string; readonly port: number },
  port = 0,
  register: Register = onTestFinished,
): Promise<TcpProxy> {
  const connections = new Set<Connection>();
  const rules: Rules = { mode: 'pass', delayMs: 0, awaited: [] };
  const server = createServer((client) => {
    if (rules.mode === 'refuse') {
      client.on('error', () => undefined);
      client.resetAndDestroy();
      return;
    }
    const connection = new Connection(client, connect(target.port, target.host), rules);
    connections.add(connection);
    connection.onOver(() => connections.delete(connection));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address();
  const cut = () => {
    for (const connection of connections) connection.cut();
  };
  register(async () => {
    cut();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cut,
    silence: () => {
      rules.mode = 'silent';
      for (const connection of connections) connection.silence();
    },
    refuse: () => void (rules.mode = 'refuse'),
    delay: (millis) => void (rules.delayMs = millis),
    halfOpen: (gone) => {
      for (const connection of connections) connection.lose(gone);
    },
    loseAnswer: (texts, answer) =>
      new Promise((resolve) => {
        const found = (connection: Connection) => connection.loseAnswer({ answer, lost: resolve });
        rules.awaited = [...rules.awaited, { texts, found }];
      }),
    hold: (texts) =>
      new Promise((resolve) => {
        const found = (connection: Connection) => resolve(connection.hold());
        rules.awaited = [...rules.awaited, { texts, found }];
      }),
    heal: () => {
      rules.mode = 'pass';
      rules.delayMs = 0;
    },
  };
}

/** A client's connection and ours to the server. */
class Connection {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #rules: Rules;
  readonly #searches = new Map<Awaited, Search>();
  #silent: boolean;
  #losing: Loss | null = null;
  /** What the client has said meanwhile, null for its end; null while nothing is held. */
  #held: (Buffer | null)[] | null = null;
  #answer = '';

  constructor(client: Socket, server: Socket, rules: Rules) {
    this.#client = client;
    this.#server = server;
    this.#rules = rules;
    this.#silent = rules.mode === 'silent';
    this.#forward(client, server, (chunk) => this.#asked(chunk));
    this.#forward(server, client, (chunk) => chunk === null || this.#answered(chunk));
  }

  /** Calls back when both sides have ended. */
  onOver(call: () => void): void {
    let open = 2;
    for (const socket of [this.#client, this.#server]) socket.on('close', () => --open === 0 && call());
  }

  cut(): void {
    this.#client.resetAndDestroy();
    this.#server.resetAndDestroy();
  }

  silence(): void {
    this.#silent = true;
  }

  loseAnswer(loss: Loss): void {
    this.#losing = loss;
  }

  /** Holds what the client says; what it gives says it to the server. */
  hold(): () => void {
    this.#held = [];
    return () => {
      const held = this.#held ?? [];
      this.#held = null;
      for (const chunk of held) {
        if (chunk === null) this.#server.destroySoon();
        else this.#server.write(chunk);
      }
    };
  }

  lose(gone: 'server' | 'client'): void {
    this.#silent = true;
    (gone === 'server' ? this.#server : this.#client).resetAndDestroy();
  }

  /** Passes chunks, then the end, each after the delay of its moment and never before what came earlier. */
  #forward(from: Socket, to: Socket, passes: (chunk: Buffer | null) => boolean): void {
    const queue: { readonly chunk: Buffer | null; readonly at: number }[] = [];
    const flush = () => {
      for (let next = queue[0]; next !== undefined; next = queue[0]) {
        const wait = next.at - performance.now();
        if (wait > 0) {
          setTimeout(flush, wait);
          return;
        }
        queue.shift();
        if (this.#silent || !passes(next.chunk)) continue;
        if (next.chunk === null) to.destroySoon();
        else to.write(next.chunk);
      }
    };
    const add = (chunk: Buffer | null) => {
      const last = queue.at(-1)?.at ?? 0;
      queue.push({ chunk, at: Math.max(last, performance.now() + this.#rules.delayMs) });
      if (queue.length === 1) flush();
    };
    from.on('data', add);
    from.on('error', () => undefined);
    from.on('close', () => add(null));
  }

  /** Looks for the texts that are awaited; whether what the client says is passed on. */
  #asked(chunk: Buffer | null): boolean {
    if (chunk !== null) this.#search(chunk);
    this.#held?.push(chunk);
    return this.#held === null;
  }

  #search(chunk: Buffer): void {
    for (const awaited of this.#rules.awaited) {
      let { found, tail } = this.#searches.get(awaited) ?? { found: 0, tail: '' };
      tail += chunk.toString('latin1');
      for (let text = awaited.texts[found]; text !== undefined; text = awaited.texts[++found]) {
        const at = tail.indexOf(text);
        if (at < 0) break;
        tail = tail.slice(at + text.length);
      }
      this.#searches.set(awaited, { found, tail: tail.slice(-TEXT_LENGTH) });
      if (found < awaited.texts.length) continue;
      this.#rules.awaited = this.#rules.awaited.filter((other) => other !== awaited);
      awaited.found(this);
    }
  }

  /** Whether what the server says is passed on. */
  #answered(chunk: Buffer): boolean {
    if (this.#losing === null) return true;
    this.#answer += chunk.toString('latin1');
    if (!this.#answer.includes(this.#losing.answer)) return false;
    const { lost } = this.#losing;
    this.#losing = null;
    this.cut();
    lost();
    return false;
  }
}

/** The URL with host and port replaced by the proxy's. */
export function through(url: string, proxy: TcpProxy): string {
  const changed = new URL(url);
  changed.hostname = '127.0.0.1';
  changed.port = String(proxy.port);
  return changed.toString();
}

/** Host and port of a URL. */
export function targetOf(url: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
