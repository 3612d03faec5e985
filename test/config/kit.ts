/** A configuration that is complete, and ways to load variations of it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { configFromObject, type ConfigResult } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';

/** The least that must be given. */
export const MINIMAL = { airport: 'HGH', database: { url: 'embedded' }, mailbox: { url: 'embedded' } };

/** The configuration, or the faults as an error. */
export function valid(result: ConfigResult): Config {
  if (!result.ok) throw new Error(result.faults.join('\n'));
  return result.config;
}

/** All faults; none where the configuration is valid. */
export function faultsOf(result: ConfigResult): readonly string[] {
  return result.ok ? [] : result.faults;
}

/** Faults of the minimal configuration with further groups over it. */
export function faultsWith(settings: object, env: Record<string, string> = {}): readonly string[] {
  return faultsOf(configFromObject({ ...MINIMAL, ...settings }, env));
}

/** Writes a file into a folder that goes with the test; its path. */
export function file(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'msgx-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
