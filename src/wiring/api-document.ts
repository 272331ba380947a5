import type { LedgerReferenceType } from '../ledger/transaction.ts';
import type { ReferenceType } from '../money-in/payments/payment-order.ts';
import { addCodeSamples } from '../partners/code-samples.ts';
import { partnerStory } from '../partners/reference-story.ts';
import { partnerTexts } from '../partners/reference-texts.ts';
import type { FieldTexts } from '../platform/http/field-texts.ts';
import { buildOpenApi } from '../platform/http/openapi.ts';
import type { RouteGroup } from '../platform/http/route-group.ts';
import { version } from '../shared/version.ts';
import { operatorsTexts } from './operators-texts.ts';
import { peopleExamples } from './people-examples.ts';
import { peopleTexts } from './people-texts.ts';
import { webhookDocuments } from './webhook-documents.ts';

/** The descriptions of the fields of people and operators; for those not in it those of partners hold. */
export const appTexts: FieldTexts = { ...peopleTexts, ...operatorsTexts };

/** The OpenAPI document of the whole API at `url`, with code samples for whatever changes something. */
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

const product = 'the product';

/** Whose id a `reference_id` is: that of what is paid for, or of what a transaction is about. */
const references: Readonly<Record<ReferenceType | LedgerReferenceType, string>> = {
  account_top_up: 'the account that is topped up; of a withdrawal its payout',
  charitable_cause_donate: 'the charitable cause',
  charitable_cause_open_donate: 'the pool of open donations, `account_id` of `GET /v1/donations/open-pool`',
  saving_goal_contribution: 'the saving goal',
  saving_circle_contribution: 'the saving circle',
  investment: product,
  commodity_financing_payment: product,
  trusted_partner_investment: product,
  takaful_insurance: product,
  takaful_tabaru_contribution: product,
  donation: 'the charitable cause, the pool of open donations or the tabaru product',
  saving_goal: 'the saving goal',
  saving_circle: 'the saving circle',
  commodity_financing: product,
};

/** The part of the document's introduction that says whose id a `reference_id` is. */
const referenceTable = `**References.** \`reference_type\` says whose id \`reference_id\` is. Payments take the
longer names; transactions of the ledger have the shorter ones.

| \`reference_type\` | \`reference_id\` is the id of |
|---|---|
${Object.entries(references)
  .map(([type, whose]) => `| \`${type}\` | ${whose} |`)
  .join('\n')}`;
