/** The OpenAPI 3.1 document of described routes (contract, "HTTP": `/api/openapi.json`). */
import { STATUS_CODES } from 'node:http';
import { jsonEqual, type Json, type JsonObject } from '../../domain/json.ts';
import { ROLES } from '../tokens.ts';
import { COMPONENTS, ref } from './components.ts';
import { json, type Content, type RegisteredRoute, type RouteDescription } from './description.ts';

/** Made of the routes, in the order of their paths. HEAD goes without saying where there is a GET. */
export function openApiDocument(routes: readonly RegisteredRoute[]): JsonObject {
  const paths: Record<string, Record<string, Json>> = {};
  const inOrder = [...routes].sort((left, right) => (left.path < right.path ? -1 : 1));
  for (const { method, path, description } of inOrder) {
    if (description === null || method === 'HEAD') continue;
    const operations = (paths[templateOf(path)] ??= {});
    operations[method.toLowerCase()] = operationOf(path, description);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'msgexchange',
      // Of the API, not of the program.
      version: '1',
      description:
        'The flight-message exchange of an airport. IDs of 64 bits are text. Every change needs a reason and is audited. ' +
        'Without a file of tokens only loopback is answered, and everybody there is an operator.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: COMPONENTS,
      responses: REFUSALS,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A token of `msgx token`.' },
        session: {
          ...{ type: 'apiKey', in: 'cookie', name: 'msgx_session' },
          description: 'The session of the console. A change by it has to come from its own origin.',
        },
      },
    },
  };
}

/** What a route may answer, by status, with what is not its own. */
export function answersOf(description: RouteDescription): Readonly<Record<number, Content | null>> {
  const { roles, bodyLimit, params, answers } = description;
  const statuses = [
    ...(bodyLimit === undefined ? [] : [400, 413, 415, 503]),
    ...(params === undefined ? [] : [400, 404]),
    ...(roles === 'everybody' ? [] : [401, 403, 429, 503]),
  ];
  return { ...Object.fromEntries(statuses.map((status) => [status, REFUSAL])), ...answers };
}

const REFUSAL = json(ref('Error'));
/** Refusals of many routes, by status. */
const REFUSALS: Readonly<Record<string, JsonObject>> = Object.fromEntries(
  [400, 401, 403, 404, 409, 413, 415, 429, 503].map((status) => [
    String(status),
    responseOf(String(status), REFUSAL),
  ]),
);

function operationOf(path: string, description: RouteDescription): JsonObject {
  const { name, summary, roles, params = {}, query = {}, needs = [], body } = description;
  const parameters = [
    ...Object.entries(params).map(([key, schema]) => ({ name: key, in: 'path', required: true, schema })),
    ...Object.entries(query).map(([key, schema]) => ({
      ...{ name: key, in: 'query', required: needs.includes(key), schema },
    })),
  ];
  return {
    operationId: name,
    summary,
    tags: [tagOf(path)],
    ...(roles === 'everybody'
      ? { security: [] }
      : {
          // An operator may everything.
          'x-msgx-roles': ROLES.filter((role) => role === 'operator' || roles.includes(role)),
          security: [{ token: [] }, { session: [] }],
        }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: contentOf(body) } }),
    responses: Object.fromEntries(
      Object.entries(answersOf(description)).map(([status, content]) => [
        status,
        jsonEqual(content, REFUSAL)
          ? { $ref: `#/components/responses/${status}` }
          : responseOf(status, content),
      ]),
    ),
  };
}

function responseOf(status: string, content: Content | null): JsonObject {
  const description = STATUS_CODES[status] ?? status;
  return { description, ...(content === null ? {} : { content: contentOf(content) }) };
}

function contentOf(content: Content): JsonObject {
  return Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }]));
}

/** `/a/:b` as OpenAPI writes it: `/a/{b}`. */
export function templateOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

function tagOf(path: string): string {
  const [, first = '', version = '', third = ''] = path.split('/');
  return first === 'api' && version === 'v1' ? third : first === 'cminmsgs' ? 'messages' : 'service';
}
