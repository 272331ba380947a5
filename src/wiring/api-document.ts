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
import { referenceTable } from './reference-table.ts';
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
