import type { Route } from '../../../src/platform/http/route-group.ts';
import { must } from '../../../src/shared/assert.ts';
import { newId } from '../../../src/shared/ids.ts';
import { routeGroups } from '../../../src/wiring/app.ts';
import {
  type BuiltUser,
  buildIndividual,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  buildRole,
  buildSuperAdmin,
} from '../../support/build.ts';
import { secureSession } from '../../support/decide.ts';
import { casesOf } from '../../support/full.ts';
import type { HttpAnswer } from '../../support/http.ts';
import { type BuiltPartner, buildPartner, signatures } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { type Stack, startStack } from '../../support/stack.ts';
import { documentedAccess } from './documented-access.ts';
import { bodyOf, expectChecksEmptyBut, foreignStatus, withoutIds } from './foreign-answers.ts';
import { type Ids, namesThings, type Owner, thingsOf } from './matrix-things.ts';

/** A kind of caller: a user, a partner with its API key, or anonymous. */
interface Caller {
  kind: string;
  user?: BuiltUser;
  partner?: BuiltPartner;
  permissions: ReadonlySet<string>;
  userType?: 'platform' | 'organization' | 'individual';
}

const nameOf = ({ method, path }: Route): string => `${method.toUpperCase()} ${path.replace(/:\w+/g, ':')}`;
const withIds = routeGroups
  .flatMap(({ routes }) => routes)
  .filter(namesThings)
  .map((route): [string, Route] => [nameOf(route), route]);

let stack: Stack;
let callers: Caller[];
/**
 * Owners whose resources are foreign to all callers except platform users: one user with an organization, one without.
 */
let strangers: Owner[];
/** Existing ids for request bodies. */
let spare: Ids;
let cases = 0;

beforeAll(async () => {
  stack = await startStack({ own: true, isImpatient: true, env: { LOG_LEVEL: 'error' } });
  const superAdmin = await buildSuperAdmin(stack);
  const token = await secureSession(stack, superAdmin.id);
  const [mine, other, third] = [await buildPartner(stack), await buildPartner(stack), await buildPartner(stack)];
  const admin = await buildOrganizationAdmin(stack);
  const people: [string, Caller['userType'], BuiltUser, string][] = [
    ['platform super admin', 'platform', { ...superAdmin, token }, 'platform_super_admin'],
    ['platform admin', 'platform', await buildPlatformAdmin(stack), 'platform_admin'],
    ['organization admin', 'organization', admin, 'organization_admin'],
    ['individual of the organization', 'individual', await member(admin), 'individual_user'],
    ['independent individual', 'individual', await buildIndividual(stack), 'individual_user'],
    ['admin of another organization', 'organization', await buildOrganizationAdmin(stack), 'organization_admin'],
  ];
  // Callers with every permission: only the ownership check can refuse them.
  const every = [...(await permissionsOf('platform_super_admin'))];
  const { name: role } = await buildRole(stack, { organizationId: String(admin.organizationId), permissions: every });
  const { organizationId } = admin;
  people.push(
    [
      'organization user with every permission',
      'organization',
      await buildOrganizationAdmin(stack, { organizationId, role }),
      role,
    ],
    ['individual with every permission', 'individual', await buildIndividual(stack, { organizationId, role }), role],
  );
  callers = await Promise.all(
    people.map(async ([kind, userType, user, role]) => ({
      kind,
      user,
      ...(userType && { userType }),
      permissions: await permissionsOf(role),
    })),
  );
  const all = new Set(['collect-payment', 'read-gateway', 'request-payout', 'refund-payment']);
  callers.push({ kind: 'partner', partner: mine, permissions: all });
  callers.push({ kind: 'another partner', partner: other, permissions: all });
  callers.push({ kind: 'nobody', permissions: new Set() });
  const someone = await member(admin);
  spare = { user_id: someone.id, organization_id: String(someone.organizationId) };
  strangers = [
    { user: await buildOrganizationAdmin(stack), partner: third },
    { user: await buildIndividual(stack), partner: third },
  ];
});
afterAll(async () => {
  process.stdout.write(`The permission matrix called ${cases} cases of own, foreign and missing resources.\n`);
  await stack?.stop();
});

const member = ({ organizationId }: BuiltUser) => buildIndividual(stack, { organizationId });

async function permissionsOf(role: string): Promise<Set<string>> {
  const rows = await stack.em().execute<{ name: string }[]>(
    `select p.name from permissions p join role_permissions rp on rp.permission_id = p.id
       join roles r on r.id = rp.role_id where r.name = ?`,
    [role],
  );
  return new Set(rows.map(({ name }) => name));
}

/** Returns the documented status if the caller is refused before the handler runs, or null if admitted. */
function doorStatus(name: string, { kind, user, userType, partner, permissions }: Caller): 401 | 403 | null {
  const access = documentedAccess[name];
  if (!access) throw new Error(`${name} is not documented`);
  if (access.kind === 'open') return null;
  if (access.kind === 'partner') return partner ? null : 401;
  if (!user || !userType) return 401;
  if (access.userTypes && !access.userTypes.includes(userType)) return 403;
  if (access.role && kind !== 'platform super admin') return 403;
  return access.permissions && !access.permissions.some((each) => permissions.has(each)) ? 403 : null;
}

async function call(route: Route, caller: Caller, ids: Ids): Promise<number> {
  return (await ask(route, caller, ids)).status;
}

async function ask(route: Route, { user, partner }: Caller, ids: Ids): Promise<HttpAnswer> {
  cases += 1;
  const path = route.path.replace(/:(\w+)/g, (_, param: string) => ids[param] ?? newId());
  const body = bodyOf(nameOf(route), { ...spare, ...ids });
  const token = user?.token ?? partner?.apiKey;
  const signed = route.method === 'get' ? '' : JSON.stringify(body);
  const key = newId();
  const headers: Record<string, string> = partner
    ? {
        ...signatures(partner.signingSecret, { method: route.method, path, raw: signed, key }),
        'x-idempotency-key': key,
      }
    : {};
  const options = { ...(token === undefined ? {} : { token }), headers };
  return route.method === 'get' ? stack.get(path, options) : stack[route.method](path, body, options);
}

/** Counts the rows of `events`, which every change writes, and of the tables that record moved or reserved money. */
async function countWritten(): Promise<unknown> {
  const tables = ['events', 'journals', 'transactions', 'payouts', 'payment_orders', 'partner_payments', 'donations'];
  const counts = tables.map((table) => `(select count(*)::int from ${table}) as ${table}`).join(', ');
  return stack.em().execute(`select ${counts}`);
}

/** Returns whether repeated reads return the same response, whatever the time and whatever others do. */
const isSteady = ({ path }: Route): boolean => !/view-url|\/organizations\/(sizes|industries)$/.test(path);

/**
 * Returns the responses of all reads of a resource and its collection: as its owner, or as the super admin where the
 * owner has no access.
 */
async function shownOf(route: Route, owner: Owner, ids: Ids): Promise<Record<string, unknown>> {
  // Invited users are read through the routes of users.
  const prefix = route.path.slice(0, route.path.indexOf(':')).replace('/users/invitations/', '/users/');
  const reads = routeGroups
    .flatMap(({ routes }) => routes)
    .filter(({ method, path }) => method === 'get' && (path.startsWith(prefix) || `${path}/` === prefix))
    .filter(({ path }) => [...path.matchAll(/:(\w+)/g)].every(([, param = '']) => ids[param] !== undefined))
    .filter(isSteady);
  const [superAdmin] = callers;
  const readers = [
    { user: owner.user },
    { partner: owner.partner },
    { user: must(superAdmin?.user, 'there is a super admin') },
  ];
  const shown: Record<string, unknown> = {};
  for (const read of reads) {
    for (const reader of readers) {
      const { status, body } = await ask(read, { kind: 'owner', permissions: new Set(), ...reader }, ids);
      if (status !== 200) continue;
      const { request_id: _, ...rest } = Object(body);
      shown[nameOf(read)] = rest;
      break;
    }
  }
  return shown;
}

const absentIds = (route: Route): Ids => {
  const { absent = newId } = thingsOf(route);
  return Object.fromEntries([...route.path.matchAll(/:(\w+)/g)].map(([, param = '']) => [param, absent()]));
};

/** Returns the admitted callers; in `npm test` one, which varies by route. The permission matrix covers the others. */
const oneLetIn = (name: string, some: Caller[]): Caller[] => {
  const letIn = some.filter((caller) => doorStatus(name, caller) === null);
  const turn = withIds.findIndex(([each]) => each === name);
  return casesOf(letIn, (_, index) => index === turn % letIn.length);
};

/** Runs `ask` for each caller and returns one line per caller: its kind and the result. */
async function answers(some: Caller[], ask: (caller: Caller) => Promise<unknown>): Promise<string[]> {
  return Promise.all(some.map(async (caller) => `${caller.kind}: ${await ask(caller)}`));
}

describe('Resources named by id in a route', () => {
  it.each(withIds)(
    '%s returns the documented status for an unknown id to every kind of caller',
    async (name, route) => {
      const asking = isFullRun() ? callers : oneLetIn(name, callers);
      const wanted = await answers(
        asking,
        async (caller) =>
          doorStatus(name, caller) ?? foreignStatus(name, caller.kind, 'absent', thingsOf(route).foreign),
      );
      expect(await answers(asking, (caller) => call(route, caller, absentIds(route)))).toEqual(wanted);
    },
  );

  it.each(withIds.filter(([, route]) => thingsOf(route).foreign !== 'shared'))(
    '%s neither shows nor changes a foreign resource, and returns the documented status',
    async (name, route) => {
      const owners = strangers.filter(
        ({ user }) => user.organizationId !== null || !/^\/v1\/(organizations|acl|users\/invitations)/.test(route.path),
      );
      const turn = withIds.findIndex(([each]) => each === name);
      for (const owner of casesOf(owners, (_, index) => index === turn % owners.length)) {
        const ids = await thingsOf(route).make(stack, owner);
        // Callers without access to foreign resources; `npm test` uses only those that the handler itself must refuse.
        const restricted = callers
          .filter((caller) => foreignStatus(name, caller.kind, 'foreign', thingsOf(route).foreign) !== null)
          .filter((caller) => isFullRun() || doorStatus(name, caller) === null);
        const wanted = await answers(
          restricted,
          async (caller) =>
            doorStatus(name, caller) ?? foreignStatus(name, caller.kind, 'foreign', thingsOf(route).foreign),
        );
        // In `npm test` only writes are checked for effects; the full run also checks reads.
        const isLookedAt = isFullRun() || route.method !== 'get';
        const [shown, count] = isLookedAt
          ? [() => shownOf(route, owner, ids), countWritten]
          : [async () => ({}), async () => 0];
        const [before, written] = [await shown(), await count()];
        // The reads must include the resource, so that a change would be noticed.
        if (isLookedAt) expect(Object.values(ids).some((id) => JSON.stringify(before).includes(id))).toBe(true);
        const bodies = new Map<Caller, unknown>();
        expect(
          await answers(restricted, async (caller) => {
            const { status, body } = await ask(route, caller, ids);
            bodies.set(caller, withoutIds(body));
            return status;
          }),
        ).toEqual(wanted);
        // Count first, because some reads are recorded as events.
        expect(await count()).toEqual(written);
        expect(await shown()).toEqual(before);
        // If both are refused with the same status, the responses must not distinguish a foreign resource from a
        // missing one.
        for (const caller of restricted) {
          const [foreign, absent] = (['foreign', 'absent'] as const).map((which) =>
            foreignStatus(name, caller.kind, which, thingsOf(route).foreign),
          );
          if (foreign !== absent) continue;
          const missing = withoutIds((await ask(route, caller, absentIds(route))).body);
          expect([caller.kind, bodies.get(caller)]).toEqual([caller.kind, missing]);
        }
      }
    },
  );

  it.each(withIds)('%s returns no 401, 403, 404 or server error for the caller’s own resource', async (name, route) => {
    const { foreign, make } = thingsOf(route);
    const somePartner = callers.find((each) => each.partner)?.partner;
    // Platform users own nothing but may access others' resources. A user without an organization cannot access one.
    const reaching = callers.filter(({ kind, userType, user }) =>
      userType === 'platform'
        ? foreignStatus(name, kind, 'foreign', foreign) === null
        : user?.organizationId !== null || !/^\/v1\/organizations/.test(route.path),
    );
    // Each module's tests cover resources that only the platform may access.
    const owning = reaching.filter(({ userType }) => userType !== 'platform');
    for (const caller of oneLetIn(name, isFullRun() ? reaching : owning)) {
      const isPlatform = caller.userType === 'platform';
      const user = isPlatform || !caller.user ? strangers[0]?.user : caller.user;
      const partner = caller.partner ?? somePartner;
      if (!user || !partner) throw new Error('the callers were not built');
      // The document is private, so its public URL returns 404 even to its owner.
      if (name === 'GET /v1/documents/:/public') continue;
      const status = await call(route, caller, await make(stack, { user, partner }));
      expect(`${caller.kind}: ${[401, 403, 404].includes(status) || status >= 500 ? status : 'reached'}`).toBe(
        `${caller.kind}: reached`,
      );
    }
  });

  it.each(withIds.filter(([, { path }]) => (path.match(/:/g)?.length ?? 0) > 1))(
    '%s returns 404 for a child of another parent',
    async (_, route) => {
      const [superAdmin] = callers;
      const asPartner = callers.find((each) => each.partner);
      const partner = asPartner?.partner;
      if (!superAdmin || !strangers[0] || !partner) throw new Error('the callers were not built');
      const own = await thingsOf(route).make(stack, { user: strangers[0].user, partner });
      const { id: _other, ...below } = await thingsOf(route).make(stack, strangers[0]);
      const caller = route.access.kind === 'partner' ? asPartner : superAdmin;
      expect(await call(route, caller, { ...own, ...below })).toBe(404);
    },
  );

  it('The ledger checks find no violations after requests for foreign resources, except of inserted ones', () => {
    const planted = [
      'check_partner_payments_posted_once',
      'check_partner_receipts_applied_once',
      'check_payouts_posted_once',
      'check_reserved_matches_payouts',
      'check_withdrawals_are_told',
    ];
    return expectChecksEmptyBut(planted, stack);
  });

  it('Every route with an id in its path has a builder for these tests', () => {
    expect(withIds.length).toBeGreaterThan(50);
    // Other parameters (a day, a year, a type, a provider) have no owner.
    const others = routeGroups.flatMap(({ routes }) => routes).filter((route) => !namesThings(route));
    expect(
      others
        .map(({ path }) => path)
        .filter((path) => path.includes(':'))
        .toSorted(),
    ).toEqual([
      '/v1/documents/type/:type',
      '/v1/donations/statements/:year',
      '/v1/gateway/callbacks/:provider',
      '/v1/partners/settlements/:day',
    ]);
    expect(() => thingsOf({ method: 'get', path: '/v1/new-things/:id' })).toThrow('add it to things');
  });
});
