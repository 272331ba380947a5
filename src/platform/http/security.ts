import cors from '@koa/cors';
import type { Middleware } from 'koa';
import helmet from 'koa-helmet';

/** The origins that may use our cookie. */
export interface Origins {
  has(origin: string): boolean;
}

/**
 * Returns the origins that may use our cookie: the public URL's and those of ALLOWED_ORIGINS (docs/contract.md 1). One
 * that ends in `:*` allows every port, in development only.
 */
export function allowedOrigins(config: { PUBLIC_URL: string; ALLOWED_ORIGINS: readonly string[] }): Origins {
  const ofAnyPort = config.ALLOWED_ORIGINS.filter((origin) => origin.endsWith(anyPort));
  const named = [config.PUBLIC_URL, ...config.ALLOWED_ORIGINS].filter((origin) => !origin.endsWith(anyPort));
  const origins = new Set(named.map(originOf));
  const hosts = new Set(ofAnyPort.map((origin) => origin.slice(0, -anyPort.length)));
  return { has: (origin) => origins.has(origin) || hosts.has(origin.replace(/:\d{1,5}$/, '')) };
}

/** The suffix of an origin with any port. */
const anyPort = ':*';

/**
 * Returns the origin as browsers send it. An app's custom scheme is kept as written: URL would give `null`, which any
 * sandboxed page also sends.
 */
function originOf(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : text;
  return origin === 'null' ? text : origin;
}

/** Sets security headers and CORS for the allowed origins; scripts only from our own files, styles may be inline. */
export function security(origins: Origins): Middleware[] {
  return [
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'self'"],
          scriptSrc: ["'self'"],
          styleSrc: ["'self'", "'unsafe-inline'"],
          imgSrc: ["'self'", 'data:'],
          connectSrc: ["'self'"],
          objectSrc: ["'none'"],
          baseUri: ["'none'"],
          formAction: ["'self'"],
          frameAncestors: ["'none'"],
        },
      },
    }),
    cors({
      origin: (ctx) => (origins.has(ctx.get('Origin')) ? ctx.get('Origin') : ''),
      credentials: true,
      exposeHeaders: ['x-request-id', 'Retry-After', 'Idempotency-Replayed', 'Content-Disposition', 'Amanah-Version'],
      maxAge: 600,
      keepHeadersOnError: false,
    }),
  ];
}
