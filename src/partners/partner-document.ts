import { buildOpenApi, type WebhookDocument } from '../platform/http/openapi.ts';
import type { RouteGroup } from '../platform/http/route-group.ts';
import { addCodeSamples } from './code-samples.ts';
import type { Described } from './postman-collection.ts';
import { partnerStory } from './reference-story.ts';
import { groupByWork, type Tagged } from './reference-tags.ts';
import { orderOfChecks, partnerTexts } from './reference-texts.ts';

const introduction = `What a partner's server calls. Amounts are IDR in decimal strings, times ISO 8601 UTC.

**Beginning.** [Start](/docs/partners/start) goes the whole way from a key to a webhook and a payout in fifteen minutes. Then:
[concepts](/docs/partners/concepts), [reusable numbers](/docs/partners/instruments), [batches](/docs/partners/batches),
[testing](/docs/partners/testing), [webhooks](/docs/partners/webhooks), [going live](/docs/partners/going-live),
[clients](/docs/sdk).

**Trying it out.** Under *Authentication*, enter the API key as the bearer token of *partnerKey* and the **signing secret**
as the value of *partnerSignature*; then choose *Test Request* at an operation. This page signs each request in your
browser and sends only the signatures. It keeps neither: both are gone when you close or reload it. Use a key of a sandbox,
never one of production.

**Code samples** read the address of the API, the key and the signing secret from \`AMANAH_API_URL\`, \`AMANAH_API_KEY\` and
\`AMANAH_SIGNING_SECRET\`, and send both signatures. The clients for TypeScript and Python sign, retry and verify webhooks
by themselves.

**Signing.** \`Authorization: Bearer <API key>\`, and \`x-partner-signature\`: the hex HMAC-SHA256 of the raw body under the
signing secret, of the empty string without a body. Every call needs it. Send a second signature beside it, which covers the
whole request, so that a recorded one cannot be sent again later or elsewhere:
\`x-partner-signature-v2: t=<unix seconds>,v1=<hex>\`, the HMAC-SHA256 over five lines, joined by line feeds (0x0A, none at
the end): \`t\`, method, path with query as sent, idempotency key or empty, hex SHA-256 of the body. Where it is sent it must
be right, and at most five minutes old. Refunds, cancellations, webhooks and keys demand it; a key may demand it
everywhere, and only such a key keeps a recorded request from being sent again under another idempotency key. Where an
operation takes no idempotency key, each signature is taken once: sign a repetition anew, with a later second.

**Idempotency.** Creating takes \`X-Idempotency-Key\`, 8 to 128 characters. The same key with the same request answers the
first answer again, with \`Idempotency-Replayed: true\`, for at least 30 days. After a 503, a 504 or no answer at all, repeat
under the same key and never under another.

**What a status means.** Stop polling at \`is_final\`. A payout that \`succeeded\` is final for you to act on; if the bank
returns the money later it becomes \`reversed\`, and its net is available again.

**Checks** run in this order: ${orderOfChecks}

**Errors.** Branch on \`error.code\`, never on the message. [Every code, its cause and what to do](/docs/errors).`;

/** The part of the document that other files read. */
export type PartnerDocument = Described & {
  info: { title: string; description: string };
  components: { securitySchemes: Record<string, { description: string }> };
};

/**
 * The OpenAPI document for partners: their operations, grouped in the order of their work, with code samples, and
 * webhooks, and the error catalogue.
 */
export function buildPartnerDocument(
  routeGroups: readonly RouteGroup[],
  options: { version: string; url: string; webhooks: readonly WebhookDocument[] },
): PartnerDocument {
  const groups = routeGroups.map((group) => ({
    ...group,
    routes: group.routes.filter(({ access }) => access.kind === 'partner'),
  }));
  const used = groups.filter(({ routes }) => routes.length > 0);
  const document = buildOpenApi(used, {
    ...options,
    texts: { '/': [partnerTexts] },
    examples: partnerStory,
  }) as PartnerDocument & Tagged;
  addCodeSamples(document);
  groupByWork(document);
  const { bearer: _, cookie: __, ...schemes } = document.components.securitySchemes;
  return {
    ...document,
    info: { ...document.info, title: 'Amanah for partners', description: introduction },
    components: { ...document.components, securitySchemes: schemes },
  };
}
