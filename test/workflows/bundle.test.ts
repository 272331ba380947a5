import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testRun } from '../support/run.ts';

const root = join(import.meta.dirname, '..', '..');

/** The packages that may run in the workflow sandbox; a new one here is a decision, not an accident. */
const allowed = [
  /^@temporalio\//,
  /^@protobufjs\//,
  /^protobufjs$/,
  /^long$/,
  /^ms$/,
  /^nexus-rpc$/,
  /^heap-js$/,
  /^assert$/,
];
/** Our own files that may: the workflows and pure facts. */
const ours = [/^workflows\//, /^src\/shared\//, /^src\/temporal\/search-attributes\.ts$/, /^src\/[\w-]+\/[\w-]+\.ts$/];
const forbidden = /\.(entity|routes)\.ts$|^activities\/|^src\/(http|storage|gateway|encryption)\//;

/** The modules of the bundle, read from its source map. */
function modulesOf(bundle: string): string[] {
  const [, encoded = ''] =
    /sourceMappingURL=data:application\/json;(?:charset=utf-8;)?base64,([A-Za-z0-9+/=]+)\s*$/.exec(bundle) ?? [];
  const map: { sources: string[] } = JSON.parse(Buffer.from(encoded, 'base64').toString('utf8'));
  return map.sources.map((source) => source.replace(/^webpack:\/\/[^/]*\//, '').replace(/^\.\//, ''));
}

describe('The workflow bundle', () => {
  const modules = modulesOf(readFileSync(testRun().workflowBundle, 'utf8')).map((path) => path.replace(`${root}/`, ''));

  it('contains no package beyond those allowed in the sandbox', () => {
    const packages = modules.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
    expect(packages.length).toBeGreaterThan(0);
    expect([...new Set(packages)].filter((name) => !allowed.some((pattern) => pattern.test(name)))).toEqual([]);
  });

  it('contains of our own files only workflows and pure facts, never an activity, an entity or a route', () => {
    const mine = modules.filter((path) => /^(workflows|activities|src)\//.test(path));
    expect(mine).toContain('workflows/gateway-payment.ts');
    expect(mine.filter((path) => forbidden.test(path) || !ours.some((pattern) => pattern.test(path)))).toEqual([]);
  });

  it('exports every workflow under the name that histories and schedules know', async () => {
    const exported = await import('../../workflows/index.ts');
    expect(Object.keys(exported)).toEqual(
      expect.arrayContaining([
        'gatewayPayment',
        'unmatchedReceipt',
        'redeliverCallbacks',
        'sweepOverduePayments',
        'runLedgerChecks',
      ]),
    );
  });
});
