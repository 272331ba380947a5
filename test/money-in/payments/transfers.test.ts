import { type BuiltUser, balanceOf, buildIndividual, buildOrganizationAdmin } from '../../support/build.ts';
import type { HttpAnswer } from '../../support/http.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { waitLongForLocks } from '../../support/wait-long.ts';

let stack: Stack;
let owner: BuiltUser;
let pocket: string;
waitLongForLocks();
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  owner = await buildIndividual(stack, { balance: '1000' });
  pocket = await openPocket(owner);
});

async function openPocket({ token }: BuiltUser): Promise<string> {
  const { body } = await stack.post('/v1/accounts', { name: 'Pocket' }, { token });
  return body.data.id;
}
const transfer = (body: object = {}, from = owner.accountId, token = owner.token, headers = {}) =>
  stack.post(
    `/v1/accounts/${from}/transfers`,
    { destination_account_id: pocket, amount: '250.5', ...body },
    { token, headers },
  );

describe('A transfer between the caller’s own pockets', () => {
  it('A pocket transfer returns the new balance and records one transaction with purpose pocket_transfer', async () => {
    const { status, body } = await transfer();
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        status: 'success',
        statusCode: 201,
        message: expect.any(String),
        data: {
          transaction_id: expect.any(String),
          amount: '250.5000',
          new_balance: '749.5000',
          reference_type: 'account_top_up',
          reference_id: pocket,
        },
      },
    });
    expect(await balanceOf(stack, pocket)).toBe('250.5000');
    const { body: list } = await stack.get('/v1/transactions', { token: owner.token });
    expect(list.data.transactions).toMatchObject([
      {
        id: body.data.transaction_id,
        type: 'price',
        reference_type: 'account_top_up',
        reference_id: pocket,
        source_account_id: owner.accountId,
        destination_account_id: pocket,
        purpose: 'pocket_transfer',
        payment_order_id: null,
      },
    ]);
  });

  it.each([
    ['a number as amount', { amount: 5 }, 'amount'],
    ['an amount of zero', { amount: '0.0000' }, 'amount'],
    ['a negative amount', { amount: '-1' }, 'amount'],
    ['an amount with five decimals', { amount: '1.00001' }, 'amount'],
    ['no destination', { destination_account_id: undefined }, 'destination_account_id'],
    ['an unknown field', { note: 'x' }, 'note'],
    ['more than the balance', { amount: '1000.0001' }, 'amount'],
  ])('A pocket transfer with %s returns 400 and names the field', async (_, body, field) => {
    const answer = await transfer(body);
    expect(answer.status).toBe(400);
    expect(String(answer.body.message)).toContain(field);
    expect(await balanceOf(stack, owner.accountId)).toBe('1000.0000');
  });

  it('A pocket transfer of more than an account can hold returns 400, even after an earlier debit', async () => {
    await transfer({ amount: '1' });
    const answer = await transfer({ amount: '9999999999999999.9999' });
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining('amount')]);
    expect(await balanceOf(stack, owner.accountId)).toBe('999.0000');
  });

  it('A pocket transfer into the same account returns 400', async () => {
    expect((await transfer({ destination_account_id: owner.accountId })).status).toBe(400);
  });

  it('A pocket transfer returns 403 for a foreign account, 404 for a missing one and 401 without a token', async () => {
    const stranger = await buildIndividual(stack, { balance: '1000' });
    expect((await transfer({ destination_account_id: stranger.accountId })).status).toBe(403);
    expect((await transfer({}, stranger.accountId)).status).toBe(403);
    const missing = '00000000-0000-4000-8000-00000000dead';
    expect((await transfer({ destination_account_id: missing })).status).toBe(404);
    expect((await transfer({}, missing)).status).toBe(404);
    const fromNone = await transfer({ destination_account_id: stranger.accountId }, missing);
    expect([fromNone.status, fromNone.body.message]).toEqual([404, 'The account was not found']);
    expect((await transfer({}, 'none')).status).toBe(400);
    expect((await stack.post(`/v1/accounts/${owner.accountId}/transfers`, {})).status).toBe(401);
  });

  it("An organization's admin can transfer money between its accounts", async () => {
    const organization = await buildOrganizationAdmin(stack, { balance: '10' });
    const second = await openPocket(organization);
    const answer = await transfer(
      { destination_account_id: second, amount: '10' },
      organization.accountId,
      organization.token,
    );
    expect(answer.body.data.new_balance).toBe('0.0000');
  });

  it('Concurrent pocket transfers share SQL statements, each with its own outcome', async () => {
    const owners = await Promise.all(Array.from({ length: 8 }, () => buildIndividual(stack, { balance: '1000' })));
    const pockets = await Promise.all(owners.map(openPocket));
    const sent: Promise<HttpAnswer>[] = [];
    await stack.owner().transactional(async (tx) => {
      await tx.execute('lock table journal_keys in share row exclusive mode');
      for (const [index, { accountId, token }] of owners.entries()) {
        const body = { destination_account_id: pockets[index], amount: index === 5 ? '1000.0001' : '250.5' };
        sent.push(transfer(body, accountId, token));
        if (index === 0) await untilLocked(stack, { text: 'pay_from_balance' });
      }
      await stack.get('/v1/transactions', { token: owner.token });
    });
    const answers = await Promise.all(sent);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 400, 201, 201]);
    expect(answers[5]?.body.message).toContain('the balance of the account does not cover it');
    for (const [index, { body }] of answers.entries()) {
      if (index !== 5) expect(body.data).toMatchObject({ new_balance: '749.5000', reference_id: pockets[index] });
    }
    const held = await Promise.all(pockets.map((id) => balanceOf(stack, id)));
    expect(held).toEqual(owners.map((_, index) => (index === 5 ? '0.0000' : '250.5000')));
    // The rows of one statement belong to one database transaction.
    const ids = answers.filter(({ status }) => status === 201).map(({ body }) => body.data.transaction_id);
    const [{ statements }] = await stack
      .em()
      .execute<[{ statements: number }]>(
        'select count(distinct xmin::text)::int as statements from transactions where id = any (?::uuid[])',
        [`{${ids.join(',')}}`],
      );
    expect(statements).toBeLessThan(ids.length);
  });
});
