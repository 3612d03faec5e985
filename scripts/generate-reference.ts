/** Writes the generated pages of docs/. Tests fail where a committed page is not current. */
import { writeFileSync } from 'node:fs';
import { configurationReference } from '../src/config/reference.ts';
import { metricsReference } from '../src/runtime/metrics-reference.ts';

writeFileSync(new URL('../docs/configuration.md', import.meta.url), configurationReference());
writeFileSync(new URL('../docs/metrics.md', import.meta.url), metricsReference());
