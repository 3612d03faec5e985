/** What axe-core finds on a page: barriers for people who use it without eyes, without a mouse, or with weak eyes. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface Violation {
  readonly id: string;
  readonly impact: 'minor' | 'moderate' | 'serious' | 'critical' | null;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary?: string }[];
}

/** Serious and critical findings of the page as it stands, in light and in dark; each with its place. */
export async function barriers(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    // Told to the page by the debugger, which no content security policy binds.
    await page.evaluate(axe.source);
    // In the dark nothing but the colours is another.
    const rules = colorScheme === 'dark' ? `runOnly: ['color-contrast'],` : '';
    const { violations } = await page.evaluate<{ readonly violations: readonly Violation[] }>(
      `axe.run(document, { ${rules} resultTypes: ['violations'] })`,
    );
    for (const { id, impact, nodes } of violations) {
      if (impact !== 'serious' && impact !== 'critical') continue;
      for (const { target, failureSummary = '' } of nodes) {
        found.push(`${colorScheme}: ${id} at ${target.join(' ')}: ${failureSummary.replace(/\s+/g, ' ')}`);
      }
    }
  }
  return found;
}
