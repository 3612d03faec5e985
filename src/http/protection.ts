/** What every answer is protected by: headers that bind browsers, and limits per address and per token. */
import cookie from '@fastify/cookie';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerOf, type Access, type Limit } from './access.ts';

/** Unknown tokens that an address may try in a minute. */
export const MOST_FAILURES = 100;
/** Requests that a token may make in a minute: ten times what an airport sends. */
export const MOST_REQUESTS = 30_000;

export interface ProtectionOptions {
  readonly access: Access;
  /** Per minute and address. Default {@link MOST_FAILURES}. */
  readonly maxFailures?: number;
  /** Per minute and token. Default {@link MOST_REQUESTS}. */
  readonly maxRequests?: number;
}

/** To be awaited before routes are registered. */
export async function protect(app: FastifyInstance, options: ProtectionOptions): Promise<void> {
  await app.register(cookie);
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        'default-src': ["'none'"],
        'script-src': ["'self'"],
        'style-src': ["'self'"],
        'img-src': ["'self'"],
        'font-src': ["'self'"],
        'connect-src': ["'self'"],
        'manifest-src': ["'self'"],
        'base-uri': ["'none'"],
        'form-action': ["'self'"],
        'frame-ancestors': ["'none'"],
      },
    },
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
    // Whoever ends TLS in front of msgx decides about that.
    strictTransportSecurity: false,
  });
  app.addHook('onRequest', async ({ url }, reply) => {
    reply.header('permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()');
    if (url.startsWith('/api/') || url.startsWith('/cminmsgs/')) reply.header('cache-control', 'no-store');
  });
  // Counted by the access alone, which knows whose a request is.
  await app.register(rateLimit, { global: false });
  const limit = (max: number, keyGenerator: (request: FastifyRequest) => string): Limit => {
    const check = app.createRateLimit({ max, timeWindow: 60_000, keyGenerator });
    return async (request, count) => {
      const state = await check(request, { increment: count });
      if (state.isAllowed) return null;
      return (count ? state.isExceeded : state.remaining <= 0) ? Math.max(1, state.ttlInSeconds) : null;
    };
  };
  options.access.limitBy({
    failures: limit(options.maxFailures ?? MOST_FAILURES, ({ ip }) => `address ${ip}`),
    requests: limit(options.maxRequests ?? MOST_REQUESTS, (request) => {
      const { role, name } = callerOf(request);
      return `${role} ${name ?? ''}`;
    }),
  });
}
