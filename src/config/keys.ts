/** The tree of settings as a flat list of keys, with their names in the file and in the environment. */
import { SETTINGS } from './schema.ts';
import { Setting } from './setting.ts';

/** A setting or a group of them. */
export type SettingNode = Setting<unknown> | SettingGroup;
export interface SettingGroup {
  readonly [field: string]: SettingNode;
}

/** One key. */
export interface Key {
  /** In the file, e.g. `msgx.pipeline.claim-batch`. */
  readonly name: string;
  /** In the environment, e.g. `MSGX_PIPELINE_CLAIM_BATCH`. */
  readonly variable: string;
  /** Field names in Config, e.g. `pipeline`, `claimBatch`. */
  readonly fields: readonly string[];
  readonly setting: Setting<unknown>;
}

export const ROOT = 'msgx';

/** All keys in the order of the reference. The `…-file` keys of secrets are not among them. */
export const KEYS: readonly Key[] = collect(SETTINGS, [], ROOT);

/** The key that names a file to read the value of a secret from. */
export function fileKeyOf(key: Key): { readonly name: string; readonly variable: string } {
  return { name: `${key.name}-file`, variable: `${key.variable}_FILE` };
}

/** Every name a value may stand under in the file. */
export const NAMES: readonly string[] = KEYS.flatMap((key) =>
  key.setting.fromFile ? [key.name, fileKeyOf(key).name] : [key.name],
);

/** The names of all groups of keys, without the root. */
export const GROUPS: ReadonlySet<string> = new Set(NAMES.flatMap(parents).filter((name) => name !== ROOT));

/** Every environment variable there is. */
export const VARIABLES: readonly string[] = NAMES.map(variableOf);

function collect(group: SettingGroup, fields: readonly string[], prefix: string): Key[] {
  return Object.entries(group).flatMap(([field, node]): Key[] => {
    const suffix = node instanceof Setting ? node.suffix : '';
    const name = `${prefix}.${kebab(field.slice(0, field.length - suffix.length))}`;
    const path = [...fields, field];
    return node instanceof Setting
      ? [{ name, variable: variableOf(name), fields: path, setting: node }]
      : collect(node, path, name);
  });
}

function kebab(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function variableOf(name: string): string {
  return name.replace(/[.-]/g, '_').toUpperCase();
}

function parents(name: string): string[] {
  const parts = name.split('.');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'));
}
