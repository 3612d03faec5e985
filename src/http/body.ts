/**
 * Request bodies as bytes. A body over the limit is read to its end and thrown away before it is refused: a
 * client that is still writing when the connection closes sees a broken pipe and never the 413.
 */
import type { IncomingMessage } from 'node:http';
import { errorCodes, type FastifyRequest } from 'fastify';

/** Bytes thrown away at most, beyond the limit; what is longer is cut off. */
const MOST_DISCARDED = 64 * 1024 * 1024;

/**
 * The body of a request, for any content type. Throws fastify's FST_ERR_CTP_BODY_TOO_LARGE (413) over the
 * route's limit, and an error with status 400 where the client went away.
 */
export async function readBody(request: FastifyRequest, payload: IncomingMessage): Promise<Buffer> {
  const limit = request.routeOptions.bodyLimit;
  const most = limit + MOST_DISCARDED;
  if (Number(request.headers['content-length']) > most) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
  const kept: Buffer[] = [];
  let bytes = 0;
  try {
    // Left early, the stream must live on: its end is the connection's, and the answer goes out on that.
    for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes <= limit) kept.push(chunk);
      else kept.length = 0;
      if (bytes > most) break;
    }
  } catch (error) {
    throw Object.assign(new Error('the body did not arrive', { cause: error }), { statusCode: 400 });
  }
  if (bytes > limit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
  return Buffer.concat(kept, bytes);
}
