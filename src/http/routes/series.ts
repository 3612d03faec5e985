/** /api/v1/series: throughput, latency and backlog of the last hour or day, behind the console's charts. */
import type { FastifyInstance } from 'fastify';
import { SeriesReader, SPANS, type SeriesSpan } from '../../service/series.ts';
import type { Database } from '../../store/database.ts';
import type { Access } from '../access.ts';
import { ref } from '../openapi/components.ts';
import { described, json } from '../openapi/description.ts';
import { about, count, list, nullable, number, object, oneOf } from '../openapi/shapes.ts';

export interface SeriesOptions {
  readonly access: Access;
  readonly database: Database;
}

const SPAN = { ...oneOf(...Object.keys(SPANS)), default: 'day' };
const PERCENTILES = object({ p50: list(nullable(number)), p99: list(nullable(number)) });
const SERIES = object({
  ...{ span: SPAN, bucketSeconds: count, at: about(list(count), 'Begins of the buckets, s since 1970.') },
  enqueued: about(list(count), 'Messages.'),
  finished: about(list(count), 'Messages.'),
  sent: about(list(count), 'Events of KAFKA:msg.'),
  backlog: about(list(count), 'Messages that had not ended at the end of the bucket.'),
  process: about(PERCENTILES, 'Enqueued to ended, ms.'),
  deliver: about(PERCENTILES, 'Event made to acknowledged, ms.'),
});

/** Registers the route. */
export function registerSeries(app: FastifyInstance, { access, database }: SeriesOptions): void {
  const reader = new SeriesReader(database);
  app.get<{ Querystring: { span?: string } }>(
    '/api/v1/series',
    described(access, {
      name: 'getSeries',
      summary: 'Throughput, latency and backlog of the last hour or day.',
      roles: ['viewer'],
      query: { span: SPAN },
      answers: { 200: json(SERIES), 400: json(ref('Error')) },
    }),
    async (request, reply) => {
      const { span = 'day' } = request.query;
      if (!isSpan(span)) {
        return reply.code(400).send({ error: `"span" is one of ${Object.keys(SPANS).join(', ')}` });
      }
      return reader.read(span);
    },
  );
}

function isSpan(text: unknown): text is SeriesSpan {
  return typeof text === 'string' && Object.hasOwn(SPANS, text);
}
