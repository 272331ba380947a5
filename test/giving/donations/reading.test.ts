import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import { newId } from '../../../src/shared/ids.ts';
import {
  type BuiltUser,
  buildIndividual,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  buildSuperAdmin,
} from '../../support/build.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { buildCause } from '../causes/build-cause.ts';
import { give } from './build-donations.ts';

let stack: Stack;
let creator: BuiltUser;
let donor: BuiltUser;
let platform: BuiltUser;
let superAdmin: BuiltUser;
let causeId: string;
beforeAll(async () => {
  stack = await startStack({ worker: true });
  creator = await buildOrganizationAdmin(stack);
  platform = await buildPlatformAdmin(stack);
  superAdmin = await buildSuperAdmin(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  donor = await buildIndividual(stack, { balance: '1000000' });
  causeId = await buildCause(stack, creator, superAdmin);
});

const pool = systemAccounts.openDonationPool;
const own = async (user: BuiltUser) => (await stack.get('/v1/donations', { token: user.token })).body.data;
const trace = (user: BuiltUser, id: string) => stack.get(`/v1/donations/${id}/trace`, { token: user.token });

describe('GET /v1/donations', () => {
  it("Donations are listed newest first, paged, and only the caller's own", async () => {
    const stranger = await buildIndividual(stack, { balance: '10' });
    await give(stack, stranger, 5);
    await give(stack, donor, 1);
    await give(stack, donor, 2, causeId);
    const data = await own(donor);
    expect(data).toMatchObject({ page: 1, limit: 10, total: 2 });
    expect(data.items.map(({ amount }: { amount: string }) => amount)).toEqual(['2.0000', '1.0000']);
    const after = await stack.get(`/v1/donations?limit=1&after=${data.items[0].id}`, { token: donor.token });
    expect(after.body.data.items[0].id).toBe(data.items[1].id);
  });

  it('Listing donations needs a token (401), the permission (403) and a limit from 1 (400)', async () => {
    expect((await stack.get('/v1/donations')).status).toBe(401);
    await stack.owner().execute('update users set role_id = null where id = ?', [donor.id]);
    expect((await stack.get('/v1/donations', { token: donor.token })).status).toBe(403);
    expect((await stack.get('/v1/donations?limit=0', { token: creator.token })).status).toBe(400);
  });
});

describe('GET /v1/donations/open', () => {
  const open = (user: BuiltUser, query = '') => stack.get(`/v1/donations/open${query}`, { token: user.token });

  it('Unallocated open donations are listed 20 a page, and RESOURCE_UPDATED is recorded', async () => {
    await give(stack, donor, 11);
    await give(stack, donor, 12, causeId);
    const { status, body, headers } = await open(superAdmin);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { message: expect.any(String), page: 1, limit: 20, total: expect.any(Number) },
    });
    expect(body.donations[0]).toMatchObject({
      id: expect.any(String),
      created_at: expect.any(String),
      amount: '11.0000',
      type: 'open',
      cause_id: null,
    });
    expect(body.donations.every(({ type }: { type: string }) => type === 'open')).toBe(true);
    const events = await stack.get(
      `/v1/events?actor_id=${superAdmin.id}&event=RESOURCE_UPDATED&resource_type=donation`,
      {
        token: platform.token,
      },
    );
    expect(events.body.data.items[0]).toMatchObject({ impact: 'LOW', request_id: headers.get('x-request-id') });
  });

  it('Only super admins can list open donations', async () => {
    for (const user of [donor, creator, platform]) expect((await open(user)).status).toBe(403);
    expect((await stack.get('/v1/donations/open')).status).toBe(401);
    expect((await open(superAdmin, '?page=0')).status).toBe(400);
  });
});

describe('GET /v1/donations/:id/trace', () => {
  it('The trace of a donation to a cause shows the donation, its journal and the cause', async () => {
    await give(stack, donor, 500, causeId);
    const [donation] = (await own(donor)).items;
    const { status, body } = await trace(donor, donation.id);
    expect(status).toBe(200);
    expect(body.data.donation).toEqual(donation);
    expect(body.data.steps).toMatchObject([
      { type: 'donation', amount: '500.0000', donation_id: donation.id },
      {
        type: 'journal',
        amount: '500.0000',
        transaction_id: donation.transaction_id,
        source_account_id: donor.accountId,
        account_id: creator.accountId,
      },
      { type: 'cause', amount: '500.0000', cause_id: causeId, account_id: creator.accountId },
    ]);
    const times = body.data.steps.map(({ at }: { at: string }) => Date.parse(at));
    expect(times).toEqual(times.toSorted((left: number, right: number) => left - right));
  });

  it('The trace of an open donation shows the pool, its allocation and the cause', async () => {
    await give(stack, donor, 600);
    const [donation] = (await own(donor)).items;
    const types = async () =>
      (await trace(donor, donation.id)).body.data.steps.map(({ type }: { type: string }) => type);
    expect(await types()).toEqual(['donation', 'journal']);
    const allocated = await stack.post(
      '/v1/donations/allocate',
      { donation_ids: [donation.id], cause_id: causeId },
      { token: superAdmin.token },
    );
    expect(allocated.status).toBe(200);
    const { body } = await trace(platform, donation.id);
    expect(body.data.steps).toMatchObject([
      { type: 'donation' },
      { type: 'journal', account_id: pool },
      { type: 'allocation', amount: '600.0000', allocation_batch_id: body.data.donation.allocation_batch_id },
      { type: 'cause', cause_id: causeId, account_id: creator.accountId },
    ]);
  });

  it('Only the donor and platform users may trace a donation', async () => {
    await give(stack, donor, 1, causeId);
    const [donation] = (await own(donor)).items;
    expect((await trace(platform, donation.id)).status).toBe(200);
    expect((await trace(creator, donation.id)).status).toBe(403);
    expect((await trace(donor, newId())).status).toBe(404);
    expect((await trace(donor, 'x')).status).toBe(400);
  });
});
