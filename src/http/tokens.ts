/**
 * The file of access tokens (`http.tokens-file`): one `ROLE NAME HASH` per line, HASH being the SHA-256 of the token in
 * hexadecimal, so that the file alone opens nothing. `ROLE TOKEN`, the older form, is still read; its name is the role.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { Log } from '../runtime/log.ts';
import { messageOf } from '../runtime/outage.ts';

export const ROLES = ['sender', 'viewer', 'operator'] as const;
export type Role = (typeof ROLES)[number];

export interface Token {
  readonly role: Role;
  /** Whose it is, for the audit. */
  readonly name: string;
  readonly digest: Buffer;
  /** Whether the file holds it as it is. */
  readonly plain: boolean;
}

/** What a name may be: it stands in the audit and in logs. */
const NAME = /^[\p{L}\p{N}._-]{1,40}$/u;
/** The file is looked at again at most this often, ms. */
const LOOK_EVERY_MS = 1_000;

/** Makes a token of 256 random bits and the line that lets it in. Throws an Error where the name cannot be one. */
export function makeToken(role: Role, name: string): { readonly token: string; readonly line: string } {
  if (!NAME.test(name)) throw new Error('a name has 1 to 40 letters, digits, dots, dashes or underscores');
  const token = `msgx_${randomBytes(32).toString('base64url')}`;
  return { token, line: `${role} ${name} ${digestOf(token).toString('hex')}` };
}

export function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** The tokens of a text. Throws an Error that names the line and never what stands in it. */
export function parseTokens(text: string, file: string): readonly Token[] {
  return text.split('\n').flatMap((line, index): Token[] => {
    const words = line.trim().split(/\s+/);
    const [role = '', second = '', third] = words;
    if (role === '' || role.startsWith('#')) return [];
    const fault = (wanted: string) => new Error(`${file}:${String(index + 1)}: ${wanted}`);
    if (!isRole(role) || words.length > 3) {
      throw fault(`expected ROLE NAME HASH or ROLE TOKEN, role one of ${ROLES.join(', ')}`);
    }
    if (third === undefined) {
      if (second.length < 16) throw fault('expected ROLE TOKEN, token of 16 or more characters');
      return [{ role, name: role, digest: digestOf(second), plain: true }];
    }
    if (!NAME.test(second) || !/^[0-9a-f]{64}$/i.test(third)) {
      throw fault('expected ROLE NAME HASH, the hash as `msgx token` prints it (SHA-256, 64 digits)');
    }
    return [{ role, name: second, digest: Buffer.from(third, 'hex'), plain: false }];
  });
}

function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}

/** The tokens as the file has them now: it is read again when it has changed, so that one can be revoked at once. */
export class TokenFile {
  readonly #file: string;
  readonly #log: Log;
  #tokens: readonly Token[];
  #seen: string;
  #lookedAt = performance.now();

  private constructor(file: string, log: Log, tokens: readonly Token[], seen: string) {
    this.#file = file;
    this.#log = log;
    this.#tokens = tokens;
    this.#seen = seen;
  }

  /** Throws the system's error, or one that names the line. */
  static async open(file: string, log: Log): Promise<TokenFile> {
    const seen = await stampOf(file);
    const tokens = parseTokens(await readFile(file, 'utf8'), file);
    const opened = new TokenFile(file, log, tokens, seen);
    opened.#warnOfPlain();
    return opened;
  }

  /** Looks whether the file has changed, at most once a second. A file that cannot be read leaves the tokens as they were. */
  async refresh(): Promise<void> {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_EVERY_MS) return;
    this.#lookedAt = now;
    let seen = 'unreadable';
    try {
      seen = await stampOf(this.#file);
      if (seen === this.#seen) return;
      this.#tokens = parseTokens(await readFile(this.#file, 'utf8'), this.#file);
      this.#seen = seen;
      this.#log.info({ file: this.#file, tokens: this.#tokens.length }, 'the tokens were read again');
      this.#warnOfPlain();
    } catch (error) {
      if (seen === this.#seen) return;
      this.#seen = seen;
      this.#log.error(
        { file: this.#file, error: messageOf(error) },
        'the tokens could not be read again: those read before stay valid',
      );
    }
  }

  /** The token with this digest. Every line is compared, each in constant time. */
  find(digest: Buffer): Token | null {
    return this.#tokens.filter((token) => timingSafeEqual(token.digest, digest))[0] ?? null;
  }

  #warnOfPlain(): void {
    const plain = this.#tokens.filter(({ plain }) => plain).length;
    if (plain > 0) {
      this.#log.warn(
        { file: this.#file, plain },
        'tokens stand in the file as they are: make new ones with msgx token',
      );
    }
  }
}

async function stampOf(file: string): Promise<string> {
  const { mtimeMs, size, ino } = await stat(file);
  return `${String(ino)}:${String(size)}:${String(mtimeMs)}`;
}
