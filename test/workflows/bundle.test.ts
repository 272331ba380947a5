import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Context, createContext, runInContext } from 'node:vm';
import { testRun } from '../support/run.ts';

const root = join(import.meta.dirname, '..', '..');

/** The packages allowed in the workflow sandbox; adding one is a deliberate decision. */
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
/** Our own allowed files: the workflows and modules without side effects. */
const ours = [
  /^workflows\//,
  /^src\/shared\//,
  /^src\/(?!migrations|wiring)[\w-]+(\/[\w-]+)?\/[\w-]+\.ts$/,
  /^src\/wiring\/temporal\/search-attributes\.ts$/,
];
const forbidden = /\.(entity|routes)\.ts$|^activities\/|^src\/platform\/(http|storage|gateway|encryption)\//;

/** The modules of the bundle, read from its source map. */
function modulesOf(bundle: string): string[] {
  const [, encoded = ''] =
    /sourceMappingURL=data:application\/json;(?:charset=utf-8;)?base64,([A-Za-z0-9+/=]+)\s*$/.exec(bundle) ?? [];
  const map: { sources: string[] } = JSON.parse(Buffer.from(encoded, 'base64').toString('utf8'));
  return map.sources.map((source) => source.replace(/^webpack:\/\/[^/]*\//, '').replace(/^\.\//, ''));
}

/** Evaluates the bundle as a worker does before its first workflow; `evaluated` are the modules so far, by path. */
function evaluateBundle(bundle: string): { context: Context; evaluated: Record<string, unknown> } {
  const evaluated = {};
  const context = createContext({
    __webpack_module_cache__: evaluated,
    ...{ TextEncoder, TextDecoder, AbortController, URL, URLSearchParams, AsyncLocalStorage, console },
  });
  runInContext(bundle, context);
  return { context, evaluated };
}

describe('The workflow bundle', () => {
  const modules = modulesOf(readFileSync(testRun().workflowBundle, 'utf8')).map((path) => path.replace(`${root}/`, ''));

  it('The workflow bundle contains no package beyond those allowed in the sandbox', () => {
    const packages = modules.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
    expect(packages.length).toBeGreaterThan(0);
    expect([...new Set(packages)].filter((name) => !allowed.some((pattern) => pattern.test(name)))).toEqual([]);
  });

  it('Of our files, the workflow bundle contains only workflows and pure modules, no activity, entity or route', () => {
    const mine = modules.filter((path) => /^(workflows|activities|src)\//.test(path));
    expect(mine).toContain('workflows/gateway-payment.ts');
    expect(mine.filter((path) => forbidden.test(path) || !ours.some((pattern) => pattern.test(path)))).toEqual([]);
  });

  it('The workflow bundle keeps no state in module variables, which all workflows of a worker share', () => {
    const mine = modules.filter((path) => /^(workflows|src)\/.*\.ts$/.test(path));
    const kept = mine.flatMap((path) =>
      readFileSync(join(root, path), 'utf8')
        .split('\n')
        .filter((line) => /^(export )?(let|var) |^(export )?const .*new (Map|Set|WeakMap|WeakSet)\b/.test(line))
        .filter((line) => !/: Readonly(Map|Set)</.test(line))
        .map((line) => `${path}: ${line}`),
    );
    expect(mine.length).toBeGreaterThan(20);
    expect(kept).toEqual([]);
  });

  it('The workflow bundle evaluates each module once per worker, not once per workflow', () => {
    const { context, evaluated } = evaluateBundle(readFileSync(testRun().workflowBundle, 'utf8'));
    runInContext('__TEMPORAL__.preloadModules()', context);
    const shared = Object.keys(evaluated);
    expect(shared).toContain('./workflows/partner-payment.ts');
    runInContext('__TEMPORAL__.importWorkflows(); __TEMPORAL__.importInterceptors()', context);
    expect(Object.keys(evaluated)).toEqual(shared);
  });

  it('The workflow bundle limits the stack of an error to two frames', () => {
    const { context } = evaluateBundle(readFileSync(testRun().workflowBundle, 'utf8'));
    runInContext('__TEMPORAL__.preloadModules()', context);
    const frames = (stack: string) => stack.split('\n').length - 1;
    const deep = 'const deep = (n) => n === 0 ? new Error("here").stack : deep(n - 1); deep(20)';
    expect(frames(runInContext(deep, context))).toBe(2);
  });

  it('The workflow bundle exports workflows under the names that histories and schedules use', async () => {
    const exported = await import('../../workflows/index.ts');
    expect(Object.keys(exported)).toEqual(
      expect.arrayContaining(['gatewayPayment', 'unmatchedReceipt', 'redeliverCallbacks', 'sweep', 'runLedgerChecks']),
    );
  });
});
