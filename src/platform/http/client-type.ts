import type { Context } from 'koa';

/** Whether `x-client-type` is `mobile`; anything else counts as `web` (docs/contract.md 5). */
export const isMobileClient = (ctx: Context): boolean => ctx.get('x-client-type').trim().toLowerCase() === 'mobile';
