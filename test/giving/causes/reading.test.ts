import { newId } from '../../../src/shared/ids.ts';
import { subtractMoney } from '../../../src/shared/money.ts';
import {
  type BuiltUser,
  buildIndividual,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  buildSuperAdmin,
} from '../../support/build.ts';
import { upload } from '../../support/documents.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { buildCause, causeBody } from './build-cause.ts';

let stack: Stack;
let person: BuiltUser;
let other: BuiltUser;
let admin: BuiltUser;
let member: BuiltUser;
let otherAdmin: BuiltUser;
let platform: BuiltUser;
let superAdmin: BuiltUser;
const made: Record<'mine' | 'theirs' | 'ours' | 'oursActive' | 'foreign' | 'foreignActive', string> = {
  mine: '',
  theirs: '',
  ours: '',
  oursActive: '',
  foreign: '',
  foreignActive: '',
};
beforeAll(async () => {
  stack = await startStack();
  person = await buildIndividual(stack);
  other = await buildIndividual(stack);
  admin = await buildOrganizationAdmin(stack);
  member = await buildIndividual(stack, { organizationId: admin.organizationId });
  otherAdmin = await buildOrganizationAdmin(stack);
  platform = await buildPlatformAdmin(stack);
  superAdmin = await buildSuperAdmin(stack);
  made.mine = await buildCause(stack, person);
  made.theirs = await buildCause(stack, other, superAdmin);
  made.ours = await buildCause(stack, admin);
  made.oursActive = await buildCause(stack, admin, superAdmin);
  made.foreign = await buildCause(stack, otherAdmin);
  made.foreignActive = await buildCause(stack, otherAdmin, superAdmin);
});
afterAll(async () => {
  await expectChecksEmpty(stack);
  await stack.stop();
});

const list = (user: BuiltUser, query = '') => stack.get(`/v1/charitable-causes${query}`, { token: user.token });
/** Returns the names of this file's causes among these. */
const names = (ids: { id: string }[]) =>
  Object.entries(made)
    .filter(([, made]) => ids.some(({ id }) => id === made))
    .map(([name]) => name)
    .toSorted();
const listed = async (user: BuiltUser, query = '') => {
  const { status, body } = await list(user, `?limit=100${query.replace('?', '&')}`);
  return status === 200 ? names(body.charitable_causes) : status;
};

describe('GET /v1/charitable-causes', () => {
  it('Listing causes with discover=true returns all active causes without their accounts', async () => {
    for (const user of [person, admin, otherAdmin, platform]) {
      expect(await listed(user, '?discover=true')).toEqual(['foreignActive', 'oursActive', 'theirs']);
    }
    const { body } = await list(person, `?discover=true&organization_id=${otherAdmin.organizationId}`);
    expect(names(body.charitable_causes)).toEqual(['foreignActive']);
    expect(Object.keys(body.charitable_causes[0])).not.toContain('account_id');
    expect((await list(person, '?discover=maybe')).status).toBe(400);
  });

  it('Causes are listed in charitable_causes, paged and with amounts as numbers', async () => {
    const { status, body } = await list(platform, `?limit=1&organization_id=${otherAdmin.organizationId}`);
    expect({ status, body }).toMatchObject({ status: 200, body: { page: 1, limit: 1, total: 2 } });
    expect(body.charitable_causes).toHaveLength(1);
    expect(body.charitable_causes[0]).toMatchObject({
      id: made.foreignActive,
      name: 'Clean water',
      target_amount: 1_000_000,
      current_amount: 0,
      owner_type: 'organization',
      organization_id: otherAdmin.organizationId,
      account_id: otherAdmin.accountId,
    });
  });

  it('Individuals list causes of their accounts, admins their organization’s, platform users all', async () => {
    expect(await listed(person)).toEqual(['mine']);
    expect(await listed(member)).toEqual([]);
    expect(await listed(admin)).toEqual(['ours', 'oursActive']);
    expect(await listed(platform)).toEqual(Object.keys(made).toSorted());
  });

  it('Listing causes by organization_id returns active ones, and all to the organization’s admins', async () => {
    const own = `?organization_id=${admin.organizationId}`;
    const foreign = `?organization_id=${otherAdmin.organizationId}`;
    expect(await listed(admin, own)).toEqual(['ours', 'oursActive']);
    expect(await listed(admin, foreign)).toEqual(['foreignActive']);
    expect(await listed(admin, `${foreign}&status=pending`)).toEqual([]);
    expect(await listed(member, own)).toEqual(['oursActive']);
    expect(await listed(member, foreign)).toBe(403);
    expect(await listed(person, own)).toBe(403);
    expect(await listed(platform, foreign)).toEqual(['foreign', 'foreignActive']);
  });

  it('Listing causes by user_id is allowed for oneself and for users of one’s organization', async () => {
    expect(await listed(person, `?user_id=${person.id}`)).toEqual(['mine']);
    expect(await listed(person, `?user_id=${other.id}`)).toBe(403);
    expect(await listed(admin, `?user_id=${member.id}`)).toEqual([]);
    expect(await listed(admin, `?user_id=${admin.id}`)).toEqual(['ours', 'oursActive']);
    expect(await listed(admin, `?user_id=${otherAdmin.id}`)).toBe(403);
    expect(await listed(platform, `?user_id=${other.id}`)).toEqual(['theirs']);
  });

  it('Listing causes by account_id is allowed for accounts of oneself or one’s organization', async () => {
    expect(await listed(person, `?account_id=${person.accountId}`)).toEqual(['mine']);
    expect(await listed(person, `?account_id=${other.accountId}`)).toBe(403);
    expect(await listed(admin, `?account_id=${admin.accountId}`)).toEqual(['ours', 'oursActive']);
    expect(await listed(admin, `?account_id=${member.accountId}`)).toEqual([]);
    expect(await listed(person, `?account_id=${newId()}`)).toBe(404);
    expect(await listed(platform, `?account_id=${newId()}`)).toBe(404);
    expect(await listed(admin, `?account_id=${otherAdmin.accountId}`)).toBe(403);
    expect(await listed(platform, `?account_id=${other.accountId}`)).toEqual(['theirs']);
  });

  it('Filters of causes can be combined, and each is authorized separately', async () => {
    const foreign = `?organization_id=${otherAdmin.organizationId}`;
    expect(await listed(admin, `${foreign}&user_id=${otherAdmin.id}`)).toBe(403);
    expect(await listed(admin, `${foreign}&account_id=${otherAdmin.accountId}`)).toBe(403);
    expect(await listed(platform, `${foreign}&user_id=${otherAdmin.id}&status=active`)).toEqual(['foreignActive']);
  });

  it('Causes are filtered by status (`all` means none), ordered, and paged by keyset', async () => {
    expect(await listed(platform, '?status=active')).toEqual(['foreignActive', 'oursActive', 'theirs']);
    expect(await listed(platform, '?status=all')).toEqual(Object.keys(made).toSorted());
    const ordered = async (query: string) => {
      const { body } = await list(platform, `?order=asc&${query}`);
      return body.charitable_causes.map(({ id }: { id: string }) => id);
    };
    expect(await ordered(`limit=2&after=${made.mine}`)).toEqual([made.theirs, made.ours]);
    expect(await ordered(`limit=2&after=${made.ours}`)).toEqual([made.oursActive, made.foreign]);
    const own = `organization_id=${admin.organizationId}`;
    expect(await ordered(own)).toEqual([made.ours, made.oursActive]);
    expect(await ordered(`${own}&page=9`)).toEqual([]);
  });

  it.each(['page=0', 'limit=0', 'limit=101', 'page=x', 'status=open', 'order=up', 'user_id=me', 'organization_id=1'])(
    'Listing causes with %s returns 400',
    async (query) => {
      expect((await list(platform, `?${query}`)).status).toBe(400);
    },
  );
});

describe('GET /v1/charitable-causes/:id', () => {
  const read = (user: BuiltUser, id: string, headers: Record<string, string> = {}) =>
    stack.get(`/v1/charitable-causes/${id}`, { token: user.token, headers });

  it('An active cause is readable by every caller with the permission', async () => {
    for (const user of [person, other, admin, otherAdmin, platform]) {
      expect((await read(user, made.oursActive)).status).toBe(200);
    }
  });

  it('An inactive cause is readable only by creator, managers, organization admins and platform users', async () => {
    expect((await read(person, made.mine)).status).toBe(200);
    expect((await read(platform, made.mine)).status).toBe(200);
    expect((await read(admin, made.ours)).status).toBe(200);
    for (const user of [other, admin, member]) expect((await read(user, made.mine)).status).toBe(403);
    for (const user of [member, otherAdmin]) expect((await read(user, made.ours)).status).toBe(403);
    await stack.post(
      `/v1/charitable-causes/${made.mine}/assign-manager`,
      { user_id: other.id },
      { token: person.token },
    );
    expect((await read(other, made.mine)).status).toBe(200);
  });

  it('Web clients get a cause with an aggregation, mobile clients the stored fields only', async () => {
    const web = (await read(person, made.mine)).body.charitable_cause;
    const mobile = (await read(person, made.mine, { 'x-client-type': 'mobile' })).body.charitable_cause;
    const { aggregation, ...stored } = web;
    expect(aggregation).toEqual({ donation_count: 0, donor_count: 0, progress_percent: 0 });
    expect(mobile).toEqual(stored);
    expect(mobile).toMatchObject({ description: expect.any(String), location: null, managers: expect.any(Array) });
    expect((await read(person, made.mine, { 'x-client-type': 'web' })).body.charitable_cause).toEqual(web);
  });

  it('A cause embeds the documents that the caller may see, for web and mobile', async () => {
    const attach = (user: BuiltUser) => upload(stack, user, made.mine, { product_type: 'charitable_cause' });
    const { status, body: document } = await attach(person);
    expect(status).toBe(201);
    expect((await attach(otherAdmin)).status).toBe(400);
    for (const type of ['web', 'mobile']) {
      const { body } = await read(person, made.mine, { 'x-client-type': type });
      expect(body.charitable_cause.documents).toEqual([expect.objectContaining({ id: document.id })]);
    }
    expect((await read(person, made.oursActive)).body.charitable_cause.documents).toEqual([]);
  });

  it('A missing cause returns 404, and an id that is not a UUID 400', async () => {
    expect((await read(person, newId())).status).toBe(404);
    expect((await read(person, 'x')).status).toBe(400);
  });
});

describe('GET /v1/summary/charitable-causes', () => {
  const summary = (user: BuiltUser, query = '') =>
    stack.get(`/v1/summary/charitable-causes${query}`, { token: user.token });

  it("The summary of causes returns the organization's totals as decimal strings", async () => {
    const { status, body } = await summary(admin);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        message: expect.any(String),
        organization_id: admin.organizationId,
        organization_name: expect.stringContaining('Organization'),
        total_target_amount: '2000000.0000',
        total_collected_amount: '0.0000',
      },
    });
    expect((await summary(admin, `?organization_id=${admin.organizationId}`)).status).toBe(200);
  });

  it('The summary of causes returns 401 for another organization; platform users read any', async () => {
    expect((await summary(admin, `?organization_id=${otherAdmin.organizationId}`)).status).toBe(401);
    expect((await summary(admin, `?organization_id=${newId()}`)).status).toBe(401);
    expect((await summary(platform, `?organization_id=${otherAdmin.organizationId}`)).body.total_target_amount).toBe(
      '2000000.0000',
    );
    expect((await summary(platform, `?organization_id=${newId()}`)).status).toBe(404);
    const before = (await summary(platform)).body;
    await buildCause(stack, await buildIndividual(stack));
    const { body } = await summary(platform);
    expect([before.organization_id, body.organization_id]).toEqual([null, null]);
    expect(subtractMoney(body.total_target_amount, before.total_target_amount)).toBe('1000000.0000');
  });

  it('The summary of causes agrees with the list', async () => {
    const sum = (
      rows: { target_amount: number; current_amount: number }[],
      field: 'target_amount' | 'current_amount',
    ) => rows.reduce((total, row) => total + row[field], 0);
    for (const [as, query] of [
      [admin, ''],
      [platform, `organization_id=${otherAdmin.organizationId}`],
    ] as const) {
      const { body: list } = await stack.get(`/v1/charitable-causes?limit=100&${query}`, { token: as.token });
      expect(list.charitable_causes).toHaveLength(list.total);
      const { body } = await summary(as, `?${query}`);
      expect(Number(body.total_target_amount)).toBe(sum(list.charitable_causes, 'target_amount'));
      expect(Number(body.total_collected_amount)).toBe(sum(list.charitable_causes, 'current_amount'));
    }
  });

  it('Individuals cannot read the summary of causes (403)', async () => {
    expect((await summary(person)).status).toBe(403);
  });

  it('The summary of causes adds targets beyond the largest single amount', async () => {
    const dreamer = await buildOrganizationAdmin(stack);
    const body = causeBody(dreamer.accountId, { target_amount: 999_999_999_999_999 });
    for (let cause = 0; cause < 11; cause += 1) {
      await stack.post('/v1/charitable-causes', body, { token: dreamer.token });
    }
    expect((await summary(dreamer)).body.total_target_amount).toBe('10999999999999989.0000');
    expect((await summary(platform)).status).toBe(200);
  });
});
