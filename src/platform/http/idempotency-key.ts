import type { Context } from 'koa';
import { refuse } from '../../shared/errors.ts';

/**
 * Returns the header `Idempotency-Key`, undefined if absent. Throws 400 unless it has 8 to 128 printable characters.
 */
export function readIdempotencyKey(ctx: Context, header = 'Idempotency-Key'): string | undefined {
  const key = ctx.get(header);
  if (ctx.headers[header.toLowerCase()] === undefined) return undefined;
  if (!/^[\x20-\x7e]{8,128}$/.test(key)) {
    refuse('REQUEST_INVALID', 'must have 8 to 128 printable characters', { field: header });
  }
  return key;
}
