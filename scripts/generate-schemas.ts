/** Writes the JSON Schemas of the events to schemas/v1, from the catalogue of fields. */
import { mkdir, writeFile } from 'node:fs/promises';
import { schemaFiles } from '../src/domain/event-schema.ts';

const folder = new URL('../schemas/v1/', import.meta.url);
await mkdir(folder, { recursive: true });
for (const [name, text] of schemaFiles()) await writeFile(new URL(name, folder), text);
