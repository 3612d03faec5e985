/**
 * Who may do what over HTTP (contract, `http.tokens-file`): by a bearer token, or by the console's session. Without
 * tokens everybody on loopback may do everything.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SILENT, type Log } from '../runtime/log.ts';
import { isLoopbackHost, isOwnOrigin } from './origin.ts';
import { Sessions } from './sessions.ts';
import { TokenFile, digestOf, type Role, type Token } from './tokens.ts';

export { ROLES, type Role } from './tokens.ts';

/** Name of the session's cookie. */
export const COOKIE = 'msgx_session';

/** Who asks. */
export interface Caller {
  /** The token's name. Null without tokens, where nobody is known. */
  readonly name: string | null;
  readonly role: Role;
}

/** Counts something of a request; seconds to wait where there was too much of it, else null. */
export type Limit = (request: FastifyRequest, count: boolean) => Promise<number | null>;

/** What a caller may do in a while. */
export interface Limits {
  /** Unknown tokens per address. */
  readonly failures: Limit;
  /** Requests per token. */
  readonly requests: Limit;
}

const UNKNOWN = { error: 'a valid bearer token is needed' };
const FOREIGN = { error: 'a change has to come from the console itself' };
const callers = new WeakMap<FastifyRequest, Caller>();

/** Who a request comes from, once its route has let it pass; without tokens an operator without a name. */
export function callerOf(request: FastifyRequest): Caller {
  return callers.get(request) ?? { name: null, role: 'sender' };
}

/** Who a request comes from, as the audit names it. */
export function whoOf(request: FastifyRequest): string {
  return `http:${callerOf(request).name ?? 'operator'}`;
}

/** Whether VIP person codes and raw texts may be shown. */
export function seesEverything(request: FastifyRequest): boolean {
  return callerOf(request).role === 'operator';
}

type Known =
  | { readonly kind: 'known'; readonly token: Token | null; readonly byCookie: boolean }
  | {
      readonly kind: 'refused';
      readonly status: 401 | 403 | 429;
      readonly error: string;
      readonly wait?: number;
    };

export class Access {
  readonly sessions = new Sessions();
  readonly #file: TokenFile | null;
  #limits: Limits | null = null;

  private constructor(file: TokenFile | null) {
    this.#file = file;
  }

  /** Reads the file; null opens everything (the configuration allows that on loopback only). Throws an Error that names the line. */
  static async load(file: string | null, log: Log = SILENT): Promise<Access> {
    return new Access(file === null ? null : await TokenFile.open(file, log));
  }

  /** Whether there are tokens, and so something to sign in with. */
  get hasTokens(): boolean {
    return this.#file !== null;
  }

  /** From now on within these limits. */
  limitBy(limits: Limits): void {
    this.#limits = limits;
  }

  /** A fastify hook that lets requests of the given roles pass; an operator may do everything. */
  require(...roles: readonly Role[]): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
    return async (request, reply) => {
      const known = await this.#identify(request);
      if (known.kind === 'refused') {
        await refuse(reply, known);
        return;
      }
      const role = known.token?.role ?? 'operator';
      if (role !== 'operator' && !roles.includes(role)) {
        await reply.code(403).send({ error: `this needs the role ${roles.join(' or ')}` });
      }
    };
  }

  /** Whether the caller of a request that lasts, like a stream, is still let in. */
  async stillKnows(request: FastifyRequest): Promise<boolean> {
    if (this.#file === null) return true;
    await this.#file.refresh();
    const digest = this.#digestOf(request);
    return digest !== null && this.#file.find(digest.digest)?.role === callerOf(request).role;
  }

  /** The token that somebody signs in with; what to answer where there is none. */
  async signIn(
    request: FastifyRequest,
    token: string,
  ): Promise<{ cookie: string; caller: Caller } | Extract<Known, { kind: 'refused' }>> {
    if (!isOwnOrigin(request.headers, false)) return { kind: 'refused', status: 403, ...FOREIGN };
    const found = await this.#lookUp(request, digestOf(token));
    if (found.kind === 'refused') return found;
    const { token: known } = found;
    if (known === null) return { kind: 'refused', status: 401, ...UNKNOWN };
    return { cookie: this.sessions.open(known.digest), caller: known };
  }

  async #identify(request: FastifyRequest): Promise<Known> {
    const changes = request.method !== 'GET' && request.method !== 'HEAD';
    if (this.#file === null) {
      if (!isLoopbackHost(request.headers.host)) {
        return { kind: 'refused', status: 403, error: 'without tokens only a name of loopback is answered' };
      }
      if (changes && !isOwnOrigin(request.headers, false))
        return { kind: 'refused', status: 403, ...FOREIGN };
      callers.set(request, { name: null, role: 'operator' });
      return { kind: 'known', token: null, byCookie: false };
    }
    const given = this.#digestOf(request);
    if (given === null) return { kind: 'refused', status: 401, ...UNKNOWN };
    const found = await this.#lookUp(request, given.digest);
    if (found.kind === 'refused' || found.token === null) return found;
    if (given.byCookie && changes && !isOwnOrigin(request.headers, true)) {
      return { kind: 'refused', status: 403, ...FOREIGN };
    }
    callers.set(request, found.token);
    const wait = (await this.#limits?.requests(request, true)) ?? null;
    if (wait !== null) return { kind: 'refused', status: 429, error: 'too many requests', wait };
    return { ...found, byCookie: given.byCookie };
  }

  async #lookUp(request: FastifyRequest, digest: Buffer): Promise<Known> {
    const tooMany = (wait: number): Known => ({
      kind: 'refused',
      status: 429,
      error: 'too many unknown tokens from this address',
      wait,
    });
    const before = (await this.#limits?.failures(request, false)) ?? null;
    if (before !== null) return tooMany(before);
    await this.#file?.refresh();
    const token = this.#file?.find(digest) ?? null;
    if (token !== null) return { kind: 'known', token, byCookie: false };
    await this.#limits?.failures(request, true);
    return { kind: 'refused', status: 401, ...UNKNOWN };
  }

  /** Digest of the token that a request brings or that its session was opened with. A header goes before a cookie. */
  #digestOf(request: FastifyRequest): { readonly digest: Buffer; readonly byCookie: boolean } | null {
    const { authorization } = request.headers;
    if (authorization !== undefined) {
      const [scheme = '', token = ''] = authorization.split(' ');
      return scheme.toLowerCase() === 'bearer' && token !== ''
        ? { digest: digestOf(token), byCookie: false }
        : null;
    }
    const cookie = request.cookies[COOKIE];
    const digest = cookie === undefined ? null : this.sessions.use(cookie);
    return digest === null ? null : { digest, byCookie: true };
  }
}

/** Answers a request that is not let in. */
export async function refuse(
  reply: FastifyReply,
  { status, error, wait }: Extract<Known, { kind: 'refused' }>,
): Promise<void> {
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  if (wait !== undefined) reply.header('retry-after', String(wait));
  await reply.code(status).send({ error });
}
