import { z } from 'zod';
import { worstBodies } from '../../../bench/bodies/worst-bodies.ts';
import { mostItems as mostPayouts } from '../../../src/money-out/payout-batches/payout-batch.ts';
import { readBatchFile } from '../../../src/money-out/payout-batches/read-batch-file.ts';
import { judgePayout } from '../../../src/money-out/payouts/price-payout.ts';
import { bodyLimitBytes } from '../../../src/platform/http/body.ts';
import { mostItems } from '../../../src/platform/http/cut-long-lists.ts';
import { parseJson } from '../../../src/platform/http/json-body.ts';
import { moneyLiteralKeys } from '../../../src/platform/http/serve-route.ts';
import { validate } from '../../../src/platform/http/validate.ts';
import { canonicalJson } from '../../../src/shared/canonical-json.ts';
import { errorCodeOf } from '../../../src/shared/errors.ts';
import { routeGroups } from '../../../src/wiring/app.ts';
import { itInFull } from '../../support/full.ts';

const routes = routeGroups.flatMap((group) => group.routes).filter(({ body }) => body);
const usualMs = 60;
const msOfEachKibibyte = 2;
const msOfEachUploaded = 0.2;

/** Returns the processor time of a read, in ms: the least of up to three, as the first call also compiles. */
function costOf(read: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3 && least > usualMs / 4; round += 1) {
    const before = process.threadCpuUsage();
    read();
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

/** Reads a body as a route does, including the fingerprint of partners' requests. */
function read(route: (typeof routes)[number], text: string): void {
  try {
    const value = parseJson(Buffer.from(text), '', moneyLiteralKeys(route.body));
    canonicalJson(value);
    if (route.body) validate(route.body, value);
  } catch (error) {
    if (errorCodeOf(error) !== 'REQUEST_INVALID') throw error;
  }
}

/** Returns each route with the fields that no earlier route has. */
function fieldsOfRoutes(): { route: (typeof routes)[number]; fields: string[] }[] {
  const seen = new Set<string>();
  return routes.map((route) => {
    const names = route.body && 'shape' in route.body ? Object.keys(route.body.shape as object) : [];
    const fields = names.filter((name) => !seen.has(name));
    for (const name of names) seen.add(name);
    return { route, fields };
  });
}

interface Asked {
  mostMs: number;
  /** Which forms of bodies; all by default. */
  forms?: RegExp;
}

function tooDear(bytes: number, { mostMs, forms = /^/ }: Asked): string[] {
  return fieldsOfRoutes().flatMap(({ route, fields }, index) =>
    worstBodies(bytes, fields, { isAlone: index === 0 }).flatMap(({ name, text }) => {
      if (!forms.test(name)) return [];
      const cost = costOf(() => read(route, text));
      return cost > mostMs ? [`${route.method} ${route.path}: ${name} takes ${Math.round(cost)} ms`] : [];
    }),
  );
}

/** Returns the lists that a schema reads completely, however long they are, by their paths. */
function unboundedLists(schema: unknown, path: string): string[] {
  if (!(schema instanceof z.ZodType)) return [];
  const def = schema.def as unknown as Record<string, unknown>;
  const isUnbounded = schema instanceof z.ZodArray && mostItems(schema) === null;
  const inner = [def.innerType, def.in, def.element, ...(Array.isArray(def.options) ? def.options : [])];
  const shape = schema instanceof z.ZodObject ? Object.entries(schema.shape as object) : [];
  return [
    ...(isUnbounded ? [path] : []),
    ...inner.flatMap((part) => unboundedLists(part, path)),
    ...shape.flatMap(([name, field]) => unboundedLists(field, `${path}.${name}`)),
  ];
}

/** Builds files of `bytes` in forms that become many rows or cells. */
const worstFiles = (bytes: number): string[] => {
  const head = 'external_ref,amount,bank_code,bank_account_number\n';
  const files = [
    [head, 'a\n'],
    [head, ',,,\n'],
    [head, '"a","1","BNI","1"\n'],
    ['', 'a\n'],
    ['', ','],
  ] as const;
  return files.map(([first, row]) => first + row.repeat((bytes - first.length) / row.length));
};

it('The worst import file of payouts costs no more processor time than its size allows', () => {
  const bytes = bodyLimitBytes.list;
  const mostMs = usualMs + ((bytes - bodyLimitBytes.auth) / 1024) * msOfEachUploaded;
  const dear = worstFiles(bytes).flatMap((text) => {
    const cost = costOf(() => {
      expect(() => readBatchFile(Buffer.from(text))).toThrow('file');
    });
    return cost > mostMs ? [`${JSON.stringify(text.slice(0, 60))} takes ${Math.round(cost)} ms`] : [];
  });
  expect(dear).toEqual([]);
}, 120_000);

it.each([16, 385])(
  'A batch of payouts below a fee of %i basis points costs no more processor time than its size allows',
  (basis_points) => {
    const rule = { fixed: '2500.5000', basis_points, provider_fixed: '0.0000', provider_basis_points: 0 };
    const bank = { shortest: 1, longest: 34, minimum: '10000.0000', maximum: '1000000000.0000', provider: 'xendit' };
    const judgeOne = () => judgePayout({ ...bank, feeMode: 'DEDUCTED', rule }, { bankCode: 'BCA', amount: '1' });
    const complaint = expect.stringContaining('does not cover the fee');
    expect(judgeOne()).toEqual({ complaints: [{ field: 'amount', complaint }], price: null });
    const bytes = JSON.stringify({ bank_code: 'BCA', amount: '1' }).length * mostPayouts;
    const cost = costOf(() => {
      for (let count = 0; count < mostPayouts; count += 1) judgeOne();
    });
    expect(cost).toBeLessThan(usualMs + ((bytes - bodyLimitBytes.auth) / 1024) * msOfEachKibibyte);
  },
);

describe('Worst-case bodies', () => {
  it('A body costs no more processor time than its size allows, whatever its form and fields', () => {
    expect(tooDear(bodyLimitBytes.auth - 256, { mostMs: usualMs })).toEqual([]);
  }, 120_000);

  const bytes = bodyLimitBytes.usual;
  const mostMs = usualMs + ((bytes - bodyLimitBytes.auth) / 1024) * msOfEachKibibyte;

  itInFull(
    'A body with a large text of marks or ideographs costs no more than its size allows',
    () => {
      expect(tooDear(bytes - 256, { mostMs, forms: /marks|ideographs/ })).toEqual([]);
    },
    120_000,
  );

  itInFull(
    'A body of the maximum size costs no more processor time than its size allows',
    () => expect(tooDear(bytes - 256, { mostMs })).toEqual([]),
    300_000,
  );

  it('Every list in a request body has a maximum length', () => {
    expect(routes.flatMap(({ method, path, body }) => unboundedLists(body, `${method} ${path}`))).toEqual([]);
  });
});
