import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { operatorsDocuments } from '../../support/operators-documents.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Alarm {
  alert: string;
  annotations: { runbook_url: string };
}

describe('The runbook', () => {
  it('The runbook has a page for each alarm, and the alarm links to it', () => {
    const { groups } = parse(read('deploy/prometheus/alerts.yml')) as { groups: { rules: Alarm[] }[] };
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.length).toBeGreaterThan(40);
    const lost = rules.filter(({ alert, annotations: { runbook_url: url } }) => {
      const page = operatorsDocuments.find(({ path }) => path === url);
      return page?.path.startsWith('docs/runbook/') !== true || !page.text.includes(`\`${alert}\``);
    });
    expect(lost.map(({ alert, annotations }) => [alert, annotations.runbook_url])).toEqual([]);
  });

  const wordsOf = (text: string) => text.trim().split(/\s+/).length;

  it('The runbook has at most 700 words a page, and 9,000 with reference and erasure', () => {
    const words = operatorsDocuments.map(({ path, text }) => ({ path, words: wordsOf(text) }));
    expect(words.filter((page) => page.path.startsWith('docs/runbook/') && page.words > 700)).toEqual([]);
    expect(words.reduce((sum, page) => sum + page.words, 0)).toBeLessThanOrEqual(9_000);
  });

  it('The runbook’s index lists every page, and no document has a dead link to another', () => {
    const slugOf = (title: string) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-');
    const documents = globSync(['*.md', '{docs,deploy,sdk}/**/*.md'], { cwd: root }).map((path) => ({
      path,
      text: read(path),
    }));
    const places = new Set(
      documents.flatMap(({ path, text }) => [
        path,
        ...[...text.matchAll(/^#{1,4} (.+)$/gm)].map(([, title = '']) => `${path}#${slugOf(title)}`),
      ]),
    );
    const links = documents.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\(([^)#\s]*(?:\.md)?(?:#[\w-]+)?)\)/g)].map(([, to = '']) => ({
        path,
        to: to.startsWith('#') ? `${path}${to}` : join(path, '..', to),
      })),
    );
    expect(links.filter(({ to }) => /\.md(#|$)/.test(to) && !places.has(to))).toEqual([]);
    const pages = operatorsDocuments.map(({ path }) => path).filter((path) => /runbook\/(?!README)/.test(path));
    const indexed = new Set(links.filter(({ path }) => path === 'docs/runbook/README.md').map(({ to }) => to));
    expect(pages.filter((page) => !indexed.has(page))).toEqual([]);
  });

  it('The runbook has instructions for each check that can fail', () => {
    const checks = globSync('src/migrations/**/*.{sql,ts}', { cwd: root }).flatMap((path) =>
      [...read(path).matchAll(/create (?:or replace )?view (check_\w+)/g)].map(([, name = '']) => name),
    );
    expect(checks.length).toBeGreaterThan(50);
    const page = read('docs/runbook/check-violated.md');
    expect(checks.filter((check) => !page.includes(`\`${check}\``))).toEqual([]);
  });
});
