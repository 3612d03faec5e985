/** /healthz, /readyz and /metrics (contract, "HTTP"). Open to all: they tell no business data. */
import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';

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
  readonly registry: Registry;
  /** Refreshes the gauges before they are read. */
  readonly refresh: () => Promise<void>;
  readonly readiness: () => Promise<Readiness>;
  /** Milliseconds since each loop last gave a sign of life. */
  readonly stuck: () => readonly string[];
}

/** Registers the routes. */
export function registerHealth(app: FastifyInstance, options: HealthOptions): void {
  app.get('/healthz', async (_request, reply) => {
    const stuck = options.stuck();
    return reply
      .code(stuck.length === 0 ? 200 : 503)
      .send({ status: stuck.length === 0 ? 'ok' : 'stuck', stuck });
  });
  app.get('/readyz', async (_request, reply) => {
    const readiness = await options.readiness();
    const serves = readiness.mailbox === 'ok' && readiness.database === 'ok';
    return reply.code(serves ? 200 : 503).send(readiness);
  });
  app.get('/metrics', async (_request, reply) => {
    await options.refresh();
    return reply.type(options.registry.contentType).send(await options.registry.metrics());
  });
}
