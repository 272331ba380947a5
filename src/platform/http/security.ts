import cors from '@koa/cors';
import type { Middleware } from 'koa';
import helmet from 'koa-helmet';

/** The origins that may use our cookie: that of the public URL, and those of ALLOWED_ORIGINS (docs/contract.md 1). */
export function allowedOrigins(config: {
  PUBLIC_URL: string;
  ALLOWED_ORIGINS: readonly string[];
}): ReadonlySet<string> {
  return new Set([config.PUBLIC_URL, ...config.ALLOWED_ORIGINS].map(originOf));
}

/**
 * The origin as browsers send it. An app's custom scheme stays as written: URL gives `null` for it, which any sandboxed
 * page sends too.
 */
function originOf(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : text;
  return origin === 'null' ? text : origin;
}

/** Security headers and CORS for the allowed origins; scripts come from our own files only, styles may be inline. */
export function security(origins: ReadonlySet<string>): Middleware[] {
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
      exposeHeaders: ['x-request-id', 'Retry-After', 'Idempotency-Replayed', 'Amanah-Version'],
      maxAge: 600,
      keepHeadersOnError: false,
    }),
  ];
}
