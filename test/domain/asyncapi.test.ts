import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { asyncApiDocument, asyncApiFile } from '../../src/domain/asyncapi.ts';
import { schemaFiles } from '../../src/domain/event-schema.ts';
import { cloudEventHeaders, type EventValueName } from '../../src/domain/event.ts';
import type { EventId, Flid } from '../../src/domain/ids.ts';
import type { JsonObject } from '../../src/domain/json.ts';

/** The schema of AsyncAPI 3.0 as its makers publish it. */
const SPECIFICATION = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0.json') as JsonObject;

/** What the document says in a place. */
function at(pointer: string): JsonObject {
  return pointer
    .split('/')
    .slice(1)
    .reduce<JsonObject>((inside, key) => inside[key] as JsonObject, asyncApiDocument());
}

describe('the AsyncAPI document', () => {
  it('is valid AsyncAPI 3', () => {
    // It brings the schema of schemas along.
    const ajv = new Ajv({ strict: false, meta: false, validateSchema: false });
    formats.default(ajv);
    const validate = ajv.compile(SPECIFICATION);
    expect(validate(asyncApiDocument()), ajv.errorsText(validate.errors)).toBe(true);
    expect(validate({ ...asyncApiDocument(), channels: { msg: { address: 1 } } })).toBe(false);
  });

  it('in schemas/v1 is current; else run npm run generate', async () => {
    const file = new URL('../../schemas/v1/asyncapi.json', import.meta.url);
    expect(await readFile(file, 'utf8')).toBe(asyncApiFile());
  });

  it('points at what there is', () => {
    const files = [...schemaFiles().keys()].map((name) => `./${name}`);
    const places = [...asyncApiFile().matchAll(/"\$ref": "([^"]+)"/g)].map(([, place = '']) => place);
    expect(places.length).toBeGreaterThan(6);
    for (const place of places) {
      if (place.startsWith('#')) expect(at(place.slice(1)), place).toBeTypeOf('object');
      else expect(files).toContain(place);
    }
  });

  it.each([
    ['upsert', 'msg', 'UPSERT'],
    ['tombstone', 'msg', 'TOMBSTONE'],
    ['state', 'schd', 'UPSERT'],
    ['deletion', 'schd', 'TOMBSTONE'],
  ] as const)('describes the headers of %s as they are sent', (name, value: EventValueName, type) => {
    const headers = at(`/components/messages/${name}/headers`)['schema'] as JsonObject;
    const ajv = new Ajv2020();
    formats.default(ajv);
    const validate = ajv.compile({ ...headers, additionalProperties: false });
    const sent = cloudEventHeaders({
      ...{ eventId: 12n as EventId, value, type, airport: 'HGH', flid: '700001' as Flid },
      time: '2026-03-14T06:00:00+08:00',
    });
    expect(validate(sent), ajv.errorsText(validate.errors)).toBe(true);
    expect(validate({ ...sent, ce_type: 'msgx.flight.other.v1' })).toBe(false);
  });
});
