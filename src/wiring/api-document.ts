import type { LedgerReferenceType } from '../ledger/transaction.ts';
import type { ReferenceType } from '../money-in/payments/payment-order.ts';
import { addCodeSamples } from '../partners/code-samples.ts';
import { partnerStory } from '../partners/reference-story.ts';
import { partnerTexts } from '../partners/reference-texts.ts';
import type { FieldTexts } from '../platform/http/field-texts.ts';
import { buildOpenApi } from '../platform/http/openapi.ts';
import type { RouteGroup } from '../platform/http/route-group.ts';
import { version } from '../shared/version.ts';
import { paymentKinds } from './kinds.ts';
import { operatorsTexts } from './operators-texts.ts';
import { peopleExamples } from './people-examples.ts';
import { peopleTexts } from './people-texts.ts';
import { webhookDocuments } from './webhook-documents.ts';

/** Field descriptions for people and operators; partners' apply to fields not listed here. */
export const appTexts: FieldTexts = { ...peopleTexts, ...operatorsTexts };

/** Builds the OpenAPI document of the whole API at `url`, with code samples for writes. */
export function buildApiDocument(
  routeGroups: readonly RouteGroup[],
  url: string,
  texts: { partners: FieldTexts; app: FieldTexts } = { partners: partnerTexts, app: appTexts },
): object {
  const document = buildOpenApi(routeGroups, {
    version,
    url,
    webhooks: webhookDocuments,
    texts: { '/v1/partners/': [texts.partners], '/': [texts.app, texts.partners] },
    examples: { ...partnerStory, app: peopleExamples },
    introduction: referenceTable,
  });
  addCodeSamples(document as { paths: object });
  return document;
}

/** What `reference_id` names for the reference types that only transactions have. */
const ofLedger: Readonly<Record<Exclude<LedgerReferenceType, ReferenceType>, string>> = {
  donation: 'the charitable cause, the pool of open donations or the tabaru product',
  saving_goal: 'the saving goal',
  saving_circle: 'the saving circle',
  commodity_financing: 'the product',
};
const references = [
  ...Object.values(paymentKinds).map(({ referenceType, referenceOf }) => [referenceType, referenceOf]),
  ...Object.entries(ofLedger),
];

/** The part of the document's introduction that explains `reference_id`. */
const referenceTable = `**References.** \`reference_type\` says whose id \`reference_id\` is. Payments take the
longer names; transactions of the ledger have the shorter ones.

| \`reference_type\` | \`reference_id\` is the id of |
|---|---|
${references.map(([type, whose]) => `| \`${type}\` | ${whose} |`).join('\n')}`;
