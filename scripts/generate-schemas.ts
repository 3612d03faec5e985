/** Writes the JSON Schemas of the events, the AsyncAPI document of their topics and the OpenAPI document to schemas/. */
import { mkdir, writeFile } from 'node:fs/promises';
import { asyncApiFile } from '../src/domain/asyncapi.ts';
import { schemaFiles } from '../src/domain/event-schema.ts';
import { openApiFile } from '../src/http/openapi/file.ts';

const folder = new URL('../schemas/v1/', import.meta.url);
await mkdir(folder, { recursive: true });
for (const [name, text] of schemaFiles()) await writeFile(new URL(name, folder), text);
await writeFile(new URL('asyncapi.json', folder), asyncApiFile());
await writeFile(new URL('../openapi.json', folder), await openApiFile());
