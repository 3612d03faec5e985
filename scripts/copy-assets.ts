/** Copies into dist/ what the compiler leaves behind: dialect profiles and SQL migrations. Run by `npm run build`. */
import { cp } from 'node:fs/promises';

const root = new URL('../', import.meta.url);
for (const folder of ['dialect/profiles', 'store/migrations']) {
  await cp(new URL(`src/${folder}`, root), new URL(`dist/${folder}`, root), { recursive: true });
}
