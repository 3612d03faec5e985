/**
 * POST /cminmsgs/send, the compat entry (seed §4.4; contract, "HTTP"): writes the message into the shared
 * mailbox, then enqueues it in our own database. Two writes, no common transaction: where the second fails
 * the poller finds the row, and a client that sends again is covered by the business identity.
 */
import { failpoint } from '#failpoint';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../domain/clock.ts';
import type { Dialect } from '../../dialect/port.ts';
import type { Mailbox } from '../../mailbox/port.ts';
import type { Log } from '../../runtime/log.ts';
import { Outage, messageOf } from '../../runtime/outage.ts';
import type { Database } from '../../store/database.ts';
import { enqueueDirect } from '../../store/enqueue.ts';
import type { Access } from '../access.ts';
import { ref } from '../openapi/components.ts';
import { described, json } from '../openapi/description.ts';
import { about, flag, id, object } from '../openapi/shapes.ts';

export interface SendOptions {
  readonly access: Access;
  readonly dialect: Dialect;
  readonly mailbox: Mailbox;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly shadow: boolean;
  readonly maxMessageBytes: number;
  /** Called when a row was enqueued, so that the inbox looks at once. */
  readonly onSent: () => void;
}

const XML = about({ type: 'string', pattern: '^\\uFEFF?\\s*<' }, 'One message as the dialect writes it.');
const SENT = object({
  mailboxId: id,
  enqueued: about(flag, 'False where the mailbox has it and our own database did not answer.'),
});

/** Registers the route. */
export function registerSend(app: FastifyInstance, options: SendOptions): void {
  app.post(
    '/cminmsgs/send',
    described(options.access, {
      name: 'sendMessage',
      summary: 'Writes a message into the mailbox and enqueues it.',
      roles: ['sender'],
      body: { 'application/xml': XML, ...json(object({ message: XML })) },
      bodyLimit: options.maxMessageBytes,
      answers: { 201: json(SENT), 202: json(SENT), 409: json(ref('Error')) },
    }),
    async (request, reply) => {
      if (options.shadow)
        return reply.code(409).send({ error: 'shadow mode writes nothing into the mailbox' });
      const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const read = textOf(options.dialect, bytes, request.headers['content-type'] ?? '');
      if (read.text === null) return reply.code(400).send({ error: read.reason });
      failpoint('send.received');
      const id = await options.mailbox.insert(read.text).catch((error: unknown) => {
        if (!(error instanceof Outage)) throw error;
        options.log.warn({ error: messageOf(error) }, 'send: the mailbox is not available');
        return null;
      });
      if (id === null)
        return reply.code(503).send({ error: 'the mailbox is not available, nothing was written' });
      failpoint('send.in-mailbox');
      try {
        await enqueueDirect(options.database, null, { id, text: read.text, now: options.clock.now() });
      } catch (error) {
        options.log.warn(
          { error: messageOf(error), msgId: id.toString() },
          'send: in the mailbox, not enqueued yet',
        );
        return reply.code(202).send({ mailboxId: id.toString(), enqueued: false });
      }
      failpoint('send.enqueued');
      options.onSent();
      return reply.code(201).send({ mailboxId: id.toString(), enqueued: true });
    },
  );
}

type Read = { readonly text: string } | { readonly text: null; readonly reason: string };

/** The message text of a body. Malformed XML passes: the pipeline records and reports it. */
function textOf(dialect: Dialect, bytes: Buffer, contentType: string): Read {
  const read = /^application\/(.+\+)?json\b/i.test(contentType) ? fromJson(bytes) : fromBytes(dialect, bytes);
  if (read.text === null) return read;
  // Half of a surrogate pair, which JSON can hold, would reach the mailbox as another character.
  if (!read.text.isWellFormed()) return refused('the message holds half of a surrogate pair');
  if (read.text.includes('\0')) return refused('the message holds a NUL character');
  if (!/^\uFEFF?\s*</.test(read.text)) return refused('the body is not XML');
  return read;
}

function fromBytes(dialect: Dialect, bytes: Buffer): Read {
  const read = dialect.toText(bytes);
  return read.text === null ? refused(read.reason) : { text: read.text };
}

function fromJson(bytes: Buffer): Read {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return refused('the body is not JSON');
  }
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined;
  return typeof message === 'string' ? { text: message } : refused('the JSON body needs a text in "message"');
}

function refused(reason: string): Read {
  return { text: null, reason };
}
