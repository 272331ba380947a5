import { isPartnerPath } from './errors.ts';
import type { Route } from './route-group.ts';

/** The version of the partner API: the date of its last breaking change. */
export const partnerApiVersion = '2026-01-14';

/** The request id used in the document's examples. */
export const exampleRequestId = '0198c2f4-7a52-7d6e-9b0a-5f2f6c0f9e11';

/** Response headers with description and example, by name. */
const headerTexts = {
  'x-request-id': ['The id of the request: the one sent, if it was valid.', exampleRequestId],
  'Idempotency-Replayed': ['`true` if this is the response to an earlier request with the same key.', 'true'],
  'Retry-After': ['Seconds after which a retry may succeed.', '2'],
  'Amanah-Version': [
    'The version of the API: the date of its last breaking change. Breaking changes are announced six ' +
      'months ahead, by `Deprecation` and `Sunset`.',
    partnerApiVersion,
  ],
  'RateLimit-Limit': ['How many requests this key may make in ten seconds.', '2000'],
  'RateLimit-Remaining': ['How many of them remain.', '1999'],
  'RateLimit-Reset': ['Seconds until the oldest of them no longer counts.', '10'],
} as const;
type HeaderName = keyof typeof headerTexts;

const describe = ([description, example]: readonly [string, string]) => ({
  description,
  schema: { type: 'string' as const, examples: [example] },
});
/** Headers of deprecated routes, usually none. */
const deprecationHeaders = {
  Deprecation: describe(['When it was deprecated: `@` and seconds since 1970 (RFC 9745).', '@1798761600']),
  Sunset: describe(['When it stops working (RFC 8594).', 'Thu, 01 Jul 2027 00:00:00 GMT']),
};

/** Returns the headers of a route's response with this status, as references into the document. */
export function headersOf(route: Pick<Route, 'path' | 'idempotent' | 'deprecated'>, status: number) {
  const { path, idempotent, deprecated } = route;
  const names: HeaderName[] = ['x-request-id'];
  const isPartners = isPartnerPath(path);
  // Partners' keys also store the provider's refusal.
  if (idempotent && (status < 400 || (isPartners && status === 502))) names.push('Idempotency-Replayed');
  if (status === 429 || status === 503) names.push('Retry-After');
  if (isPartners) names.push('Amanah-Version', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset');
  const common = names.map((name) => [name, { $ref: `#/components/headers/${name}` as const }]);
  return { ...Object.fromEntries(common), ...(deprecated && deprecationHeaders) };
}

/** The headers as components of the document, with their descriptions. */
export const answerHeaders = Object.fromEntries(
  Object.entries(headerTexts).map(([name, text]) => [name, describe(text)]),
);
