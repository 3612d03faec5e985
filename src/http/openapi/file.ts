/** The OpenAPI document as `schemas/openapi.json` has it. */
import { describedRoutes } from '../routes/index.ts';
import { openApiDocument } from './document.ts';

export async function openApiFile(): Promise<string> {
  return `${JSON.stringify(openApiDocument(await describedRoutes()), null, 2)}\n`;
}
