/** A running service with its HTTP server: what `run` and `demo` start and stop. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Resources } from '../service/resources.ts';
import type { Logger } from '../runtime/logger.ts';
import type { HttpServer } from '../http/server.ts';
import type { Service } from '../service/service.ts';
import type { AnchoredClock } from '../runtime/clock.ts';
import { ExpectedFailure } from './shell.ts';

export interface Host {
  readonly service: Service;
  readonly server: HttpServer;
  /** Resolves when the service has ended by itself; rejects with its fault. */
  readonly ended: Promise<void>;
  /** Stops serving, then the stations; finishes current transactions. */
  stop(): Promise<void>;
}

/** A dependency that has not answered by then counts as down in /readyz, ms. */
const READY_MS = 5_000;

/** Starts both; HTTP first, so that probes are answered while the database is waited for. */
export async function startHost(
  resources: Resources,
  log: Logger,
  options: { readonly clock?: AnchoredClock } = {},
): Promise<Host> {
  const { Service } = await import('../service/service.ts');
  const { startServer } = await import('../http/server.ts');
  const { Access } = await import('../http/access.ts');
  const { config, askedDatabase, mailbox, dialect } = resources;
  const access = await Access.load(config.http.tokensFile, log).catch((error: unknown) => {
    throw new ExpectedFailure(error instanceof Error ? error.message : String(error), 2, { cause: error });
  });
  const service = new Service(resources, log, options.clock);
  let server: HttpServer;
  try {
    server = await startServer({
      listen: config.http.listen,
      access,
      log,
      config,
      database: askedDatabase,
      mailbox,
      dialect,
      clock: service.clock,
      shadow: config.pipeline.shadow,
      maxMessageBytes: config.maxMessageBytes,
      status: service.status,
      registry: service.metrics.registry,
      refresh: () => service.refreshMetrics(),
      stuck: () => service.stuck(),
      onSent: () => service.wakeInbox(),
      readiness: async () => {
        const [database, mailbox] = await Promise.all([
          // Over the stations' connections: a crowd of questions must not look like an outage.
          answers(resources.database.probe()),
          answers(resources.mailbox.probe()),
        ]);
        const { state, ackAgeSeconds } = service.delivery();
        return {
          role: service.role,
          mailbox: mailbox ? 'ok' : 'down',
          database: database && !service.databaseAway() ? 'ok' : 'down',
          delivery: state,
          ackAgeSeconds,
        };
      },
    });
  } catch (error) {
    const { host, port } = config.http.listen;
    const why = error instanceof Error ? error.message : String(error);
    throw new ExpectedFailure(`http.listen ${host}:${port}: ${why}`, 1, { cause: error });
  }
  const { ended } = service.start();
  ended.catch(() => undefined);
  return {
    service,
    server,
    ended,
    stop: async () => {
      await Promise.allSettled([server.close(), service.stop()]);
    },
  };
}

async function answers(probe: Promise<boolean>): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([probe, sleep(READY_MS, false, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}
