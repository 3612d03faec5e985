/**
 * Request bodies as bytes. A body over the limit is read to its end and thrown away before it is refused: a
 * client that is still writing when the connection closes sees a broken pipe and never the 413.
 */
import type { IncomingMessage } from 'node:http';
import { errorCodes, type FastifyRequest } from 'fastify';

/** Bytes thrown away at most, beyond the limit; what is longer is cut off. */
const MOST_DISCARDED = 64 * 1024 * 1024;

/** Too many bodies at once; the client may try again. */
export class BodiesFull extends Error {
  constructor() {
    super('too many messages are being received, try again');
  }
}

/** What the bodies of all requests under way may take together, so that many clients cannot take all memory. */
export class BodyMemory {
  readonly #most: number;
  readonly #held = new Map<IncomingMessage, number>();
  #total = 0;

  /** @param most bytes */
  constructor(most: number) {
    this.#most = most;
  }

  /** Notes bytes of a request; false where they do not fit. */
  take(request: IncomingMessage, bytes: number): boolean {
    if (this.#total + bytes > this.#most) return false;
    this.#total += bytes;
    this.#held.set(request, (this.#held.get(request) ?? 0) + bytes);
    return true;
  }

  /** Forgets a request: it has been answered, its body thrown away, or its client has gone. */
  release(request: IncomingMessage): void {
    this.#total -= this.#held.get(request) ?? 0;
    this.#held.delete(request);
  }
}

/**
 * The body of a request, for any content type. Throws BodiesFull where `memory` has no room for it, fastify's FST_ERR_CTP_BODY_TOO_LARGE (413) over the
 * route's limit, and an error with status 400 where the client went away.
 */
export async function readBody(
  request: FastifyRequest,
  payload: IncomingMessage,
  memory: BodyMemory,
): Promise<Buffer> {
  const limit = request.routeOptions.bodyLimit;
  const most = limit + MOST_DISCARDED;
  if (Number(request.headers['content-length']) > most) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
  const kept: Buffer[] = [];
  let bytes = 0;
  let full = false;
  const discard = (): void => {
    kept.length = 0;
    memory.release(request.raw);
  };
  try {
    // Left early, the stream must live on: its end is the connection's, and the answer goes out on that.
    for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      full ||= bytes <= limit && !memory.take(request.raw, chunk.length);
      if (bytes <= limit && !full) kept.push(chunk);
      else discard();
      if (bytes > most) break;
    }
  } catch (error) {
    throw Object.assign(new Error('the body did not arrive', { cause: error }), { statusCode: 400 });
  }
  if (bytes > limit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
  if (full) throw new BodiesFull();
  return Buffer.concat(kept, bytes);
}
