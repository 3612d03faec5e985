import { readFile } from 'node:fs/promises';
import { Validator } from '@seriousme/openapi-schema-validator';
import { fastify } from 'fastify';
import { describe, expect, it } from 'vitest';
import { Access } from '../../src/http/access.ts';
import { openApiFile } from '../../src/http/openapi/file.ts';
import { demandDescriptions, described, json, noteRoutes } from '../../src/http/openapi/description.ts';
import { openApiDocument } from '../../src/http/openapi/document.ts';
import { object, text } from '../../src/http/openapi/shapes.ts';
import { describedRoutes } from '../../src/http/routes/index.ts';

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const result = await validator.validate(JSON.parse(await openApiFile()) as Record<string, unknown>);
    expect(result).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    // The same with a fault in it is refused: the validator looks.
    const broken = openApiDocument([]);
    expect((await new Validator().validate({ ...broken, paths: { nowhere: {} } })).valid).toBe(false);
  });

  it('in schemas is that of the routes; else run npm run generate', async () => {
    expect(await readFile(new URL('../../schemas/openapi.json', import.meta.url), 'utf8')).toBe(
      await openApiFile(),
    );
  });

  it('names each operation once, and each part of its path', async () => {
    const routes = (await describedRoutes()).filter(({ method }) => method !== 'HEAD');
    const names = routes.map(({ description }) => description?.name);
    expect(new Set(names).size).toBe(names.length);
    for (const { path, description } of routes) {
      const parts = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
      expect(Object.keys(description?.params ?? {}), path).toEqual(parts);
    }
  });

  it('says who may ask, what is taken and what is answered', async () => {
    const app = fastify();
    const routes = noteRoutes(app);
    const description = described(await Access.load(null), {
      ...{
        name: 'count',
        summary: 'Counts.',
        roles: ['viewer'],
        params: { what: text },
        query: { by: text },
      },
      ...{ needs: ['by'], body: json(object({ a: text })), bodyLimit: 1, answers: { 202: null } },
    });
    app.post('/count/:what', description, async () => undefined);
    const { paths } = openApiDocument(routes) as { paths: Record<string, unknown> };
    expect(paths).toMatchObject({
      '/count/{what}': {
        post: {
          'x-msgx-roles': ['viewer', 'operator'],
          security: [{ token: [] }, { session: [] }],
          parameters: [
            { name: 'what', in: 'path', required: true },
            { name: 'by', in: 'query', required: true },
          ],
          requestBody: { content: { 'application/json': { schema: { required: ['a'] } } } },
          responses: { 202: { description: 'Accepted' }, 401: {}, 403: {}, 404: {}, 413: {}, 429: {} },
        },
      },
    });
  });

  it('leaves no route out: one without a description cannot be registered', async () => {
    const app = fastify();
    await app.register(async (api) => {
      demandDescriptions(api);
      expect(() => api.get('/api/v1/forgotten', async () => 'x')).toThrow(
        'GET /api/v1/forgotten has no description',
      );
    });
    await app.close();
  });
});
