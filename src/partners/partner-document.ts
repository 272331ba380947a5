import { buildOpenApi, type WebhookDocument } from '../platform/http/openapi.ts';
import type { RouteGroup } from '../platform/http/route-group.ts';
import { addCodeSamples } from './code-samples.ts';
import type { Described } from './postman-collection.ts';
import { partnerStory } from './reference-story.ts';
import { groupByWork, type Tagged } from './reference-tags.ts';
import { orderOfChecks, partnerTexts } from './reference-texts.ts';

const introduction = `The API for partners' servers. Amounts are IDR in decimal strings, times ISO 8601 UTC.

**Beginning.** [Start](/docs/partners/start) takes you from a key to a webhook and a payout in fifteen minutes. Then:
[concepts](/docs/partners/concepts), [reusable numbers](/docs/partners/instruments), [batches](/docs/partners/batches),
[testing](/docs/partners/testing), [webhooks](/docs/partners/webhooks), [going live](/docs/partners/going-live),
[clients](/docs/sdk).

**Trying it out.** Under *Authentication*, enter the API key as the bearer token of *partnerKey* and the **signing secret**
as the value of *partnerSignature*; then choose *Test Request* on an operation. This page signs each request in your
browser and sends only the signatures. It stores neither key nor secret: both are lost when you close or reload it.
Use a sandbox key, never a production key.

**Code samples** read the address of the API, the key and the signing secret from \`AMANAH_API_URL\`, \`AMANAH_API_KEY\` and
\`AMANAH_SIGNING_SECRET\`, and send both signatures. The clients for TypeScript and Python sign, retry and verify webhooks
for you.

**Signing.** \`Authorization: Bearer <API key>\`, and \`x-partner-signature\`: the hex HMAC-SHA256, keyed with the
signing secret, of the raw body, or of the empty string if there is none. Every call needs it. Also send a second
signature, which covers the whole request, so that a recorded request cannot be replayed later or elsewhere:
\`x-partner-signature-v2: t=<unix seconds>,v1=<hex>\`, the HMAC-SHA256 over five lines, joined by line feeds (0x0A, none at
the end): \`t\`, method, path with query as sent, idempotency key or empty, hex SHA-256 of the body. If sent, it must
be correct and at most five minutes old. All writes require it, except creating payments and payouts, and quotes; a
key may require it everywhere, and only such a key prevents replaying a recorded request under another idempotency key.
Writes that require it and take no idempotency key accept each signature once: sign a retry again, with a later time.

**Idempotency.** Creating a payment, instrument, refund, payout or batch requires \`X-Idempotency-Key\`, 8 to 128
characters. The same key and request return the first response, with \`Idempotency-Replayed: true\`, for at least
30 days. After a 503, a 504 or no response, retry with the same key, never with another.

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
 * The OpenAPI document for partners: their operations, grouped in the order of their work, with code samples; the
 * webhooks; and the error catalogue.
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
