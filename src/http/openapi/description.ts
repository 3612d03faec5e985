/**
 * What a route says of itself, beside its handler: the OpenAPI document is made of it, and so is the guard at its
 * door. A route without a description cannot be registered.
 */
import type { FastifyInstance, RouteOptions, RouteShorthandOptions } from 'fastify';
import type { Access, Role } from '../access.ts';
import type { Schema } from './shapes.ts';

/** Schemas by media type. */
export type Content = Readonly<Record<string, Schema>>;

export interface RouteDescription {
  /** Name of the operation, for programs made from the document. */
  readonly name: string;
  readonly summary: string;
  /** Who may ask beside operators, who may everything; `everybody` without a token. */
  readonly roles: readonly Role[] | 'everybody';
  /** Parts of the path. */
  readonly params?: Readonly<Record<string, Schema>>;
  readonly query?: Readonly<Record<string, Schema>>;
  /** Those of the query that have to be given. */
  readonly needs?: readonly string[];
  readonly body?: Content;
  /** Longest body, bytes. */
  readonly bodyLimit?: number;
  /** By status; null without a body. What every route may answer (`document.ts`) is added. */
  readonly answers: Readonly<Record<number, Content | null>>;
  /** Never answers HEAD: its answer has no end. */
  readonly endless?: boolean;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly description?: RouteDescription;
  }
}

/** A route as the server has it. */
export interface RegisteredRoute {
  readonly method: string;
  /** With `:name` for parameters. */
  readonly path: string;
  /** Null for the console's files, which anybody may have. */
  readonly description: RouteDescription | null;
}

/** A body or an answer in JSON. */
export function json(schema: Schema): Content {
  return { 'application/json': schema };
}

/** The options of a described route: it lets in those whom its description names. */
export function described(access: Access, description: RouteDescription): RouteShorthandOptions {
  const { roles, bodyLimit, endless = false } = description;
  return {
    config: { description },
    ...(roles === 'everybody' ? {} : { onRequest: access.require(...roles) }),
    ...(bodyLimit === undefined ? {} : { bodyLimit }),
    ...(endless ? { exposeHeadRoute: false } : {}),
  };
}

/** Notes the routes that are registered from now on, here and in what is registered here. */
export function noteRoutes(app: FastifyInstance): readonly RegisteredRoute[] {
  const routes: RegisteredRoute[] = [];
  app.addHook('onRoute', ({ method, url, config }: RouteOptions) => {
    const description = config?.description ?? null;
    for (const one of [method].flat()) routes.push({ method: one, path: url, description });
  });
  return routes;
}

/** From now on, here, only described routes can be registered. */
export function demandDescriptions(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config }: RouteOptions) => {
    if (config?.description === undefined) throw new Error(`${String(method)} ${url} has no description`);
  });
}
