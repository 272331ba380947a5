import type { Context, Next } from 'koa';
import { newId } from '../../shared/ids.ts';

const printable = /^[\x20-\x7e]{1,64}$/;

/**
 * Returns the id of a request: the `x-request-id` sent, if it has 1 to 64 printable characters; otherwise a new one.
 */
export const requestIdFrom = (sent: string | string[] | undefined): string =>
  typeof sent === 'string' && printable.test(sent) ? sent : newId();

/** Adopts `x-request-id` or creates one, and returns it in the header of every response. */
export async function requestIds(ctx: Context, next: Next): Promise<void> {
  const requestId = requestIdFrom(ctx.get('x-request-id'));
  ctx.state.requestId = requestId;
  ctx.set('x-request-id', requestId);
  await next();
}
