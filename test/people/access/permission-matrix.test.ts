import { SignJWT } from 'jose';
import { createSigningKeys } from '../../../src/people/identity/signing-keys.ts';
import type { Allow, SignedIn } from '../../../src/platform/http/access.ts';
import type { Route } from '../../../src/platform/http/route-group.ts';
import { newId } from '../../../src/shared/ids.ts';
import { type UserType, userTypes } from '../../../src/shared/user.ts';
import { routeGroups } from '../../../src/wiring/app.ts';
import {
  type BuiltUser,
  buildIndividual,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  buildRole,
  buildSuperAdmin,
} from '../../support/build.ts';
import { casesOf } from '../../support/full.ts';
import { type Stack, startStack } from '../../support/stack.ts';
import { type DocumentedAccess, documentedAccess } from './documented-access.ts';

const routes = routeGroups.flatMap((group) => group.routes);
const nameOf = ({ method, path }: Route): string => `${method.toUpperCase()} ${path.replace(/:\w+/g, ':')}`;
const titled = routes.map((route): [string, Route] => [nameOf(route), route]);
const guarded = titled.filter((entry): entry is [string, Route & { access: Allow | SignedIn }] =>
  ['allow', 'signed in'].includes(entry[1].access.kind),
);

/** Converts a route's declared access to the form of the documents. */
function facts({ access }: Route): DocumentedAccess {
  if (access.kind === 'open') return { kind: 'open' };
  if (access.kind === 'partner') return { kind: 'partner', permissions: [access.permission] };
  const named = userTypes.filter((type) => access.userTypes?.includes(type) ?? true);
  const types = named.length < userTypes.length ? { userTypes: named } : {};
  if (access.kind === 'signed in') return { kind: 'signed in', ...types };
  const role = access.role ? { role: access.role } : {};
  return { kind: 'allow', permissions: access.permissions, ...types, ...role };
}

describe('The permission matrix', () => {
  it.each(titled)('%s matches its documented row in the permission matrix', (name, route) => {
    expect(documentedAccess[name]).toBeDefined();
    expect(facts(route)).toEqual(documentedAccess[name]);
  });

  it('Every row of the permission matrix names a route, and no route is listed twice', () => {
    const names = titled.map(([name]) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(Object.keys(documentedAccess).filter((name) => !names.includes(name))).toEqual([]);
  });

  describe('Routes tried by every kind of caller', () => {
    let stack: Stack;
    let superAdmin: BuiltUser;
    let callers: Record<UserType, BuiltUser>;
    let permissions: string[];
    const roleIds = new Map<string, Promise<string>>();
    /** No token, an expired token, and an unsigned token. */
    let worthless: (string | null)[];

    beforeAll(async () => {
      stack = await startStack({ env: { LOG_LEVEL: 'error' } });
      superAdmin = await buildSuperAdmin(stack);
      const organization = await buildOrganizationAdmin(stack);
      const { organizationId } = organization;
      callers = {
        organization,
        platform: await buildPlatformAdmin(stack),
        individual: await buildIndividual(stack, { organizationId }),
      };
      const rows = await stack.em().execute<{ name: string }[]>('select name from permissions');
      permissions = rows.map(({ name }) => name);
      worthless = await worthlessTokens();
    });
    afterAll(() => stack?.stop());

    async function worthlessTokens(): Promise<(string | null)[]> {
      const keys = createSigningKeys({ orm: stack.deps.orm, sealer: stack.deps.sealer, tokenTtlSeconds: 3600 });
      const { id, key } = await keys.signer();
      const expired = await new SignJWT({})
        .setProtectedHeader({ alg: 'EdDSA', kid: id, typ: 'at+jwt' })
        .setIssuer('amanah')
        .setAudience('amanah')
        .setSubject(superAdmin.id)
        .setJti(newId())
        .setIssuedAt(1_700_000_000)
        .setExpirationTime(1_700_003_600)
        .sign(key);
      const [, payload] = superAdmin.token.split('.');
      const unsigned = `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${payload}.`;
      return [null, expired, unsigned];
    }

    /** One of several, by turns; in the full run all of them. */
    const turnsOf = <T>(some: readonly T[], name: string): T[] => {
      const turn = titled.findIndex(([each]) => each === name);
      return casesOf(some, (_, index) => index === turn % some.length);
    };

    /** Returns a role of the callers' organization with exactly these permissions, created once per set. */
    function roleWith(held: string[]): Promise<string> {
      const key = held.join(' ');
      const made =
        roleIds.get(key) ??
        buildRole(stack, { organizationId: String(callers.organization.organizationId), permissions: held }).then(
          ({ id }) => id,
        );
      roleIds.set(key, made);
      return made;
    }

    async function give(held: string[]): Promise<void> {
      const ids = Object.values(callers).map(({ id }) => id);
      await stack
        .owner()
        .execute('update users set role_id = ? where id = any(?::uuid[])', [
          await roleWith(held),
          `{${ids.join(',')}}`,
        ]);
    }

    /** Creates a token for each call, because some routes revoke tokens. */
    async function freshToken(type: UserType, user = callers[type]): Promise<string> {
      const [row] = await stack
        .em()
        .execute<{ generation: number }[]>('select token_generation as generation from users where id = ?', [user.id]);
      const subject = { userId: user.id, userType: type, organizationId: user.organizationId, ...row };
      return (await stack.deps.tokens.sign(subject)).token;
    }

    async function call(route: Route, token: string | null, by: BuiltUser = callers.organization): Promise<number> {
      const known: Record<string, string | null> = {
        organization_id: by.organizationId ?? callers.organization.organizationId,
        user_id: by.id,
      };
      const path = route.path.replace(/:(\w+)/g, (_, name: string) => known[name] ?? newId());
      const answer = await fetch(new URL(path, stack.url), {
        method: route.method.toUpperCase(),
        headers: {
          'content-type': 'application/json',
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        },
        body: route.method === 'get' ? null : '{}',
        redirect: 'manual',
      });
      await answer.arrayBuffer();
      return answer.status;
    }

    const typesOf = ({ access }: { access: Allow | SignedIn }): readonly UserType[] => access.userTypes ?? userTypes;
    const neededOf = ({ access }: { access: Allow | SignedIn }): readonly string[] =>
      access.kind === 'allow' ? access.permissions : [];

    it.each(guarded)('%s returns 401 without a token and with an expired or forged one', async (name, route) => {
      const tokens = turnsOf(worthless, name);
      const statuses = await Promise.all(tokens.map((token) => call(route, token)));
      expect(statuses).toEqual(tokens.map(() => 401));
    });

    it.each(guarded)(
      '%s returns 403 to excluded user types, whatever permissions their role has',
      async (name, route) => {
        const closedTo = userTypes.filter((each) => !typesOf(route).includes(each));
        if (closedTo.length === 0) return;
        await give(permissions);
        for (const type of turnsOf(closedTo, name)) {
          expect([type, await call(route, await freshToken(type), callers[type])]).toEqual([type, 403]);
        }
      },
    );

    it.each(guarded.filter(([, { access }]) => access.kind === 'allow'))(
      '%s returns 403 with every permission except the required ones',
      async (title, route) => {
        await give(permissions.filter((name) => !neededOf(route).includes(name)));
        for (const type of turnsOf(typesOf(route), title)) {
          expect([type, await call(route, await freshToken(type), callers[type])]).toEqual([type, 403]);
        }
      },
    );

    it.each(guarded)('%s admits a caller with the required type and permission', async (name, route) => {
      if (route.access.kind === 'allow' && route.access.role) {
        await give(permissions);
        expect(await call(route, await freshToken('platform'), callers.platform)).toBe(403);
        expect([401, 403]).not.toContain(await call(route, await freshToken('platform', superAdmin), superAdmin));
        return;
      }
      for (const alternative of route.access.kind === 'allow' ? route.access.permissions : ['read-role']) {
        await give([alternative]);
        for (const type of turnsOf(typesOf(route), name)) {
          // Platform users belong to no organization; only the super admin may change one (401 otherwise).
          const isForeign = type === 'platform' && name === 'PATCH /v1/organizations/:';
          const status = await call(route, await freshToken(type), callers[type]);
          expect([type, isForeign ? status === 401 : ![401, 403].includes(status)]).toEqual([type, true]);
        }
      }
    });

    const changing = guarded
      .filter(([, { access, method }]) => method !== 'get' && (access.userTypes ?? userTypes).includes('organization'))
      // Excludes routes that concern only the caller's own sessions and password.
      .filter(([name]) => !name.startsWith('POST /v1/auth/logout') && name !== 'PUT /v1/auth/password');
    // The same rule applies to all routes, before their handlers.
    const standing = casesOf(changing, (_, index) => index % 4 === 0);
    it.each(standing)('%s returns 403 to users of a suspended organization', async (_, route) => {
      await give(permissions);
      const setStatus = (status: string) =>
        stack
          .owner()
          .execute('update organizations set status = ? where id = ?', [status, callers.organization.organizationId]);
      await setStatus('suspended');
      try {
        expect(await call(route, await freshToken('organization'))).toBe(403);
      } finally {
        await setStatus('active');
      }
    });

    it.each(
      titled.filter(([, { path }]) => /:(role_id|organization_id|user_id)/.test(path) && !path.includes('/managers/')),
    )('%s returns the documented refusal for a resource of another organization', async (name, route) => {
      const { id, organizationId } = await buildRole(stack);
      const user = await buildIndividual(stack, { organizationId });
      const known: Record<string, string> = { role_id: id, organization_id: organizationId, user_id: user.id };
      const path = route.path.replace(/:(\w+)/g, (_, param: string) => known[param] ?? newId());
      await give(permissions);
      const body = name === 'DELETE /v1/acl/roles/:/permissions' ? { permissions: ['read-role'] } : {};
      const answer = await fetch(new URL(path, stack.url), {
        method: route.method.toUpperCase(),
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${await freshToken('organization')}`,
        },
        body: route.method === 'get' ? null : JSON.stringify(body),
      });
      expect(answer.status).toBe(name === 'PATCH /v1/organizations/:' ? 401 : 403);
    });

    const others = titled.filter(([, { access }]) => access.kind === 'open' || access.kind === 'partner');
    it.each(others)(
      '%s returns 401 without a token only if it needs a partner’s key or a token of its own',
      async (name, route) => {
        const status = await call(route, null);
        if (route.access.kind === 'partner') expect(status).toBe(401);
        // These routes require their own tokens.
        else if (/\/gateway\/callbacks\/|\/mail\/bounces/.test(name)) expect(status).toBe(401);
        else expect([401, 403]).not.toContain(status);
      },
    );
  });
});
