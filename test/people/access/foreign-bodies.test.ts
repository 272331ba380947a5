import { z } from 'zod';
import type { Route } from '../../../src/platform/http/route-group.ts';
import { must } from '../../../src/shared/assert.ts';
import { newId } from '../../../src/shared/ids.ts';
import { routeGroups } from '../../../src/wiring/app.ts';
import { type BuiltUser, buildIndividual, buildOrganizationAdmin } from '../../support/build.ts';
import { buildTransaction, upload } from '../../support/documents.ts';
import { casesOf } from '../../support/full.ts';
import { type BuiltPartner, buildPartner, freshKey, signatures } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { type Stack, startStack } from '../../support/stack.ts';
import { type Body, bodies, type Named } from './body-things.ts';
import { documentedAccess } from './documented-access.ts';
import { expectChecksEmptyBut, withoutIds } from './foreign-answers.ts';
import { type Ids, namesThings, type Owner, thingsOf } from './matrix-things.ts';

/**
 * Returns the id fields of a schema as its document shows them: `name`, `list[]`, `list[].name`. A product's id may be
 * any text; text that is no id finds nothing.
 */
function idFieldsOf(schema: z.ZodType | undefined): string[] {
  const found = new Set<string>();
  const walk = (part: unknown, path: string): void => {
    const { format, properties = {}, items, ...rest } = Object(part);
    if (format === 'uuid' || path === 'product_id') found.add(path);
    for (const [name, inner] of Object.entries(properties)) walk(inner, path === '' ? name : `${path}.${name}`);
    if (items) walk(items, `${path}[]`);
    for (const inner of [rest.anyOf, rest.oneOf, rest.allOf].flatMap((choices: unknown[] = []) => choices))
      walk(inner, path);
  };
  if (schema) walk(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), '');
  return [...found];
}

const nameOf = ({ method, path }: Route): string => `${method.toUpperCase()} ${path.replace(/:\w+/g, ':')}`;
const routes = routeGroups.flatMap((group) => group.routes);
const withBodies = routes.filter(({ body }) => idFieldsOf(body).length > 0);
const withQueries = routes.filter(({ query }) => idFieldsOf(query).length > 0);

type UserType = 'organization' | 'individual';
interface Caller {
  kind: string;
  owner: Owner;
  /** Whether the caller uses the partner's key instead of the user's token. */
  isPartner: boolean;
  userType: UserType;
}

let stack: Stack;
let callers: Caller[];
let stranger: Owner;
let cases = 0;
beforeAll(async () => {
  stack = await startStack({ own: true, worker: true, sandbox: true, env: { LOG_LEVEL: 'error' } });
  const [mine, third] = [await buildPartner(stack), await buildPartner(stack)];
  const admin = await buildOrganizationAdmin(stack);
  const { organizationId } = admin;
  const person = (kind: string, userType: UserType, user: BuiltUser): Caller => ({
    kind,
    owner: { user, partner: mine },
    isPartner: false,
    userType,
  });
  callers = [
    person('organization admin', 'organization', admin),
    person('individual of the organization', 'individual', await buildIndividual(stack, { organizationId })),
    person('independent individual', 'individual', await buildIndividual(stack)),
  ];
  callers.push({ kind: 'partner', owner: { user: admin, partner: mine }, isPartner: true, userType: 'organization' });
  stranger = { user: await buildOrganizationAdmin(stack), partner: third };
}, 90_000);
afterAll(async () => {
  process.stdout.write(`The permission matrix called ${cases} cases of ids in bodies and queries.\n`);
  await stack?.stop();
});

/** Returns the callers whom the documents admit, with the default roles. */
async function admitted(name: string): Promise<Caller[]> {
  const { kind, permissions: documented, userTypes, role } = documentedAccess[name] ?? {};
  const { permission } = bodies[name] ?? {};
  const permissions = permission === undefined ? documented : [permission];
  if (role) return [];
  const held = await stack.em().execute<{ role: string; permission: string }[]>(
    `select r.name as role, p.name as permission from roles r join role_permissions rp on rp.role_id = r.id
       join permissions p on p.id = rp.permission_id where r.name in ('organization_admin', 'individual_user')`,
  );
  const holds = (userType: UserType) =>
    permissions === undefined ||
    held.some(
      ({ role, permission }) =>
        role === (userType === 'organization' ? 'organization_admin' : 'individual_user') &&
        permissions.includes(permission),
    );
  return callers.filter(({ isPartner, userType }) =>
    kind === 'partner' ? isPartner : !isPartner && (userTypes?.includes(userType) ?? true) && holds(userType),
  );
}

/** Calls a route as this caller; a partner signs the body, even the empty body of a read. */
async function call(
  route: Route,
  { isPartner, owner }: Caller,
  ids: Ids,
  { body, query = '' }: { body?: object; query?: string },
): Promise<[number, string]> {
  cases += 1;
  const path = route.path.replace(/:(\w+)/g, (_, param: string) => ids[param] ?? newId());
  const raw = body === undefined ? '' : JSON.stringify(body);
  const { apiKey, signingSecret }: BuiltPartner = owner.partner;
  const key = freshKey();
  const { method } = route;
  const answer = await fetch(new URL(`${path}${query}`, stack.url), {
    method: method.toUpperCase(),
    body: body === undefined ? null : raw,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${isPartner ? apiKey : owner.user.token}`,
      ...(isPartner && {
        ...signatures(signingSecret, { method, path: `${path}${query}`, raw, key }),
        'x-idempotency-key': key,
      }),
    },
  });
  return [answer.status, await answer.text()];
}

const isMoney = (path: string): boolean => /\/(accounts|transactions|balance)$/.test(path);

/** Reads whose responses depend on the time, or redirect. */
const unsteady = new Set(['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs']);

/**
 * Returns everything that the stranger can read of their own: every read and list that needs no id, as a person and as
 * a partner. In `npm test` only their money and the route's own resources.
 */
async function shownToStranger({ path: about }: Route): Promise<Record<string, unknown>> {
  const shown: Record<string, unknown> = {};
  const reads = routes
    .filter(({ method, path }) => method === 'get' && !path.includes(':') && !unsteady.has(path))
    .filter(({ path }) => isFullRun() || isMoney(path) || path.split('/')[2] === about.split('/')[2]);
  for (const read of reads) {
    const isPartner = read.access.kind === 'partner';
    const caller: Caller = { kind: 'stranger', owner: stranger, isPartner, userType: 'organization' };
    const [status, text] = await call(read, caller, {}, {});
    if (status === 200 && text.startsWith('{')) shown[read.path] = { ...JSON.parse(text), request_id: null };
  }
  return shown;
}

const ownIds = (route: Route, owner: Owner): Promise<Ids> =>
  namesThings(route) ? thingsOf(route).make(stack, owner) : Promise.resolve({});

/** Returns a body with this field; `[]` makes a list of one entry. */
const placed = (field: string, value: unknown): object =>
  field.endsWith('[]') ? { [field.slice(0, -2)]: [value] } : { [field]: value };
const valueIn = (body: Record<string, unknown>, field: string): unknown =>
  field.endsWith('[]') ? Object(body[field.slice(0, -2)])[0] : body[field];

describe('Ids in bodies', () => {
  it('Every route with an id in its body has a row in this test’s table', () => {
    const wanted = Object.fromEntries(withBodies.map((route) => [nameOf(route), idFieldsOf(route.body).toSorted()]));
    const written = Object.fromEntries(
      Object.entries(bodies).map(([name, { fields }]) => [name, Object.keys(fields).toSorted()]),
    );
    expect(written).toEqual(wanted);
  });

  const asked = withBodies.flatMap((route): [string, Route, Body][] => {
    const body = bodies[nameOf(route)];
    const isAsked = body && Object.values(body.fields).some((named) => typeof named === 'object');
    return isAsked ? [[nameOf(route), route, body]] : [];
  });
  it.each(asked)(
    '%s accepts the caller’s own id in its body and returns the documented error for a foreign or unknown one',
    async (name, route, { build, fields }) => {
      const reached: string[] = [];
      const behind = await admitted(name);
      const turn = asked.findIndex(([each]) => each === name) % behind.length;
      for (const caller of [...behind.slice(turn), ...behind.slice(0, turn)]) {
        // In `npm test` one caller represents the others.
        if (!isFullRun() && reached.length > 0) break;
        // A user without an organization cannot build this body.
        const own = await build(stack, caller.owner).catch(() => null);
        if (own === null || Object.values(own).includes(null)) continue;
        const ids = await ownIds(route, caller.owner);
        const theirs = await build(stack, stranger);
        const before = await shownToStranger(route);
        expect(Object.keys(before).length).toBeGreaterThan(isFullRun() ? 10 : 2);
        for (const [field, named] of Object.entries(fields)) {
          if (typeof named === 'string') continue;
          const { foreign, absent }: Named = named;
          const ask = (value: unknown) => call(route, caller, ids, { body: { ...own, ...placed(field, value) } });
          const [missing, missingText] = await ask(newId());
          if (foreign !== 'open') {
            const [status, text] = await ask(valueIn(theirs, field));
            expect([caller.kind, field, status]).toEqual([caller.kind, field, foreign]);
            // If both are refused with the same status, the answer must not distinguish a foreign resource from a
            // missing one.
            if (foreign === absent) {
              const [told, ofNone] = [text, missingText].map((each) => withoutIds(JSON.parse(each)));
              expect([caller.kind, field, told]).toEqual([caller.kind, field, ofNone]);
            }
          }
          expect([caller.kind, field, missing]).toEqual([caller.kind, field, absent]);
        }
        expect([caller.kind, await shownToStranger(route)]).toEqual([caller.kind, before]);
        const [status, text] = await call(route, caller, ids, { body: own });
        expect([caller.kind, status < 300 ? 'taken' : `${status} ${text}`]).toEqual([caller.kind, 'taken']);
        reached.push(caller.kind);
      }
      expect(reached).not.toEqual([]);
    },
    60_000,
  );
});

/** Inserts a webhook delivery of this partner, with its endpoint. */
async function deliveryOf(owner: Owner): Promise<{ id: string; endpoint_id: string; resource_id: string }> {
  const { id } = await thingsOf({ method: 'get', path: '/v1/partners/webhook-deliveries/:id' }).make(stack, owner);
  const sql = 'select id, endpoint_id, resource_id from webhook_deliveries where id = ?';
  const [row] = await stack.em().execute<{ id: string; endpoint_id: string; resource_id: string }[]>(sql, [id]);
  return must(row, 'the delivery was inserted');
}

/** Creates a document of this owner, with its own category and product. */
async function documentOf(owner: Owner): Promise<{ id: string; category_id: string; product_id: string }> {
  const { id } = await thingsOf({ method: 'patch', path: '/v1/documents/categories/:id' }).make(stack, owner);
  const category_id = must(id, 'the category was created');
  const product_id = await buildTransaction(stack, owner.user);
  const { status, body } = await upload(stack, owner.user, product_id, { category_id, document_type: 'receipt' });
  expect(status).toBe(201);
  return { id: body.id, category_id, product_id };
}

describe('Ids in queries', () => {
  /** Routes closed to all of these callers. Only the platform, which sees everything, may use them. */
  const closed: string[] = [];
  const values: Record<string, () => Promise<string>> = {
    organization_id: async () => String(stranger.user.organizationId),
    user_id: async () => stranger.user.id,
    actor_id: async () => stranger.user.id,
    account_id: async () => stranger.user.accountId,
    product_id: async () => document.product_id,
    'GET /v1/transactions product_id': async () => {
      const [row] = await stack
        .em()
        .execute<[{ reference_id: string }]>('select reference_id from transactions where id = ?', [
          await buildTransaction(stack, stranger.user),
        ]);
      return row.reference_id;
    },
    category_id: async () => document.category_id,
    cause_id: async () =>
      String(
        Object.values(await thingsOf({ method: 'get', path: '/v1/charitable-causes/:id' }).make(stack, stranger))[0],
      ),
    instrument_id: async () =>
      String((await thingsOf({ method: 'get', path: '/v1/partners/instruments/:id' }).make(stack, stranger)).id),
    endpoint_id: async () => planted.endpoint_id,
    resource_id: async () => planted.resource_id,
  };
  let planted: { id: string; endpoint_id: string; resource_id: string };
  let document: { id: string; category_id: string; product_id: string };
  beforeAll(async () => {
    planted = await deliveryOf(stranger);
    document = await documentOf(stranger);
  });

  it.each(withQueries.map((route): [string, Route] => [nameOf(route), route]))(
    '%s with a foreign id in its query returns an error or none of the owner’s resources',
    async (name, route) => {
      const made = await Promise.all(
        ['/v1/charitable-causes/:id', '/v1/saving-circles/:id', '/v1/documents/:id', '/v1/acl/roles/:role_id'].map(
          async (path) => Object.values(await thingsOf({ method: 'get', path }).make(stack, stranger)),
        ),
      );
      const { id, accountId } = stranger.user;
      const theirs = [
        id,
        accountId,
        planted.id,
        document.id,
        ...made.flat(),
        await buildTransaction(stack, stranger.user),
      ];
      const admittedHere = await admitted(name);
      const reached: string[] = [];
      for (const caller of admittedHere) {
        for (const field of idFieldsOf(route.query)) {
          const value = values[`${name} ${field}`] ?? values[field];
          if (value === undefined) throw new Error(`${name}: no value for ${field}`);
          const query = `?limit=100&${field}=${await value()}`;
          const [status, text] = await call(route, caller, { type: 'receipt' }, { query });
          const shown = status === 200 ? theirs.filter((each) => text.includes(each)) : [];
          // Admitted callers are authenticated, so a 401 must name the field.
          const allowed = caller.isPartner ? [200, 404] : [200, 400, 403, 404];
          const isAllowed = allowed.includes(status) || (status === 401 && text.includes(`"${field}: `));
          const told = isAllowed ? 'as documented' : `${status} ${text}`;
          expect([caller.kind, field, told, shown]).toEqual([caller.kind, field, 'as documented', []]);
          reached.push(field);
        }
      }
      if (admittedHere.length === 0) closed.push(name);
      else expect(new Set(reached)).toEqual(new Set(idFieldsOf(route.query)));
    },
  );

  it('Every route with an id in its query was tested, except platform-only routes', () => {
    expect(closed).toEqual([
      'GET /v1/events',
      'GET /v1/partner-accounts/:/webhook-deliveries',
      'GET /v1/payout-batches',
      'GET /v1/payouts',
      'GET /v1/partner-payments',
      'GET /v1/decisions',
    ]);
    expect(withQueries.length).toBeGreaterThan(10);
  });

  it('A partner can filter deliveries by its own endpoint', async () => {
    const name = 'GET /v1/partners/webhook-deliveries';
    const route = must(
      withQueries.find((each) => nameOf(each) === name),
      name,
    );
    const caller = must((await admitted(name))[0], 'a partner is admitted');
    const own = await deliveryOf(caller.owner);
    const [status, text] = await call(route, caller, {}, { query: `?endpoint_id=${own.endpoint_id}` });
    expect([status, JSON.parse(text).data.items.map(({ id }: { id: string }) => id)]).toEqual([200, [own.id]]);
  });
});

describe('The caller’s own ids in queries', () => {
  it.each(casesOf(['category_id', 'product_id'] as const))(
    'A document list filtered by %s returns only matching documents',
    async (field) => {
      const [named, other] = [await documentOf(stranger), await documentOf(stranger)];
      const { body } = await stack.get(`/v1/documents?limit=100&${field}=${named[field]}`, {
        token: stranger.user.token,
      });
      const shown = body.documents.map(({ id }: { id: string }) => id);
      expect([shown, shown.includes(other.id)]).toEqual([[named.id], false]);
    },
  );
});

describe('The books after these tests', () => {
  it('The ledger checks find no violations after requests with foreign ids, except of inserted circles', () =>
    expectChecksEmptyBut(['check_circle_pots_paid_once', 'check_circle_states'], stack));
});
