import { buildCause } from '../giving/causes/build-cause.ts';
import {
  type BuiltUser,
  buildIndividual,
  buildOrganization,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  buildSuperAdmin,
} from '../support/build.ts';
import { buildProduct } from '../support/build-targets.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let admin: BuiltUser;
let payer: BuiltUser;
let productId: string;
const paid: string[] = [];
beforeAll(async () => {
  stack = await startStack();
  admin = await buildPlatformAdmin(stack);
  payer = await buildIndividual(stack, { balance: '1000000' });
  productId = (await buildProduct(stack, admin, { kind: 'investment' })).id;
  for (let index = 0; index < 12; index += 1) paid.unshift(await payFrom(payer, productId));
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

async function payFrom(user: BuiltUser, referenceId: string, referenceType = 'investment'): Promise<string> {
  const { body } = await stack.post(
    '/v1/payments/balance',
    { reference_type: referenceType, reference_id: referenceId, source_account_id: user.accountId, amount: 10 },
    { token: user.token },
  );
  return body.data.transaction_id;
}
const list = (query = '', token = payer.token) => stack.get(`/v1/transactions${query}`, { token });
const idsOf = (body: { data: { transactions: { id: string }[] } }) => body.data.transactions.map(({ id }) => id);

describe('GET /v1/transactions', () => {
  it('Transactions are listed ten a page, newest first, and RESOURCE_FETCHED is recorded', async () => {
    const { status, body } = await list();
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { status: 'success', statusCode: 200, message: expect.any(String) },
    });
    expect(body.data).toMatchObject({ limit: 10, count: 12, currentPage: 1, totalPages: 2 });
    expect(idsOf(body)).toEqual(paid.slice(0, 10));
    const { body: events } = await stack.get(`/v1/events?event=RESOURCE_FETCHED&actor_id=${payer.id}`, {
      token: admin.token,
    });
    expect(events.data.items[0]).toMatchObject({ resource_type: 'transaction', resource_id: null, impact: 'LOW' });
  });

  it('Transactions are paged by page and limit, and invalid values return 400', async () => {
    const { body } = await list('?page=3&limit=5');
    expect(body.data).toMatchObject({ limit: 5, count: 12, currentPage: 3, totalPages: 3 });
    expect(idsOf(body)).toEqual(paid.slice(10));
    expect(idsOf((await list('?page=4&limit=5')).body)).toEqual([]);
    for (const query of ['?page=0', '?limit=0', '?page=-1', '?limit=ten', '?limit=101', '?page=1.5']) {
      expect([query, (await list(query)).status]).toEqual([query, 400]);
    }
  });

  it('Transactions are paged with `after` in both orders, without gap or repeat', async () => {
    for (const order of ['asc', 'desc']) {
      const expected = order === 'desc' ? paid : paid.toReversed();
      const seen: string[] = [];
      for (let after = ''; ; ) {
        const { body } = await list(`?limit=5&order=${order}${after === '' ? '' : `&after=${after}`}`);
        seen.push(...idsOf(body));
        expect(body.data.count).toBe(12);
        if (idsOf(body).length < 5) break;
        after = idsOf(body).at(-1) ?? '';
      }
      expect(seen).toEqual(expected);
    }
    expect((await list(`?after=${productId}`)).body.message).toBe(
      'after: matches no row of this list; use a value of next',
    );
  });

  it('Transactions can be filtered by product, ledger reference_type and type', async () => {
    const other = await buildProduct(stack, admin, { kind: 'takaful_tabaru' });
    const user = await buildIndividual(stack, { balance: '100' });
    const investment = await payFrom(user, productId);
    const tabaru = await payFrom(user, other.id, 'takaful_tabaru_contribution');
    const counted = async (query: string) => {
      const { body } = await list(query, user.token);
      return [body.data.count, idsOf(body)];
    };
    expect(await counted(`?product_id=${other.id}`)).toEqual([1, [tabaru]]);
    expect(await counted('?reference_type=donation')).toEqual([1, [tabaru]]);
    expect(await counted('?reference_type=investment&type=price')).toEqual([1, [investment]]);
    expect(await counted('?type=fee')).toEqual([0, []]);
    expect(await counted('?product_id=no-uuid')).toEqual([0, []]);
    expect((await list('?reference_type=takaful_tabaru_contribution', user.token)).status).toBe(400);
    expect((await list('?type=gift', user.token)).status).toBe(400);
  });

  it('An individual who sends any user_id sees only their own transactions', async () => {
    const { body } = await list(`?user_id=${admin.id}`);
    expect(body.data.count).toBe(12);
    const stranger = await buildIndividual(stack);
    expect((await list(`?user_id=${payer.id}`, stranger.token)).body.data.count).toBe(0);
  });

  it('An organization sees the transactions of its users and accounts, and no others', async () => {
    const organizationId = await buildOrganization(stack);
    const owner = await buildOrganizationAdmin(stack, { organizationId, balance: '1000' });
    const colleague = await buildOrganizationAdmin(stack, { organizationId });
    const own = await payFrom(owner, productId);
    const rows = await list('', colleague.token);
    expect(rows.body.data).toMatchObject({ count: 1, transactions: [{ id: own }] });
    // A payment by an outsider into an account of the organization.
    const theirs = await buildProduct(stack, admin, { kind: 'investment', organizationId });
    const received = await payFrom(payer, theirs.id);
    paid.unshift(received);
    const { body } = await list('', colleague.token);
    expect(idsOf(body)).toEqual([received, own]);
    expect(idsOf((await list(`?user_id=${payer.id}`, colleague.token)).body)).toEqual([received]);
    expect(idsOf((await list(`?user_id=${owner.id}`, colleague.token)).body)).toEqual([own]);
    expect(idsOf((await list(`?user_id=${colleague.id}`, colleague.token)).body)).toEqual([]);
    // A user_id outside the organization is ignored, as for an individual.
    const outsider = await buildIndividual(stack);
    expect(idsOf((await list(`?user_id=${outsider.id}`, colleague.token)).body)).toEqual([received, own]);
    expect(idsOf((await list(`?limit=1&after=${received}`, colleague.token)).body)).toEqual([own]);
    expect((await list(`?after=${paid[3]}`, colleague.token)).status).toBe(400);
    expect((await stack.get(`/v1/transactions/${received}`, { token: colleague.token })).status).toBe(200);
    expect((await stack.get(`/v1/transactions/${paid[3]}`, { token: colleague.token })).status).toBe(403);
    const stranger = await buildOrganizationAdmin(stack);
    expect((await list('', stranger.token)).body.data.count).toBe(0);
  });

  it('Platform users see all transactions or one user’s, with exact totals for each filter', async () => {
    const total = async (query: string) => (await list(query, admin.token)).body.data.count;
    const there = async (which: string) =>
      (
        await stack.em().execute<[{ count: number }]>(`select count(*)::int as count from transactions where ${which}`)
      )[0].count;
    expect(await total('')).toBe(await there('true'));
    expect(await total(`?user_id=${payer.id}`)).toBe(13);
    expect(await total('?reference_type=donation')).toBe(await there("reference_type = 'donation'"));
    expect(await total('?type=fee')).toBe(await there("type = 'fee'"));
  });

  it('Listing transactions without a token returns 401', async () => {
    expect((await stack.get('/v1/transactions')).status).toBe(401);
  });

  it.each(['post', 'put', 'patch', 'delete'] as const)('Transactions have no %s: 405 with Allow', async (method) => {
    const answer =
      method === 'delete'
        ? await stack.delete('/v1/transactions', undefined, { token: payer.token })
        : await stack[method]('/v1/transactions', {}, { token: payer.token });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toContain('GET');
  });
});

describe('GET /v1/transactions/:id', () => {
  const read = (id: string, token = payer.token) => stack.get(`/v1/transactions/${id}`, { token });

  it('Reading a transaction returns every documented field and its documents', async () => {
    const { status, body } = await read(paid[1] ?? '');
    expect({ status, body }).toMatchObject({ status: 200, body: { status: 'success', statusCode: 200 } });
    expect(body.data.transaction).toEqual({
      id: paid[1],
      user_id: payer.id,
      amount: '10.0000',
      status: 'successful',
      date: expect.any(String),
      source_account_id: payer.accountId,
      destination_account_id: expect.any(String),
      type: 'price',
      reference_type: 'investment',
      reference_id: productId,
      batch_id: expect.any(String),
      purpose: 'product_transfer',
      payment_order_id: null,
      created_by: payer.id,
      updated_by: null,
      deleted_by: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      documents: [],
      documents_total: 0,
    });
  });

  it("Reading someone else's transaction returns 403, and a missing one 404", async () => {
    const stranger = await buildIndividual(stack);
    expect((await read(paid[0] ?? '', stranger.token)).status).toBe(403);
    expect((await read(productId)).status).toBe(404);
    expect((await read('none')).status).toBe(400);
    expect((await read(paid[0] ?? '', admin.token)).status).toBe(200);
  });
});

describe('GET /v1/transactions of a receiver', () => {
  it('A receiver’s transactions include donations without the donors, in totals and pages', async () => {
    const receiver = await buildIndividual(stack, { balance: '1000' });
    const cause = await buildCause(stack, receiver, await buildSuperAdmin(stack));
    const donate = (user: BuiltUser) => payFrom(user, cause, 'charitable_cause_donate');
    const donor = await buildIndividual(stack, { balance: '1000' });
    const received = [await donate(donor), await donate(donor)];
    const own = await payFrom(receiver, productId);
    received.push(await donate(donor));
    const [first, second, third] = received as [string, string, string];
    const all = [third, own, second, first];
    const { body } = await list('', receiver.token);
    expect([idsOf(body), body.data.count]).toEqual([all, 4]);
    const seen = body.data.transactions.map(({ user_id, created_by }: Record<string, unknown>) => [
      user_id,
      created_by,
    ]);
    expect(seen).toEqual([
      [null, null],
      [receiver.id, receiver.id],
      [null, null],
      [null, null],
    ]);
    expect(idsOf((await list('?page=2&limit=2', receiver.token)).body)).toEqual([second, first]);
    expect(idsOf((await list(`?after=${own}&limit=1`, receiver.token)).body)).toEqual([second]);
    expect(idsOf((await list('?order=asc', receiver.token)).body)).toEqual([...all].reverse());
    expect((await list('?reference_type=donation', receiver.token)).body.data.count).toBe(3);
    const detail = await stack.get(`/v1/transactions/${first}`, { token: receiver.token });
    expect(detail.body.data.transaction).toMatchObject({ id: first, user_id: null, created_by: null });
    expect((await stack.get(`/v1/transactions/${first}`, { token: payer.token })).status).toBe(403);
    expect((await list('', donor.token)).body.data.transactions[0].user_id).toBe(donor.id);
  });
});
