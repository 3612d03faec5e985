/** The console's session: who is signed in, signing in with a token, signing out. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { COOKIE, ROLES, callerOf, refuse, type Access, type Caller } from '../access.ts';
import { bodyOf } from '../change.ts';
import { ref } from '../openapi/components.ts';
import { described, json } from '../openapi/description.ts';
import { about, flag, nullable, object, oneOf, text } from '../openapi/shapes.ts';

const SESSION = object({
  name: about(nullable(text), "The token's name; null where there are no tokens."),
  role: oneOf(...ROLES),
  signIn: about(flag, 'Whether there are tokens to sign in with.'),
});

/** Registers the routes. */
export function registerSession(app: FastifyInstance, { access }: { readonly access: Access }): void {
  app.get(
    '/api/v1/session',
    described(access, {
      name: 'getSession',
      summary: 'Who is asking.',
      roles: ROLES,
      answers: { 200: json(SESSION) },
    }),
    async (request) => sessionJson(callerOf(request), access),
  );
  const refusal = json(ref('Error'));
  const signIn = described(access, {
    name: 'signIn',
    summary: 'Exchanges a token for the cookie of a session.',
    roles: 'everybody',
    body: json(object({ token: text })),
    bodyLimit: 4 * 1024,
    answers: { 201: json(SESSION), 401: refusal, 403: refusal, 409: refusal, 429: refusal },
  });
  app.post('/api/v1/session', signIn, async (request, reply) => {
    if (!access.hasTokens)
      return reply.code(409).send({ error: 'there are no tokens: everybody here is an operator' });
    const { token } = bodyOf(request.body);
    if (typeof token !== 'string')
      return reply.code(400).send({ error: 'a JSON body with a text in "token" is needed' });
    const signedIn = await access.signIn(request, token.trim());
    if ('kind' in signedIn) return refuse(reply, signedIn);
    setCookie(request, reply, signedIn.cookie);
    return reply.code(201).send(sessionJson(signedIn.caller, access));
  });
  app.delete(
    '/api/v1/session',
    described(access, {
      name: 'signOut',
      summary: 'Ends the session.',
      roles: ROLES,
      bodyLimit: 4 * 1024,
      answers: { 204: null },
    }),
    async (request, reply) => {
      const cookie = request.cookies[COOKIE];
      if (cookie !== undefined) access.sessions.close(cookie);
      return reply.clearCookie(COOKIE, { path: '/' }).code(204).send();
    },
  );
}

function sessionJson({ name, role }: Caller, { hasTokens }: Access): object {
  return { name, role, signIn: hasTokens };
}

/** For the browser's session: the server's list knows when it ends. Only over TLS where the proxy says that there is some. */
function setCookie(request: FastifyRequest, reply: FastifyReply, value: string): void {
  const secure = request.headers['x-forwarded-proto'] === 'https';
  void reply.setCookie(COOKIE, value, { httpOnly: true, sameSite: 'strict', path: '/', secure });
}
