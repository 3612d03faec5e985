/** The sockets of a driver, kept so that they can be ended where the driver would wait for the other side. */
import { Socket } from 'node:net';

/**
 * A socket that hands over what is written in one turn at once: a driver writes each statement of a pipeline by itself,
 * and each write would cost a call into the system and, on the other side, a wake-up.
 */
class TurnSocket extends Socket {
  #holding = false;

  override cork(): void {
    super.cork();
    if (this.#holding) return;
    this.#holding = true;
    super.cork();
    process.nextTick(() => {
      this.#holding = false;
      super.uncork();
    });
  }
}

export class Sockets {
  readonly #open = new Set<Socket>();

  /** A new socket, not yet connected; for a driver that takes one. */
  readonly create = (): Socket => {
    const socket = new TurnSocket();
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    return socket;
  };

  /** Ends all at once, also those that are being connected; calls underway on them fail. */
  destroy(): void {
    for (const socket of this.#open) socket.destroy();
  }
}

/** How long a pool may take to say goodbye, ms. */
const FAREWELL_MS = 500;

/** Closes a pool; a connection that does not end by itself, for want of an answer, is ended. */
export async function closePool(pool: { end(): Promise<void> }, sockets: Sockets): Promise<void> {
  const late = setTimeout(() => sockets.destroy(), FAREWELL_MS);
  try {
    await pool.end();
  } finally {
    clearTimeout(late);
  }
}
