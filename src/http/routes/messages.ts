/** Reading API for messages: the list, one message, what its text says now, and the text itself (operators only). */
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config/schema.ts';
import type { Dialect } from '../../dialect/port.ts';
import { decodePausing } from '../../dialect/steps.ts';
import { withVipPersons } from '../../dialect/vip-persons.ts';
import { MAX_ID } from '../../domain/ids.ts';
import type { DecodeOutcome } from '../../domain/message.ts';
import { TERMINAL_STATES, type ErrorClass, type ProcState } from '../../domain/outcome.ts';
import { messageOf } from '../../runtime/outage.ts';
import {
  selectDuplicates,
  selectEventsOfMessage,
  selectFullMessage,
  selectTouchedFlights,
  type FullMessageRow,
} from '../../store/browse-message.ts';
import { selectMessagePage, type MessageFilter, type MessageRow } from '../../store/browse-messages.ts';
import { selectFlidsOf } from '../../store/browse-flights.ts';
import type { Database } from '../../store/database.ts';
import { selectTexts } from '../../store/raw-message.ts';
import { toMillis, toTimestamp } from '../../store/time.ts';
import type { Access } from '../access.ts';
import { idOf } from '../change.ts';
import { ref } from '../openapi/components.ts';
import { described, json } from '../openapi/description.ts';
import { DECODED, LISTED_MESSAGE, MESSAGE } from '../openapi/messages.ts';
import { about, id, oneOf, page, text, time as timeShape, upTo } from '../openapi/shapes.ts';
import { isText, limitOf } from '../query.ts';
import { eventJson } from './browse.ts';

export interface MessageRouteOptions {
  readonly access: Access;
  readonly config: Config;
  readonly database: Database;
  readonly dialect: Dialect;
}

const STATES: readonly ProcState[] = ['PENDING', 'FAILED', ...TERMINAL_STATES];
const CLASSES: readonly ErrorClass[] = [
  ...(['MALFORMED', 'PROTOCOL', 'CODEC_ERROR', 'UNSUPPORTED', 'INFRA', 'EXHAUSTED'] as const),
];
/** Flights, events and duplicates told of one message: a schedule touches thousands. */
const MOST_TOLD = 200;

/** Registers the routes. */
export function registerMessages(app: FastifyInstance, options: MessageRouteOptions): void {
  const { access, database, dialect } = options;

  app.get<{ Querystring: Record<string, unknown> }>(
    '/api/v1/messages',
    described(access, {
      name: 'listMessages',
      summary: 'Messages, newest first, archived ones among them.',
      roles: ['viewer'],
      query: {
        ...{ state: oneOf(...STATES), class: oneOf(...CLASSES), type: text, styp: text },
        from: about(timeShape, 'Received not before.'),
        to: about(timeShape, 'Received before.'),
        flight: about(text, 'That touched this flight: a FLID, or a flight number.'),
        attention: about(
          oneOf('true'),
          'Dead, failing, or with an abandoned mark that nobody has confirmed.',
        ),
        ...{ before: about(id, 'Where the page begins: "next" of the page before.'), limit: upTo(500, 50) },
      },
      answers: { 200: json(page('messages', LISTED_MESSAGE, {}, 'before')), 400: json(ref('Error')) },
    }),
    async ({ query }, reply) => {
      const filter = await filterOf(database, query);
      if ('error' in filter) return reply.code(400).send(filter);
      const before = query['before'] === undefined ? MAX_ID : idOf(query['before']);
      if (before === null) return reply.code(400).send({ error: 'before must be a message ID' });
      const limit = limitOf(typeof query['limit'] === 'string' ? query['limit'] : undefined, 50, 500);
      const { messages, next } = await selectMessagePage(database, filter, before, limit);
      return { messages: messages.map(messageJson), next: next?.toString() ?? null };
    },
  );

  const one = described(access, {
    name: 'getMessage',
    summary: 'One message: how it ended, what it changed, its events and its mark.',
    roles: ['viewer'],
    params: { id },
    answers: { 200: json(MESSAGE) },
  });
  app.get<{ Params: { id: string } }>('/api/v1/messages/:id', one, async ({ params }, reply) => {
    const msgId = idOf(params.id);
    const row = msgId === null ? null : await selectFullMessage(database, msgId);
    if (msgId === null || row === null) return reply.code(404).send({ error: `no message ${params.id}` });
    const [flights, duplicates] = await Promise.all([
      selectTouchedFlights(database, msgId, MOST_TOLD + 1),
      selectDuplicates(database, msgId, MOST_TOLD),
    ]);
    const told = flights.slice(0, MOST_TOLD);
    const events = await selectEventsOfMessage(
      database,
      msgId,
      told.map(({ flid }) => flid),
      2 * MOST_TOLD,
    );
    return {
      ...fullJson(row, dialect.profileHash, options.config.pipeline.retry.maxAttempts),
      flights: told,
      moreFlights: flights.length > MOST_TOLD,
      events: events.map(eventJson),
      duplicates: duplicates.map(({ msgId: id, reason, terminalAt }) => ({
        msgId: id.toString(),
        reason,
        terminalAt: time(terminalAt),
      })),
    };
  });

  app.get<{ Params: { id: string } }>(
    '/api/v1/messages/:id/decoded',
    described(access, {
      name: 'decodeMessage',
      summary: 'What the text of a message says by the profile in use, without persons.',
      roles: ['viewer'],
      params: { id },
      answers: { 200: json(DECODED) },
    }),
    async ({ params }, reply) => {
      const text = await textOfMessage(database, params.id);
      if (text === null) return reply.code(404).send({ error: `no text of message ${params.id} is kept` });
      // Persons stand in the text, which operators may read; what a text says is told to viewers too.
      return decodeNow(withVipPersons(dialect, false), text);
    },
  );

  app.get<{ Params: { id: string } }>(
    '/api/v1/messages/:id/text',
    described(access, {
      name: 'getMessageText',
      summary: 'The text itself.',
      roles: ['operator'],
      params: { id },
      answers: { 200: { 'text/plain': text } },
    }),
    async ({ params }, reply) => {
      const text = await textOfMessage(database, params.id);
      if (text === null) return reply.code(404).send({ error: `no text of message ${params.id} is kept` });
      return reply
        .type('text/plain; charset=utf-8')
        .headers({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' })
        .send(text);
    },
  );
}

async function textOfMessage(database: Database, id: string): Promise<string | null> {
  const msgId = idOf(id);
  if (msgId === null) return null;
  return (await selectTexts(database, [msgId])).get(msgId)?.text ?? null;
}

/** What the text says by the profile in use. In steps: the lease is renewed on the same thread. */
async function decodeNow(dialect: Dialect, text: string): Promise<DecodeOutcome> {
  try {
    return await decodePausing(dialect, text, () => setImmediate());
  } catch (error) {
    // A dialect is total by contract; one that breaks it is shown as the pump judges it.
    const fault = { reason: 'codec:reader', message: messageOf(error), line: null, column: null };
    return { outcome: 'codec-error', reason: fault.reason, faults: [fault], header: null };
  }
}

/** Flights of one number that are looked for: a number flies each day. */
const MOST_DAYS = 60;

async function filterOf(
  database: Database,
  query: Readonly<Record<string, unknown>>,
): Promise<MessageFilter | { readonly error: string }> {
  const { state, class: named, type, styp, from, to, flight, attention } = query;
  const wantedState = STATES.find((each) => each === state) ?? null;
  if (state !== undefined && wantedState === null) return { error: `state is one of ${STATES.join(', ')}` };
  const errorClass = CLASSES.find((each) => each === named) ?? null;
  if (named !== undefined && errorClass === null) return { error: `class is one of ${CLASSES.join(', ')}` };
  if (attention !== undefined && attention !== 'true') return { error: 'attention is true or not given' };
  const since = timeOf(from);
  const until = timeOf(to);
  if (since === undefined || until === undefined) return { error: 'from and to are times, ISO 8601' };
  for (const [name, value] of Object.entries({ type, styp, flight })) {
    if (value !== undefined && !isText(value)) return { error: `${name} is a text` };
  }
  return {
    ...{ state: wantedState, errorClass, from: since, to: until, attention: attention === 'true' },
    type: isText(type) ? type.toUpperCase() : null,
    styp: isText(styp) ? styp.toUpperCase() : null,
    flids: isText(flight)
      ? [flight, ...(await selectFlidsOf(database, flight.toUpperCase().replaceAll(' ', ''), MOST_DAYS))]
      : null,
  };
}

/** Milliseconds; null where nothing is given, undefined where it is no time that PostgreSQL knows too. */
function timeOf(value: unknown): number | null | undefined {
  if (value === undefined) return null;
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT/.test(value)) return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : time;
}

const time = (text: string): string => toTimestamp(toMillis(text));
const timeOrNull = (text: string | null): string | null => (text === null ? null : time(text));

/** How the message stands with its mark in the mailbox (seed §6). */
function markOf(row: MessageRow): 'none' | 'shadow' | 'owed' | 'marked' | 'abandoned' | 'settled' {
  if (row.shadow) return 'shadow';
  if (row.backfillAt !== null) return 'marked';
  if (row.confirmedAt !== null) return 'settled';
  if (row.abandonedAt !== null) return 'abandoned';
  return row.terminalAt === null ? 'none' : 'owed';
}

/** A message as the list gives it. */
function messageJson(row: MessageRow): object {
  const { msgId, type, styp, state, attempts, errorClass, lastError, reason, archived } = row;
  const { late, replayed, restored, shadow } = row;
  return {
    ...{ msgId: msgId.toString(), type, styp, state, attempts, errorClass, lastError, reason },
    nextAttemptAt: timeOrNull(row.nextAttemptAt),
    receivedAt: timeOrNull(row.receivedAt),
    enqueuedAt: time(row.enqueuedAt),
    terminalAt: timeOrNull(row.terminalAt),
    ...{ late, replayed, restored, shadow, archived, mark: markOf(row) },
  };
}

function fullJson(row: FullMessageRow, profileHash: string, maxAttempts: number): object {
  const { identity, detail, markedAtIntake, report } = row;
  return {
    ...messageJson(row),
    ...{ identity, detail, report, maxAttempts, archivedAt: timeOrNull(row.archivedAt) },
    terminalSeq: row.terminalSeq?.toString() ?? null,
    /** Another profile than the one in use has judged it; null where none has. */
    otherProfile: row.profileHash === null ? null : row.profileHash !== profileHash,
    backfill: {
      markedAtIntake,
      attempts: row.backfillAttempts,
      nextAt: timeOrNull(row.backfillNextAt),
      markedAt: timeOrNull(row.backfillAt),
      abandonedAt: timeOrNull(row.abandonedAt),
      abandonedReason: row.abandonedReason,
      confirmedAt: timeOrNull(row.confirmedAt),
      confirmedBy: row.confirmedBy,
    },
    text: { kept: row.hasText, bytes: row.bytes === null ? null : Number(row.bytes), sha256: row.sha256 },
  };
}
