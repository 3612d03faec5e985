/**
 * What the server answers, held against what its routes say of themselves: a status that is not described, a body of
 * another form and a property that is not described are failures.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import { isJsonObject } from '../../src/domain/json.ts';
import { COMPONENTS } from '../../src/http/openapi/components.ts';
import type { RouteDescription } from '../../src/http/openapi/description.ts';
import { answersOf } from '../../src/http/openapi/document.ts';
import { describedRoutes } from '../../src/http/routes/index.ts';

interface KnownRoute {
  readonly method: string;
  readonly path: string;
  readonly pattern: RegExp;
  readonly description: RouteDescription;
}

const routes: readonly KnownRoute[] = (await describedRoutes()).flatMap(({ method, path, description }) =>
  description === null
    ? []
    : [{ method, path, description, pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`) }],
);
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
const components = { schemas: closed(COMPONENTS) };
const validators = new Map<string, ValidateFunction>();

/** The route that answers an address; null where none is described. */
export function routeOf(method: string, path: string): KnownRoute | null {
  const found = routes.filter((route) => route.method === method && route.pattern.test(path));
  // A literal part of a path goes before a parameter.
  return found.sort((left, right) => left.path.split(':').length - right.path.split(':').length)[0] ?? null;
}

/** What an answer has that its route does not describe; null where there is nothing. */
export async function undescribed(method: string, url: string, answer: Response): Promise<string | null> {
  const { pathname } = new URL(url);
  const route = routeOf(method, pathname);
  const type = (answer.headers.get('content-type') ?? '').split(';')[0] ?? '';
  const told = `${method} ${pathname}: ${String(answer.status)} ${type}`;
  if (route === null) return null;
  const content = answersOf(route.description)[answer.status];
  if (content === undefined) return `${told} is not described`;
  if (method === 'HEAD' || type === 'text/event-stream') return null;
  const body = await answer.clone().text();
  if (content === null) return body === '' ? null : `${told} has a body`;
  const schema = content[type];
  if (schema === undefined) return `${told} is described as ${Object.keys(content).join(', ')}`;
  if (type !== 'application/json') return null;
  const key = `${route.method} ${route.path} ${String(answer.status)}`;
  const validate = validators.get(key) ?? ajv.compile({ ...closed(schema), components });
  validators.set(key, validate);
  return validate(JSON.parse(body)) ? null : `${told}: ${faultsOf(validate)}\n${body.slice(0, 2_000)}`;
}

/** `fetch`, and the answer is as its route describes it. */
export async function fetch(url: string, init: RequestInit = {}): Promise<Response> {
  const answer = await globalThis.fetch(url, init);
  const fault = await undescribed((init.method ?? 'GET').toUpperCase(), url, answer);
  if (fault !== null) throw new Error(fault);
  return answer;
}

function faultsOf({ errors }: ValidateFunction): string {
  const told = (errors ?? []).map(
    ({ instancePath, message = '', params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
  return told.slice(0, 5).join('; ');
}

/** The same schema without room for what is not described. */
function closed(schema: JsonObject): JsonObject {
  const inside = Object.fromEntries(
    Object.entries(schema).map(([key, value]): [string, Json] => [key, closedJson(value)]),
  );
  return inside['type'] === 'object' && isJsonObject(inside['properties'])
    ? { ...inside, additionalProperties: false }
    : inside;
}

function closedJson(value: Json): Json {
  if (isJsonObject(value)) return closed(value);
  return Array.isArray(value) ? (value as readonly Json[]).map(closedJson) : value;
}
