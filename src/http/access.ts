/**
 * Who may do what over HTTP (contract, `http.tokens-file`): a file with one `ROLE TOKEN` per line, roles
 * sender, viewer and operator. Without tokens everybody on loopback may do everything.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';

export const ROLES = ['sender', 'viewer', 'operator'] as const;
export type Role = (typeof ROLES)[number];

interface Token {
  readonly role: Role;
  readonly digest: Buffer;
}

/** The tokens of a file. */
export class Access {
  readonly #tokens: readonly Token[] | null;

  private constructor(tokens: readonly Token[] | null) {
    this.#tokens = tokens;
  }

  /** Reads the file; null opens everything (the configuration allows that on loopback only). Throws an Error that names the line. */
  static async load(file: string | null): Promise<Access> {
    if (file === null) return new Access(null);
    const tokens: Token[] = [];
    const lines = (await readFile(file, 'utf8')).split('\n');
    for (const [index, line] of lines.entries()) {
      const text = line.trim();
      if (text === '' || text.startsWith('#')) continue;
      const [role = '', token = '', ...rest] = text.split(/\s+/);
      if (!isRole(role) || token.length < 16 || rest.length > 0) {
        throw new Error(
          `${file}:${String(index + 1)}: expected ROLE TOKEN, role one of ${ROLES.join(', ')}, token of 16 or more characters`,
        );
      }
      tokens.push({ role, digest: digest(token) });
    }
    return new Access(tokens);
  }

  /** A fastify hook that lets requests of the given roles pass; an operator may do everything. */
  require(...roles: readonly Role[]): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
    return async (request, reply) => {
      if (this.#tokens === null) return;
      const [scheme = '', token = ''] = (request.headers.authorization ?? '').split(' ');
      const given = digest(token);
      const known =
        scheme.toLowerCase() === 'bearer' ? this.#tokens.filter((t) => timingSafeEqual(t.digest, given)) : [];
      if (known.length === 0) {
        await reply
          .code(401)
          .header('www-authenticate', 'Bearer')
          .send({ error: 'a valid bearer token is needed' });
        return;
      }
      if (!known.some(({ role }) => role === 'operator' || roles.includes(role))) {
        await reply.code(403).send({ error: `this needs the role ${roles.join(' or ')}` });
      }
    };
  }
}

function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
