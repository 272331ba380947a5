import type { Context, Next } from 'koa';
import { newId } from '../shared/ids.ts';

const printable = /^[\x20-\x7e]{1,64}$/;

/** Takes over `x-request-id` (up to 64 printable characters) or makes one; it stands in every answer's header. */
export async function requestIds(ctx: Context, next: Next): Promise<void> {
  const sent = ctx.get('x-request-id');
  const requestId = printable.test(sent) ? sent : newId();
  ctx.state.requestId = requestId;
  ctx.set('x-request-id', requestId);
  await next();
}
