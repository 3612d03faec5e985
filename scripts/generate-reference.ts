/** Writes the generated pages of docs/. A test fails where a committed page is not current. */
import { writeFileSync } from 'node:fs';
import { configurationReference } from '../src/config/reference.ts';

writeFileSync(new URL('../docs/configuration.md', import.meta.url), configurationReference());
