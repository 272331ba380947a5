import type { Context } from 'koa';
import { refuse } from '../../shared/errors.ts';
import { bodyLimitBytes, readBody, refuseCompressed } from './body.ts';

/** Reads a form's fields; line breaks become spaces. Throws REQUEST_INVALID if the body is not a form. */
export async function readForm(ctx: Context): Promise<Record<string, string>> {
  if (!ctx.is('urlencoded')) refuse('REQUEST_INVALID', 'The body must be application/x-www-form-urlencoded');
  refuseCompressed(ctx.get('content-encoding'));
  const bytes = await readBody(ctx.req, { limitBytes: bodyLimitBytes.auth });
  const fields = [...new URLSearchParams(bytes.toString())];
  return Object.fromEntries(fields.map(([name, value]) => [name, value.replace(/[\r\n]+/g, ' ')]));
}
