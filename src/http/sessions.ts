/**
 * Sessions of the console: a browser cannot send a bearer token with a navigation or an EventSource, so a token is
 * exchanged for a cookie. The list is this process's own: a restart signs everybody out.
 */
import { createHash, randomBytes } from 'node:crypto';

/** Ends a session that asks for nothing, ms. The live stream of an open console counts as asking. */
export const IDLE_MS = 30 * 60_000;
/** Ends any session, ms: a shift. */
export const LONGEST_MS = 12 * 3_600_000;
/** The oldest goes where there are more. */
const MOST = 1_000;

interface Session {
  /** Digest of the token it was opened with: revoked, it takes its sessions with it. */
  readonly token: Buffer;
  readonly openedAt: number;
  usedAt: number;
}

export class Sessions {
  readonly #now: () => number;
  /** By the hash of the cookie, oldest first: what stands in memory opens nothing. */
  readonly #open = new Map<string, Session>();

  /** @param now monotonic, ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Opens a session and gives the value of its cookie. */
  open(token: Buffer): string {
    const now = this.#now();
    for (const [key, session] of this.#open) if (this.#isOver(session)) this.#open.delete(key);
    const [oldest] = this.#open.keys();
    if (this.#open.size >= MOST && oldest !== undefined) this.#open.delete(oldest);
    const cookie = randomBytes(32).toString('base64url');
    this.#open.set(keyOf(cookie), { token, openedAt: now, usedAt: now });
    return cookie;
  }

  /** Digest of the token behind a cookie, and the session goes on; null where there is none or it has ended. */
  use(cookie: string): Buffer | null {
    const session = this.#open.get(keyOf(cookie));
    if (session === undefined) return null;
    if (this.#isOver(session)) {
      this.close(cookie);
      return null;
    }
    session.usedAt = this.#now();
    return session.token;
  }

  close(cookie: string): void {
    this.#open.delete(keyOf(cookie));
  }

  #isOver({ openedAt, usedAt }: Session): boolean {
    const now = this.#now();
    return now - usedAt > IDLE_MS || now - openedAt > LONGEST_MS;
  }
}

function keyOf(cookie: string): string {
  return createHash('sha256').update(cookie).digest('base64');
}
