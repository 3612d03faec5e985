/** /healthz, /readyz and /metrics (contract, "HTTP"). Open to all: they tell no business data. */
import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import type { Access } from '../access.ts';
import { described, json } from '../openapi/description.ts';
import { about, list, nullable, number, object, oneOf, text } from '../openapi/shapes.ts';

/** What /readyz tells. */
export interface Readiness {
  readonly role: 'active' | 'standby';
  readonly mailbox: 'ok' | 'down';
  readonly database: 'ok' | 'down';
  readonly delivery: 'ok' | 'degraded';
  /** Seconds since the sink last acknowledged a batch; null where it never did. */
  readonly ackAgeSeconds: number | null;
}

export interface HealthOptions {
  readonly access: Access;
  readonly registry: Registry;
  /** Refreshes the gauges before they are read. */
  readonly refresh: () => Promise<void>;
  readonly readiness: () => Promise<Readiness>;
  /** Milliseconds since each loop last gave a sign of life. */
  readonly stuck: () => readonly string[];
}

const HEALTH = object({ status: oneOf('ok', 'stuck'), stuck: about(list(text), 'The loops that are.') });
const READINESS = object({
  ...{ role: oneOf('active', 'standby'), mailbox: oneOf('ok', 'down'), database: oneOf('ok', 'down') },
  delivery: oneOf('ok', 'degraded'),
  ackAgeSeconds: about(nullable(number), 'Since a batch was acknowledged last; null where none was.'),
});

/** Registers the routes. */
export function registerHealth(app: FastifyInstance, options: HealthOptions): void {
  const { access } = options;
  const healthz = described(access, {
    name: 'getHealth',
    summary: 'Fails only where a loop of this process is stuck.',
    roles: 'everybody',
    answers: { 200: json(HEALTH), 503: json(HEALTH) },
  });
  app.get('/healthz', healthz, async (_request, reply) => {
    const stuck = options.stuck();
    return reply
      .code(stuck.length === 0 ? 200 : 503)
      .send({ status: stuck.length === 0 ? 'ok' : 'stuck', stuck });
  });
  const readyz = described(access, {
    name: 'getReadiness',
    summary: 'Whether a message would be taken: 200 while mailbox and own database answer.',
    roles: 'everybody',
    answers: { 200: json(READINESS), 503: json(READINESS) },
  });
  app.get('/readyz', readyz, async (_request, reply) => {
    const readiness = await options.readiness();
    const serves = readiness.mailbox === 'ok' && readiness.database === 'ok';
    return reply.code(serves ? 200 : 503).send(readiness);
  });
  const metrics = described(access, {
    name: 'getMetrics',
    summary: 'Metrics for Prometheus.',
    roles: 'everybody',
    answers: { 200: { 'text/plain': text } },
  });
  app.get('/metrics', metrics, async (_request, reply) => {
    await options.refresh();
    return reply.type(options.registry.contentType).send(await options.registry.metrics());
  });
}
