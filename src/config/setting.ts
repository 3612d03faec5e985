/**
 * One configuration key: what it accepts, its default, and the words for its documentation and its faults.
 * The kinds of settings (duration, list, …) are in kinds.ts, the tree of all keys in schema.ts.
 */
import type { z } from 'zod';

/** Who needs to know a key: everybody who installs msgx, or whoever tunes it. */
export type Audience = 'essential' | 'advanced';

/** Default of a key that has none and must be given. */
export const REQUIRED = Symbol('required');

/** What every key states about itself. */
export interface Description {
  /** One line for the reference: purpose, and unit where there is one. */
  readonly about: string;
  readonly audience?: Audience;
}

export interface SettingParts<T> extends Description {
  /** Suffix of the field's name that is not part of the key: `pollIntervalMs` is `poll-interval`. */
  readonly suffix?: 'Ms';
  /** Completes "must be …", range and unit included. */
  readonly expects: string;
  /** Validates and converts a value of the file. Its messages complete `key: …`. */
  readonly schema: z.ZodType<T>;
  /** Default as one would write it in the file, or REQUIRED; null = unset. */
  readonly fallback: unknown;
  /** Turns the text of an environment variable into the value the file would have. */
  readonly fromText?: (text: string) => unknown;
  /** Writes the value for people, as in the file. A method, so that a Setting<number> is a Setting<unknown>. */
  show?(value: NonNullable<T>): string;
  /** A secret is never printed, and may come from the file named by the `…-file` key. */
  readonly secret?: boolean;
  /** There is a `…-file` key beside it. */
  readonly fromFile?: boolean;
}

/** A key of the configuration whose value, once read, is a T. */
export class Setting<T> {
  readonly #parts: SettingParts<T>;
  readonly about: string;
  readonly audience: Audience;
  readonly suffix: string;
  readonly expects: string;
  readonly schema: z.ZodType<T>;
  readonly fallback: unknown;
  readonly secret: boolean;
  readonly fromFile: boolean;

  constructor(parts: SettingParts<T>) {
    this.#parts = parts;
    this.about = parts.about;
    this.audience = parts.audience ?? 'advanced';
    this.suffix = parts.suffix ?? '';
    this.expects = parts.expects;
    this.schema = parts.schema;
    this.fallback = parts.fallback;
    this.secret = parts.secret ?? false;
    this.fromFile = parts.fromFile ?? false;
  }

  /** Whether the key must be given. */
  get required(): boolean {
    return this.fallback === REQUIRED;
  }

  /** Turns the text of an environment variable into the value the file would have. */
  fromText(text: string): unknown {
    return this.#parts.fromText === undefined ? text : this.#parts.fromText(text);
  }

  /** Writes the value for people, as in the file. */
  show(value: NonNullable<T>): string {
    return this.#parts.show === undefined ? String(value) : this.#parts.show(value);
  }
}
