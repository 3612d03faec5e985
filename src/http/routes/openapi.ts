/** /api/openapi.json: what this server has, as an OpenAPI 3.1 document (contract, "HTTP"). */
import type { FastifyInstance } from 'fastify';
import type { Access } from '../access.ts';
import { described, json, type RegisteredRoute } from '../openapi/description.ts';
import { openApiDocument } from '../openapi/document.ts';
import { anything, record } from '../openapi/shapes.ts';

export interface OpenApiOptions {
  readonly access: Access;
}

/** Registers the route. @param routes complete when the first request comes */
export function registerOpenApi(
  app: FastifyInstance,
  { access }: OpenApiOptions,
  routes: readonly RegisteredRoute[],
): void {
  let made: string | null = null;
  const description = described(access, {
    name: 'getOpenApi',
    summary: 'This document.',
    roles: 'everybody',
    answers: { 200: json(record(anything)) },
  });
  app.get('/api/openapi.json', description, async (_request, reply) => {
    made ??= JSON.stringify(openApiDocument(routes));
    return reply.type('application/json; charset=utf-8').send(made);
  });
}
