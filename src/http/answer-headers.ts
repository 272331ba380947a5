import { partnerPrefix } from './errors.ts';
import type { Route } from './route-group.ts';

/** Descriptions of the answers' headers, by the names under which operations refer to them. */
const headerTexts = {
  'x-request-id': 'Names the request; the one that was sent, if it was usable.',
  'Idempotency-Replayed': '`true` if the answer was made for an earlier request under the same key.',
  'Retry-After': 'Seconds after which a retry may succeed.',
  'RateLimit-Limit': 'How many requests this key may make in ten seconds.',
  'RateLimit-Remaining': 'How many of them are left.',
  'RateLimit-Reset': 'Seconds until the oldest of them no longer counts.',
} as const;
type HeaderName = keyof typeof headerTexts;

/** The headers of an answer to a route with this status, as references into the document. */
export function headersOf({ path, idempotent }: Pick<Route, 'path' | 'idempotent'>, status: number) {
  const names: HeaderName[] = [];
  if (status < 400) names.push('x-request-id');
  if (status < 400 && idempotent) names.push('Idempotency-Replayed');
  if (status === 429 || status === 503) names.push('Retry-After');
  if (path.startsWith(`${partnerPrefix}/`) && (status < 400 || status === 429)) {
    names.push('RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset');
  }
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` as const }]));
}

/** The headers as components of the document, each with what it means. */
export const answerHeaders = Object.fromEntries(
  Object.entries(headerTexts).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' as const } },
  ]),
);
