import type { Context } from 'koa';

/** What a client says it is by `x-client-type`; everything but `mobile` is taken for `web` (docs/contract.md 5). */
export const isMobileClient = (ctx: Context): boolean => ctx.get('x-client-type').trim().toLowerCase() === 'mobile';
