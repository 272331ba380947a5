import { partnerStory } from '../../../src/partners/reference-story.ts';
import { partnerTexts } from '../../../src/partners/reference-texts.ts';
import { buildOpenApi } from '../../../src/platform/http/openapi.ts';
import { routeGroups } from '../../../src/wiring/app.ts';
import { webhookDocuments } from '../../../src/wiring/webhook-documents.ts';
import { itInFull } from '../../support/full.ts';
import { describeWith, hasTool, loadTool } from '../../tools/index.ts';

/** What is used of the linters. */
interface Redocly {
  createConfig(rules: object): Promise<object>;
  lintFromString(of: {
    source: string;
    config: object;
  }): Promise<{ ruleId: string; location: { pointer?: string }[] }[]>;
}
interface SpectralCore {
  Spectral: new () => {
    setRuleset(ruleset: object): void;
    run(text: string): Promise<{ code: string | number; path: (string | number)[] }[]>;
  };
}
interface SpectralRulesets {
  oas: object;
}

const url = 'https://pay.example.org';
const text = JSON.stringify(
  buildOpenApi(routeGroups, {
    version: '1.0.0',
    url,
    webhooks: webhookDocuments,
    partnerTexts,
    examples: partnerStory,
  }),
);

const areThere = ['@redocly/openapi-core', '@stoplight/spectral-core'].every(hasTool);

describeWith(areThere, 'two linters')("The OpenAPI document, read by others' rules,", () => {
  it('has nothing that Redocly recommends against, except redirects as answers and a public key set', async () => {
    const { createConfig, lintFromString } = await loadTool<Redocly>('@redocly/openapi-core');
    const config = await createConfig({
      extends: ['recommended'],
      // `/v1/documents/{id}/view-url` and `/v1/documents/type/{type}` differ: an id is a UUID.
      rules: { 'no-ambiguous-paths': 'off', 'no-server-example.com': 'off' },
    });
    const problems = await lintFromString({ source: text, config });
    expect(problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`)).toEqual([
      'operation-4xx-response #/paths/~1.well-known~1jwks.json/get/responses',
      'operation-2xx-response #/paths/~1v1~1documents~1{id}~1public/get/responses',
    ]);
  }, 300_000);

  itInFull(
    'has nothing that Spectral complains about',
    async () => {
      const { Spectral } = await loadTool<SpectralCore>('@stoplight/spectral-core');
      const { oas } = await loadTool<SpectralRulesets>('@stoplight/spectral-rulesets');
      const spectral = new Spectral();
      spectral.setRuleset({ extends: [oas], rules: { 'info-contact': 'off' } });
      const problems = await spectral.run(text);
      expect(problems.map(({ code, path }) => `${code} ${path.join('/')}`)).toEqual([]);
    },
    300_000,
  );
});
