import { lists } from '../../bench/growth/questions.ts';
import { buildOpenApi } from '../../src/platform/http/openapi.ts';
import { version } from '../../src/shared/version.ts';
import { routeGroups } from '../../src/wiring/app.ts';
import { webhookDocuments } from '../../src/wiring/webhook-documents.ts';

interface Operation {
  parameters?: { in: string; name: string }[];
}

it('The growth bench queries every list of the API', () => {
  const options = { version, url: 'http://localhost', webhooks: webhookDocuments };
  const { paths } = buildOpenApi(routeGroups, options) as { paths: Record<string, { get?: Operation }> };
  const paged = Object.entries(paths).filter(([, { get }]) =>
    get?.parameters?.some(({ in: place, name }) => place === 'query' && name === 'after'),
  );
  expect(paged.length).toBeGreaterThan(30);
  const asked = new Set(lists.map(([, path]) => path));
  expect(paged.map(([path]) => path).filter((path) => !asked.has(path))).toEqual([]);
  const known = new Set(paged.map(([path]) => path));
  expect([...asked].filter((path) => !known.has(path))).toEqual([]);
});
