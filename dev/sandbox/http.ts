import { createHash, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import { readFaults } from './faults.ts';
import type { Store } from './store.ts';
import { invalid, WireError } from './wire-error.ts';

const longestBody = 1_048_576;

/** The raw bytes of the request's body. */
export async function readBytes(ctx: Context): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of ctx.req) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > longestBody) throw new WireError(413, 'REQUEST_TOO_LARGE', 'a body has at most 1 MiB');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** Reads a JSON body and checks it against the schema; the error names the wrong fields. */
export async function readJson<T extends z.ZodType>(ctx: Context, schema: T): Promise<z.output<T>> {
  const bytes = await readBytes(ctx);
  let body: unknown;
  try {
    body = bytes.length === 0 ? {} : JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new WireError(400, 'INVALID_JSON_FORMAT', 'the body is not JSON');
  }
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw invalid(result.error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`).join('; '));
}

/**
 * Leaves the caller without an answer: the connection stays open until the caller closes it, or for the given
 * milliseconds.
 */
export function leaveUnanswered(ctx: Context, ms?: number): void {
  ctx.respond = false;
  if (ms !== undefined) setTimeout(() => ctx.res.destroy(), ms).unref();
}

/** Answers errors in the provider's form. */
export const presentErrors: Middleware = async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    if (ctx.respond === false) return;
    const known = error instanceof WireError ? error : new WireError(500, 'SERVER_ERROR', 'something went wrong');
    if (known !== error) process.stderr.write(`sandbox: ${Error.isError(error) ? error.stack : String(error)}\n`);
    ctx.status = known.status;
    ctx.body = { error_code: known.code, message: known.message };
  }
};

/** Requires the secret key as the user name of Basic authentication, as on the provider's own paths. */
export function requireKey(secretKey: string): Middleware {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(`Basic ${Buffer.from(`${secretKey}:`).toString('base64')}`);
  return async (ctx, next) => {
    if (!timingSafeEqual(digest(ctx.get('authorization')), expected)) {
      throw new WireError(401, 'INVALID_API_KEY', 'API key provided is invalid');
    }
    await next();
  };
}

/** Delays requests, and fails or leaves unanswered the share of requests that the faults set. */
export function requestFaults(store: Store): Middleware {
  return async (ctx, next) => {
    const { error_rate, hang_rate, hang_after_effect, limit_rate, retry_after_seconds, delay_ms } =
      readFaults(store).requests;
    if (delay_ms > 0) await sleep(delay_ms);
    const lot = Math.random();
    if (lot < error_rate) throw new WireError(500, 'SERVER_ERROR', 'an injected fault');
    if (lot >= error_rate + hang_rate) {
      if (lot >= error_rate + hang_rate + limit_rate) return next();
      ctx.set('Retry-After', String(retry_after_seconds));
      throw new WireError(429, 'RATE_LIMIT_EXCEEDED', 'an injected fault');
    }
    if (hang_after_effect) {
      try {
        await next();
      } catch (error) {
        if (!(error instanceof WireError)) throw error;
      }
    }
    leaveUnanswered(ctx);
  };
}

const fingerprintOf = (body: unknown): string => createHash('sha256').update(JSON.stringify(body)).digest('hex');

/**
 * Creates a resource once per key: a repeat with the same body returns the first resource's id, a repeat with another
 * body throws the provider's 409. Without a key every call creates a new resource.
 */
export function makeOnce(store: Store, route: string, key: string | null, body: unknown, make: () => string): string {
  return store.transaction(() => {
    if (key === null) return make();
    const fingerprint = fingerprintOf(body);
    const known = store.get('select fingerprint, resource_id from idempotency where route = ? and key = ?', route, key);
    if (known && known.fingerprint !== fingerprint) {
      throw new WireError(409, 'DUPLICATE_ERROR', 'this idempotency key was used with another body');
    }
    if (known) return String(known.resource_id);
    const id = make();
    store.run(
      'insert into idempotency (route, key, fingerprint, resource_id) values (?, ?, ?, ?)',
      route,
      key,
      fingerprint,
      id,
    );
    return id;
  });
}

/** All values of a query parameter. */
export const queryValues = (ctx: Context, name: string): string[] => [ctx.query[name] ?? []].flat();

/** The first value of a query parameter. */
export const queryValue = (ctx: Context, name: string): string | undefined => queryValues(ctx, name)[0];

const limitSchema = z.coerce.number().int().min(1).max(100).default(10);

/** The provider's `limit`: 1 to 100, 10 unless given. */
export function queryLimit(ctx: Context): number {
  const result = limitSchema.safeParse(queryValue(ctx, 'limit'));
  if (!result.success) throw invalid('limit is a whole number from 1 to 100');
  return result.data;
}

/** A page of a list that was read with `limit + 1` rows. */
export function presentList<T>(found: T[], limit: number, present: (item: T) => object) {
  return { data: found.slice(0, limit).map(present), has_more: found.length > limit };
}
