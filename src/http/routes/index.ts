/** All routes but the console's files. */
import { fastify, type FastifyInstance } from 'fastify';
import { Access } from '../access.ts';
import { demandDescriptions, noteRoutes, type RegisteredRoute } from '../openapi/description.ts';
import { registerActions, type ActionOptions } from './actions.ts';
import { registerAudit } from './audit.ts';
import { registerBrowse, type BrowseOptions } from './browse.ts';
import { registerDlq } from './dlq.ts';
import { registerFlights } from './flights.ts';
import { registerHealth, type HealthOptions } from './health.ts';
import { registerInstance } from './instance.ts';
import { registerMarks } from './marks.ts';
import { registerMessageActions } from './message-actions.ts';
import { registerMessages } from './messages.ts';
import { registerOpenApi } from './openapi.ts';
import { registerOutbox } from './outbox.ts';
import { registerReference } from './reference.ts';
import { registerRequests } from './requests.ts';
import { registerSend, type SendOptions } from './send.ts';
import { registerSeries } from './series.ts';
import { registerSession } from './session.ts';
import { registerStream } from './stream.ts';

export type RouteOptions = ActionOptions & BrowseOptions & HealthOptions & SendOptions;

/** Registers them; each has to say what it is. @param routes what the server has, for the document */
export async function registerRoutes(
  app: FastifyInstance,
  options: RouteOptions,
  routes: readonly RegisteredRoute[],
): Promise<void> {
  await app.register(async (api) => {
    demandDescriptions(api);
    registerSession(api, options);
    registerSend(api, options);
    registerHealth(api, options);
    registerOpenApi(api, options, routes);
    registerBrowse(api, options);
    registerFlights(api, options);
    registerMessages(api, options);
    registerReference(api, options);
    registerActions(api, options);
    registerAudit(api, options);
    registerMessageActions(api, options);
    registerDlq(api, options);
    registerOutbox(api, options);
    registerMarks(api, options);
    registerRequests(api, options);
    registerSeries(api, options);
    registerInstance(api, options);
    registerStream(api, options);
  });
}

/** The routes as every server has them, without one: to be written down. */
export async function describedRoutes(): Promise<readonly RegisteredRoute[]> {
  const app = fastify();
  const routes = noteRoutes(app);
  await registerRoutes(app, withoutServer(await Access.load(null)), routes);
  await app.close();
  return routes;
}

/** Registration only hands on what requests will use, and none comes. */
function withoutServer(access: Access): RouteOptions {
  const nothing: object = new Proxy({}, { get: () => nothing });
  return new Proxy({ access, maxMessageBytes: 1 } as RouteOptions, {
    get: (given, name) => (Object.hasOwn(given, name) ? Reflect.get(given, name) : nothing) as unknown,
  });
}
