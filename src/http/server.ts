/** The HTTP server of the service: compat entry, health, metrics, API, live stream, console. */
import { existsSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import { fastify, type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Log } from '../runtime/log.ts';
import { BodyMemory, readBody } from './body.ts';
import { answerBroken, frameworkErrors, setErrors } from './errors.ts';
import { noteRoutes, type RegisteredRoute } from './openapi/description.ts';
import { protect, type ProtectionOptions } from './protection.ts';
import { registerRoutes, type RouteOptions } from './routes/index.ts';

export interface ServerOptions extends RouteOptions, ProtectionOptions {
  /** host:port; port 0 takes any free one. */
  readonly listen: { readonly host: string; readonly port: number };
  readonly log: Log;
  /** Time for a whole request to arrive, ms. Default 30,000. */
  readonly requestTimeoutMs?: number;
  /** Time without a byte in either direction after which a connection is cut, ms. Default 60,000. */
  readonly connectionTimeoutMs?: number;
  /** Connections at once; more are closed unanswered. Default 1,000. */
  readonly maxConnections?: number;
  /** Bytes of all bodies under way; more are answered 503. Default 64 MiB, or four of the longest messages. */
  readonly maxBodyMemory?: number;
}

export interface HttpServer {
  /** http://host:port as it really listens. */
  readonly url: string;
  /** All that it answers. */
  readonly routes: readonly RegisteredRoute[];
  close(): Promise<void>;
}

const CONSOLE = fileURLToPath(new URL('../../dist/console/', import.meta.url));

/** Starts listening. Throws the system's error where the address cannot be had. */
export async function startServer(options: ServerOptions): Promise<HttpServer> {
  const requestTimeout = options.requestTimeoutMs ?? 30_000;
  const connectionTimeout = options.connectionTimeoutMs ?? 60_000;
  const app = fastify({
    logger: false,
    // Slow clients are cut off: headers and body have to arrive in time.
    requestTimeout,
    keepAliveTimeout: 10_000,
    connectionTimeout,
    forceCloseConnections: true,
    bodyLimit: options.maxMessageBytes,
    frameworkErrors: frameworkErrors(options.log),
    clientErrorHandler: answerBroken,
    http: {
      headersTimeout: Math.min(10_000, requestTimeout),
      // Left to itself, Node looks for late requests each half minute only.
      connectionsCheckingInterval: Math.min(2_000, requestTimeout),
      maxHeaderSize: 16 * 1024,
    },
  });
  // Bodies stay bytes: their charset is the dialect's business.
  app.removeAllContentTypeParsers();
  const memory = new BodyMemory(
    options.maxBodyMemory ?? Math.max(64 * 1024 * 1024, 4 * options.maxMessageBytes),
  );
  app.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) =>
    readBody(request, payload, memory),
  );
  app.addHook('onRequest', async ({ raw }, reply) => {
    // At the end of every answer, also one that nobody waited for.
    reply.raw.once('close', () => memory.release(raw));
  });
  // An action may take minutes (a replay of many): who has asked for it waits, and is cut off only over the answer.
  app.addHook('preHandler', async ({ method, raw }) => {
    if (method === 'POST') raw.socket.setTimeout(0);
  });
  app.addHook('onSend', async ({ raw }) => {
    raw.socket.setTimeout(connectionTimeout);
  });
  // Each connection costs memory and a file descriptor, of which the databases need theirs.
  app.server.maxConnections = options.maxConnections ?? 1_000;
  setErrors(app, options.log);
  await protect(app, options);
  const routes = noteRoutes(app);
  await registerRoutes(app, options, routes);
  await registerConsole(app);
  const url = await app.listen({ ...options.listen });
  return { url, routes, close: () => app.close() };
}

async function registerConsole(app: FastifyInstance): Promise<void> {
  if (!existsSync(CONSOLE)) {
    app.get('/', async (_request, reply) =>
      reply.type('text/plain').send('The console is not built in this checkout: npm run console:build\n'),
    );
    return;
  }
  await app.register(fastifyStatic, { root: CONSOLE, index: 'index.html', cacheControl: true, maxAge: '1h' });
}
