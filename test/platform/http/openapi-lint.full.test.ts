import { buildPartnerDocument } from '../../../src/partners/partner-document.ts';
import { buildApiDocument } from '../../../src/wiring/api-document.ts';
import { routeGroups } from '../../../src/wiring/app.ts';
import { webhookDocuments } from '../../../src/wiring/webhook-documents.ts';
import { itInFull } from '../../support/full.ts';
import { describeWith, hasTool, loadTool } from '../../tools/index.ts';

/** The used part of the linters' types. */
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
const whole = JSON.stringify(buildApiDocument(routeGroups, url));
const ofPartners = JSON.stringify(
  buildPartnerDocument(routeGroups, { version: '1.0.0', url, webhooks: webhookDocuments }),
);

const areThere = ['@redocly/openapi-core', '@stoplight/spectral-core'].every(hasTool);

describeWith(areThere, 'two linters')('OpenAPI documents under public linters', () => {
  it('The OpenAPI documents pass Redocly’s recommended rules, except in a redirect and a public key set', async () => {
    const { createConfig, lintFromString } = await loadTool<Redocly>('@redocly/openapi-core');
    const config = await createConfig({
      extends: ['recommended'],
      // `/v1/documents/{id}/view-url` and `/v1/documents/type/{type}` differ: an id is a UUID.
      rules: { 'no-ambiguous-paths': 'off', 'no-server-example.com': 'off' },
    });
    const problemsOf = async (source: string) =>
      (await lintFromString({ source, config })).map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`);
    expect(await problemsOf(ofPartners)).toEqual([]);
    expect(await problemsOf(whole)).toEqual([
      'operation-4xx-response #/paths/~1.well-known~1jwks.json/get/responses',
      'operation-2xx-response #/paths/~1v1~1documents~1{id}~1public/get/responses',
    ]);
  }, 300_000);

  itInFull(
    'The OpenAPI documents pass Spectral',
    async () => {
      const { Spectral } = await loadTool<SpectralCore>('@stoplight/spectral-core');
      const { oas } = await loadTool<SpectralRulesets>('@stoplight/spectral-rulesets');
      const spectral = new Spectral();
      spectral.setRuleset({ extends: [oas], rules: { 'info-contact': 'off' } });
      for (const text of [whole, ofPartners]) {
        const problems = await spectral.run(text);
        expect(problems.map(({ code, path }) => `${code} ${path.join('/')}`)).toEqual([]);
      }
    },
    300_000,
  );
});
