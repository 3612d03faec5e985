/** Every error is `{"error": "what is wrong"}`, also those that come before any route. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../runtime/log.ts';
import { Outage, messageOf } from '../runtime/outage.ts';
import { BodiesFull } from './body.ts';

/** Errors of handlers, and addresses that nobody has. */
export function setErrors(app: FastifyInstance, log: Log): void {
  app.setErrorHandler((error, _request, reply) => answerError(error, reply, log));
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'no such address' }));
}

/** Errors of the address itself, in place of fastify's own form of them. */
export function frameworkErrors(log: Log) {
  return (error: Error, _request: FastifyRequest, reply: FastifyReply): void => {
    void answerError(error, reply, log);
  };
}

function answerError(error: unknown, reply: FastifyReply, log: Log): FastifyReply {
  if (error instanceof Outage) return reply.code(503).send({ error: error.message });
  if (error instanceof BodiesFull) {
    return reply.code(503).header('retry-after', '1').send({ error: error.message });
  }
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (status >= 500) log.error({ err: error }, 'unexpected error in a request');
  const message = status >= 500 ? 'unexpected error, see the log' : messageOf(error);
  return reply.code(status).send({ error: message });
}

const BROKEN: Readonly<Record<string, readonly [number, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request did not arrive in time'],
  HPE_HEADER_OVERFLOW: [431, 'the headers are too large'],
};

/** Answers what is no HTTP request, or never became a whole one, and ends the connection. */
export function answerBroken(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const [status, why] = BROKEN[error.code ?? ''] ?? [400, 'this is no HTTP request'];
  const body = JSON.stringify({ error: why });
  if (socket.writable) {
    socket.write(
      [
        `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`,
        `content-length: ${String(body.length)}`,
        'content-type: application/json',
        'connection: close',
        '',
        body,
      ].join('\r\n'),
    );
  }
  socket.destroy(error);
}
