/** HTTP servers beside a running pipeline, with bounds that a test can reach. */
import { Access } from '../../src/http/access.ts';
import type { Readiness } from '../../src/http/routes/health.ts';
import { startServer, type HttpServer, type ServerOptions } from '../../src/http/server.ts';
import { SILENT } from '../../src/runtime/log.ts';
import type { TestPipeline } from '../kit/service-pipeline.ts';

export type Started = TestPipeline & { readonly running: Awaited<ReturnType<TestPipeline['start']>> };

/** A second server over the resources of a running pipeline, with its own bounds. */
export async function serve(
  pipeline: Started,
  bounds: Pick<
    ServerOptions,
    | 'requestTimeoutMs'
    | 'connectionTimeoutMs'
    | 'maxConnections'
    | 'maxBodyMemory'
    | 'maxFailures'
    | 'maxRequests'
  > & {
    readonly tokensFile?: string;
  } = {},
): Promise<HttpServer> {
  const { tokensFile = null, ...limits } = bounds;
  const { resources, host } = pipeline.running;
  const { config, database, mailbox, dialect } = resources;
  const { service } = host;
  return startServer({
    listen: { host: '127.0.0.1', port: 0 },
    access: await Access.load(tokensFile),
    log: SILENT,
    config,
    database,
    mailbox,
    dialect,
    clock: service.clock,
    shadow: false,
    maxMessageBytes: config.maxMessageBytes,
    status: service.status,
    registry: service.metrics.registry,
    refresh: () => service.refreshMetrics(),
    stuck: () => [],
    onSent: () => undefined,
    // As the pipeline's own server says it.
    readiness: async () => (await (await fetch(`${host.server.url}/readyz`)).json()) as Readiness,
    ...limits,
  });
}
