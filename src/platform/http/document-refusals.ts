import { z } from 'zod';
import { DomainError, type ErrorCode, errorStatuses } from '../../shared/errors.ts';
import { exampleRequestId, headersOf } from './answer-headers.ts';
import { isPartnerPath, partnerCodeOf, presentError } from './errors.ts';
import type { Route } from './route-group.ts';

/** A route's refusals by status; the first is the example. */
export type RefusalsOf = (route: Route) => Readonly<Record<number, readonly DomainError[]>>;

const codes = Object.keys(errorStatuses) as ErrorCode[];
/** Only the partner API has codes that begin with their subject. */
const peoplesCodes = codes.filter(
  (code) => !/^(REQUEST_(IDEMPOTENCY|RATE|INVALID_)|RESOURCE|AUTH|FUNDS|PAYMENT)/.test(code),
);

const Refusal = z
  .object({
    message: z.union([z.string(), z.array(z.string())]),
    statusCode: z.int(),
    error: z.string(),
    code: z.enum(peoplesCodes).meta({ description: 'For programs: branch on this, not on the message.' }),
  })
  .meta({ id: 'Error' });

/** Codes that partners never get. */
const notForPartners = ['INSUFFICIENT_BALANCE', 'FOREIGN_ORGANIZATION', 'UNSUPPORTED_MEDIA_TYPE'];
const partnerCodes = [...new Set(codes.map(partnerCodeOf))].filter((code) => !notForPartners.includes(code));

const PartnerRefusal = z
  .object({
    error: z.object({
      code: z.enum(partnerCodes),
      message: z.string(),
      details: z.unknown().optional(),
    }),
    request_id: z.string(),
  })
  .meta({ id: 'PartnerError' });

const reasons: Record<number, string> = {
  400: 'The request is not valid; the message names the field.',
  401: 'No valid token, or the route does not authorize the caller.',
  403: 'The caller is not allowed to do this.',
  404: 'Not found.',
  408: 'The body did not arrive in time.',
  409: 'Conflicts with the current state.',
  413: 'The body is too large, or expands to more than twenty times its compressed size.',
  415: 'The body is compressed and the caller is not authenticated yet.',
  422: 'Insufficient funds, or a limit would be exceeded.',
  429: 'Too many requests; see Retry-After.',
  500: 'Internal error.',
  502: 'The payment provider refused.',
  503: 'A dependency is unavailable; see Retry-After.',
  504: 'The outcome at the provider is unknown: poll, or retry with the same key; never send it with another key.',
};

/** The additional meaning of a 503 on routes that create under an idempotency key. */
const unavailableCreating =
  'The outcome is unknown, and the request may still start for two minutes: retry it with the same key.';
const unavailableWithoutKey = 'Without a key, a retry may create a second one.';

/** Returns the statuses of a route's refusals, in ascending order. */
export function statusesOfRefusals({ access, path, body, params, query, refusals = [] }: Route): number[] {
  const statuses = new Set<number>([500, 503, ...refusals]);
  if (access.kind !== 'open') statuses.add(401).add(403);
  // Partners' bodies are read before any check, and a route without a body refuses one.
  if (access.kind === 'partner') statuses.add(400).add(408).add(413).add(429);
  if (body || params || query) statuses.add(400);
  if (body) statuses.add(413);
  if (body && access.kind === 'open') statuses.add(415);
  // For partners, only an unknown id is a missing resource; any other unknown value is invalid.
  const names = access.kind === 'partner' ? /:(\w+_)?id\b/ : /:/;
  if (names.test(path)) statuses.add(404);
  return [...statuses].sort((a, b) => a - b);
}

function describeRefusal({ path, idempotent }: Route, status: number): string {
  const said = reasons[status] ?? 'Refused.';
  if (status !== 503 || !idempotent) return said;
  const isKeyNeeded = isPartnerPath(path);
  return [said, unavailableCreating, ...(isKeyNeeded ? [] : [unavailableWithoutKey])].join(' ');
}

/** Describes a route's refusals with this status for the document; `written` has those of partners' routes. */
export function describeRefusals(route: Route, status: number, written: RefusalsOf | undefined) {
  const { path } = route;
  const description = describeRefusal(route, status);
  const [first = 'INTERNAL'] = codes.filter((code) => errorStatuses[code] === status);
  const headers = headersOf(route, status);
  const general = [new DomainError(first, description.replace(/[.;:].*$/, ''))];
  const errors = (isPartnerPath(path) && written?.(route)[status]) || general;
  const [example] = errors.map((error) => presentError(error, path, exampleRequestId));
  if (!isPartnerPath(path)) {
    return { description, headers, content: { 'application/json': { schema: Refusal, example } } };
  }
  const named = [...new Set(errors.map(({ code }) => `\`${partnerCodeOf(code)}\``))];
  return {
    description: `${description} Codes: ${named.join(', ')}.`,
    headers,
    content: { 'application/json': { schema: PartnerRefusal, example } },
  };
}
