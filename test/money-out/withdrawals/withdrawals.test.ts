import { newId } from '../../../src/shared/ids.ts';
import { forgetOldRows } from '../../../src/wiring/forget-old-rows.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  fund,
} from '../../support/build.ts';
import { buildGoal } from '../../support/build-targets.ts';
import { itInFull } from '../../support/full.ts';
import { loseWorkflow } from '../../support/lose-workflow.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { setFaults, settleAtProvider, transfersOf } from '../payouts/build-payouts.ts';
import {
  addBankAccount,
  ask,
  buildOwner,
  readWithdrawal,
  someKey,
  transactionsOf,
  withdraw,
  withdrawalWhen,
} from './build-withdrawals.ts';

let stack: Stack;
let owner: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  owner = await buildOwner(stack);
});

const rowOf = (type: string, amount: string, status: string) => ({
  type,
  amount,
  status,
  purpose: 'external_withdrawal',
  reference_type: 'account_top_up',
  source_account_id: owner.accountId,
  destination_account_id: null,
});

describe('A withdrawal', () => {
  it('A withdrawal reserves the money and is transferred once, with its id as idempotency key', async () => {
    const bank_account_id = await addBankAccount(stack, owner);
    const { status, body } = await ask(stack, owner, { bank_account_id, amount: '100000' });
    expect(status).toBe(201);
    expect(body).toEqual({
      status: 'success',
      message: expect.any(String),
      data: {
        id: expect.any(String),
        status: 'pending',
        account_id: owner.accountId,
        amount: '100000.0000',
        fee: '0.0000',
        net_amount: '100000.0000',
        bank_account_id,
        cause_id: null,
        purpose_note: null,
        transaction_id: expect.any(String),
        failure_code: null,
        booked_at: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
        succeeded_at: null,
        finalized_at: null,
      },
    });
    const { id, transaction_id } = body.data;
    expect(await balanceOf(stack, owner.accountId)).toBe('900000.0000');
    const ended = await withdrawalWhen(stack, owner, id, 'succeeded');
    expect(ended).toMatchObject({ failure_code: null, succeeded_at: ended.finalized_at });
    expect(await transfersOf(stack, id)).toMatchObject([{ status: 'SUCCEEDED', idempotency_key: id, amount: 100_000 }]);
    expect(await transactionsOf(stack, id)).toEqual([rowOf('price', '100000.0000', 'successful')]);
    const { body: row } = await stack.get(`/v1/transactions/${transaction_id}`, { token: owner.token });
    expect(row.data.transaction).toMatchObject({ reference_id: id, amount: '100000.0000' });
  });

  it('A withdrawal that the bank refuses fails with the bank’s code and releases all its money', async () => {
    const { id } = await withdraw(stack, owner, { digits: '121212' });
    expect(await withdrawalWhen(stack, owner, id, 'failed')).toMatchObject({ failure_code: 'INVALID_DESTINATION' });
    expect(await balanceOf(stack, owner.accountId)).toBe('1000000.0000');
    expect(await transactionsOf(stack, id)).toEqual([
      rowOf('price', '100000.0000', 'successful'),
      rowOf('price', '100000.0000', 'reversed'),
    ]);
  });

  itInFull('A withdrawal that the bank returns after its success is reversed and credited', async () => {
    const { id } = await withdraw(stack, owner);
    await withdrawalWhen(stack, owner, id, 'succeeded');
    await settleAtProvider(stack, id, 'REVERSED');
    await withdrawalWhen(stack, owner, id, 'reversed');
    expect(await balanceOf(stack, owner.accountId)).toBe('1000000.0000');
    expect(await transactionsOf(stack, id)).toEqual([
      rowOf('price', '100000.0000', 'successful'),
      rowOf('price', '100000.0000', 'reversed'),
    ]);
  });

  it('A withdrawal’s timeline runs from the request to the outcome', async () => {
    const { id } = await withdraw(stack, owner);
    await withdrawalWhen(stack, owner, id, 'succeeded');
    const { status, body } = await stack.get(`/v1/withdrawals/${id}/timeline`, { token: owner.token });
    expect(status).toBe(200);
    const texts = body.data.items.map(({ text }: { text: string }) => text);
    expect(texts[0]).toMatch(/^A withdrawal of IDR 100000\.0000 to BRI was requested \(WD-/);
    expect(texts).toContain('IDR 100000.0000 was reserved from the account.');
    // The provider's callback may arrive later.
    const own = body.data.items.filter(({ type }: { type: string }) => type !== 'callback');
    expect(own.at(-1).text).toBe('The withdrawal succeeded.');
    expect(body.data.next).toBeNull();
    expect(
      await stack
        .em()
        .execute(
          "select event, actor_id from events where resource_type = 'withdrawal' and resource_id = ? order by id",
          [id],
        ),
    ).toEqual([
      { event: 'RESOURCE_CREATED', actor_id: owner.id },
      { event: 'RESOURCE_UPDATED', actor_id: null },
    ]);
  });

  it('A withdrawal’s account number and holder are stored encrypted in rows and in Temporal', async () => {
    const { id } = await withdraw(stack, owner);
    const [row] = await stack.em().execute('select p::text as row from payouts p where id = ?', [id]);
    expect(row?.row).not.toMatch(/00100012111111|Budi/);
    const history = await stack.deps.workflows.client.workflow.getHandle(`withdrawal/${id}`).fetchHistory();
    const payloads = [...JSON.stringify(history).matchAll(/"([A-Za-z0-9+/]{8,}=*)"/g)];
    const texts = payloads.map(([, data = '']) => Buffer.from(data, 'base64').toString()).join();
    expect(texts).toContain(id);
    expect(texts).not.toMatch(/Budi|00100012111111/);
  });
});

describe('An idempotency key for a withdrawal', () => {
  it('A withdrawal retried with the same Idempotency-Key is made once and gets the first response', async () => {
    const key = someKey();
    const body = { bank_account_id: await addBankAccount(stack, owner), amount: '100000' };
    const answers = await Promise.all([1, 2, 3].map(() => ask(stack, owner, body, key)));
    answers.push(await ask(stack, owner, { ...body, amount: '100000.00' }, key));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    const replays = answers.map(({ headers }) => headers.get('idempotency-replayed'));
    expect(replays.toSorted()).toEqual([null, 'true', 'true', 'true'].toSorted());
    expect(replays.at(-1)).toBe('true');
    expect(await balanceOf(stack, owner.accountId)).toBe('900000.0000');
  });

  it('A withdrawal’s Idempotency-Key is refused with another body and for a transfer', async () => {
    const key = someKey();
    const bank_account_id = await addBankAccount(stack, owner);
    const two = await Promise.all(
      ['100000', '200000'].map((amount) => ask(stack, owner, { bank_account_id, amount }, key)),
    );
    expect(two.map(({ status }) => status).sort()).toEqual([201, 400]);
    const pocket = await stack.post('/v1/accounts', { name: 'Pocket' }, { token: owner.token });
    const transfer = { destination_account_id: pocket.body.data.id, amount: '5' };
    const { status, body } = await stack.post(`/v1/accounts/${owner.accountId}/transfers`, transfer, {
      token: owner.token,
      headers: { 'idempotency-key': key },
    });
    expect([status, body.message]).toEqual([400, expect.stringContaining('Idempotency-Key')]);
  });

  it('A refused withdrawal leaves its Idempotency-Key unused', async () => {
    const key = someKey();
    const bank_account_id = await addBankAccount(stack, owner);
    expect((await ask(stack, owner, { bank_account_id, amount: '1000001' }, key)).status).toBe(400);
    expect((await ask(stack, owner, { bank_account_id, amount: '10000' }, key)).status).toBe(201);
  });
});

const nothingWasDone = async (by: BuiltUser, balance: string) => {
  const rows = await stack.em().execute('select 1 from withdrawals where user_id = ?', [by.id]);
  expect([rows, await balanceOf(stack, by.accountId)]).toEqual([[], balance]);
};

describe('Refused withdrawals', () => {
  it.each([
    ['beyond the balance', { amount: '1000001' }, 400, 'amount'],
    ['with a fraction of a rupiah', { amount: '10000.5' }, 400, 'amount'],
    ['above the bank’s maximum', { amount: '250000001' }, 400, 'amount'],
    ['of zero', { amount: '0' }, 400, 'amount'],
    ['with a number for money', { amount: 100 }, 400, 'amount'],
    ['without an amount', { amount: undefined }, 400, 'amount'],
    ['without a bank account', { bank_account_id: undefined }, 400, 'bank_account_id'],
    ['to a missing bank account', { bank_account_id: newId() }, 404, 'bank_account_id'],
    ['with an unknown field', { fee: '0' }, 400, 'fee'],
  ])('A withdrawal %s is refused', async (_, fields, status, name) => {
    const body = { bank_account_id: await addBankAccount(stack, owner), amount: '10000', ...fields };
    const answer = await ask(stack, owner, body);
    expect([answer.status, String(answer.body.message)]).toEqual([status, expect.stringContaining(name)]);
    await nothingWasDone(owner, '1000000.0000');
  });

  it('The 24-hour limit covers withdrawals from all accounts of a user, except failed ones', async () => {
    const rich = await buildOwner(stack, '125000000');
    const bank_account_id = await addBankAccount(stack, rich);
    const failing = await withdraw(stack, rich, { digits: '121212', amount: '37500000' });
    await withdrawalWhen(stack, rich, failing.id, 'failed');
    const { token } = rich;
    const pocket = (await stack.post('/v1/accounts', { name: 'Pocket' }, { token })).body.data.id;
    await fund(stack, pocket, '37500000');
    const ofPocket = await ask(stack, { token, accountId: pocket }, { bank_account_id, amount: '37500000' });
    expect(ofPocket.status).toBe(201);
    const { status, body } = await ask(stack, rich, { bank_account_id, amount: '12500001' });
    expect([status, body.message]).toEqual([400, expect.stringContaining('IDR 12500000.0000 of the 24-hour limit')]);
    expect((await ask(stack, rich, { bank_account_id, amount: '12500000' })).status).toBe(201);
  });

  it('A withdrawal from or to someone else’s account, or from a saving goal, is refused', async () => {
    const other = await buildIndividual(stack, { balance: '100000' });
    const [mine, theirs] = await Promise.all([addBankAccount(stack, owner), addBankAccount(stack, other)]);
    const goal = await buildGoal(stack, owner);
    const from = (accountId: string, bank_account_id: string) =>
      ask(stack, { token: owner.token, accountId }, { bank_account_id, amount: '10000' });
    expect((await from(other.accountId, mine)).status).toBe(403);
    expect((await from(owner.accountId, theirs)).status).toBe(403);
    expect((await from(goal.accountId, mine)).status).toBe(403);
    expect((await from(newId(), mine)).status).toBe(404);
    await nothingWasDone(owner, '1000000.0000');
  });

  it('A withdrawal to a deleted bank account returns 404, as for a missing one', async () => {
    const bank_account_id = await addBankAccount(stack, owner);
    await stack.delete(`/v1/bank-accounts/${bank_account_id}`, undefined, { token: owner.token });
    expect((await ask(stack, owner, { bank_account_id, amount: '10000' })).status).toBe(404);
    await nothingWasDone(owner, '1000000.0000');
  });

  it('A withdrawal to a bank account not usable yet is refused with the time from which it is usable', async () => {
    const bank_account_id = await addBankAccount(stack, owner);
    await stack
      .owner()
      .execute("update bank_accounts set usable_at = now() + interval '1 hour' where id = ?", [bank_account_id]);
    const { status, body } = await ask(stack, owner, { bank_account_id, amount: '10000' });
    expect([status, body.message]).toEqual([400, expect.stringMatching(/^bank_account_id: usable from \d{4}-/)]);
    await nothingWasDone(owner, '1000000.0000');
  });
});

describe('Withdrawals of an organization', () => {
  it('Only an organization’s admins can withdraw from its account and see its withdrawals', async () => {
    const admin = await buildOrganizationAdmin(stack, { balance: '1000000' });
    const organizationId = admin.organizationId ?? '';
    const [colleague, member] = await Promise.all([
      buildOrganizationAdmin(stack, { organizationId }),
      buildIndividual(stack, { organizationId, balance: '1000' }),
    ]);
    const { id } = await withdraw(stack, admin);
    await withdrawalWhen(stack, colleague, id, 'succeeded');
    const list = async ({ token }: BuiltUser) => (await stack.get('/v1/withdrawals', { token })).body.data;
    expect(await list(colleague)).toMatchObject({ total: 1, items: [{ id }] });
    expect(await list(member)).toMatchObject({ total: 0, items: [] });
    expect((await stack.get(`/v1/withdrawals/${id}`, { token: member.token })).status).toBe(403);
    const ofTheOrganization = await addBankAccount(stack, admin);
    expect((await ask(stack, member, { bank_account_id: ofTheOrganization, amount: '10000' })).status).toBe(403);
  });
});

describe('GET /v1/withdrawals', () => {
  it('Users list their own withdrawals, newest first, and get 403 for others’; platform users read all', async () => {
    const first = await withdraw(stack, owner, { amount: '10000' });
    const second = await withdraw(stack, owner, { amount: '20000' });
    const { body } = await stack.get('/v1/withdrawals?limit=1', { token: owner.token });
    expect(body.data).toMatchObject({ items: [{ id: second.id, amount: '20000.0000' }], page: 1, limit: 1, total: 2 });
    const { body: further } = await stack.get(`/v1/withdrawals?after=${second.id}`, { token: owner.token });
    expect(further.data.items.map(({ id }: { id: string }) => id)).toEqual([first.id]);
    const [stranger, platform] = await Promise.all([buildIndividual(stack), buildPlatformAdmin(stack)]);
    for (const path of [`/v1/withdrawals/${first.id}`, `/v1/withdrawals/${first.id}/timeline`]) {
      expect((await stack.get(path, { token: stranger.token })).status).toBe(403);
      expect((await stack.get(path, { token: platform.token })).status).toBe(200);
    }
    expect((await stack.get(`/v1/withdrawals/${newId()}`, { token: owner.token })).status).toBe(404);
    expect(await readWithdrawal(stack, owner, first.id)).toMatchObject({ id: first.id });
  });
});

describe('The filters of GET /v1/withdrawals', () => {
  it('Withdrawals are filtered by status, by cause and by period', async () => {
    const paid = await withdraw(stack, owner, { amount: '10000' });
    const waiting = await withdraw(stack, owner, { amount: '20000', digits: '131313' });
    await withdrawalWhen(stack, owner, paid.id, 'succeeded');
    const list = async (query: string) => {
      const { status, body } = await stack.get(`/v1/withdrawals?${query}`, { token: owner.token });
      return status === 200 ? [body.data.total, ...body.data.items.map(({ id }: { id: string }) => id)] : status;
    };
    expect(await list('status=succeeded')).toEqual([1, paid.id]);
    expect(await list('status=pending&limit=1')).toEqual([1, waiting.id]);
    expect(await list(`status=succeeded&after=${waiting.id}`)).toEqual([1, paid.id]);
    expect(await list(`cause_id=${newId()}`)).toEqual([0]);
    // The total of a page is cached for that query only.
    const second = await withdraw(stack, owner, { amount: '30000', digits: '131313' });
    const { next } = (await stack.get('/v1/withdrawals?status=pending&limit=1', { token: owner.token })).body.data;
    expect(await list(`status=pending&after=${next}`)).toEqual([2, waiting.id]);
    expect(await list(`status=succeeded&after=${next}`)).toEqual([1, paid.id]);
    expect(await list('from=2020-01-01')).toEqual([3, second.id, waiting.id, paid.id]);
    expect(await list('from=2020-01-01&to=2020-12-31')).toEqual([0]);
    expect(await list(`status=pending&from=${waiting.created_at}&to=${waiting.created_at}`)).toEqual([1, waiting.id]);
    expect(await list('status=lost')).toBe(400);
  });
});

describe('A withdrawal’s idempotency key whose stored response was deleted', () => {
  it('A retry returns the same withdrawal even after the stored response was deleted', async () => {
    const key = someKey();
    const body = { bank_account_id: await addBankAccount(stack, owner), amount: '100000' };
    const { id } = (await ask(stack, owner, body, key)).body.data;
    await withdrawalWhen(stack, owner, id, 'succeeded');
    await stack.owner().execute("update requests set decided_at = now() - interval '31 days'");
    await forgetOldRows(stack.em());
    const other = await ask(stack, owner, { ...body, amount: '200000' }, key);
    expect([other.status, other.body.message]).toEqual([400, expect.stringContaining('Idempotency-Key')]);
    expect(await ask(stack, owner, body, key)).toMatchObject({
      status: 201,
      body: { data: { id, amount: '100000.0000' } },
    });
    // Even if a new request would now be refused.
    await stack.delete(`/v1/bank-accounts/${body.bank_account_id}`, undefined, { token: owner.token });
    expect(await ask(stack, owner, body, key)).toMatchObject({ status: 201, body: { data: { id } } });
    expect(await balanceOf(stack, owner.accountId)).toBe('900000.0000');
    expect(await transfersOf(stack, id)).toHaveLength(1);
  });
});

describe('POST /v1/withdrawals/quotes', () => {
  const quote = (body: object, { token } = owner) => stack.post('/v1/withdrawals/quotes', body, { token });

  it('A withdrawal quote shows fee and net amount and reserves nothing', async () => {
    const bank_account_id = await addBankAccount(stack, owner);
    const { status, body } = await quote({ bank_account_id, amount: '5000000' });
    expect([status, body.data]).toEqual([
      200,
      { bank_account_id, amount: '5000000.0000', fee: '0.0000', net_amount: '5000000.0000' },
    ]);
    await nothingWasDone(owner, '1000000.0000');
  });

  it('A withdrawal quote refuses invalid amounts and missing or foreign bank accounts', async () => {
    const bank_account_id = await addBankAccount(stack, owner);
    expect((await quote({ bank_account_id, amount: '0.5' })).status).toBe(400);
    expect((await quote({ bank_account_id: newId(), amount: '10000' })).status).toBe(404);
    expect((await quote({ bank_account_id, amount: '10000' }, await buildIndividual(stack))).status).toBe(403);
  });
});

describe('The database', () => {
  it('The database accepts no withdrawal of someone else’s money, whatever the application writes', async () => {
    const other = await buildOwner(stack);
    const { id } = await withdraw(stack, owner);
    const theirs = await addBankAccount(stack, other);
    const forge = (account: string) =>
      stack.em().transactional(async (tx) => {
        const forged = newId();
        await tx.execute(
          `insert into payouts (id, kind, source_account_id, reserved_account_id, reference, fee_mode, amount, fee,
             net_amount, bank_code, texts_sealed, status, created_at, updated_at)
           select ?, 'withdrawal', ?, reserved_account_id, ?, fee_mode, amount, fee, net_amount, bank_code,
             texts_sealed, 'pending', created_at, created_at from payouts where id = ?`,
          [forged, account, `WD-${forged.slice(0, 30)}`, id],
        );
        await tx.execute(
          `insert into withdrawals (id, user_id, bank_account_id, transaction_id, created_at)
           select ?, ?, ?, ?, created_at from payouts where id = ?`,
          [forged, other.id, theirs, newId(), id],
        );
      });
    // With another owner's reserved account, and from another owner's account to one's own bank account.
    await expect(forge(other.accountId)).rejects.toThrow('the accounts of the payout do not belong to its owner');
    await expect(forge(owner.accountId)).rejects.toThrow('the bank account is not usable or belongs to another owner');
  });

  it('The database posts nothing for a withdrawal without a recorded owner', async () => {
    const { id } = await withdraw(stack, owner);
    const forged = newId();
    const posting = stack.em().transactional(async (tx) => {
      await tx.execute(
        `insert into payouts (id, kind, source_account_id, reserved_account_id, reference, fee_mode, amount, fee,
           net_amount, bank_code, texts_sealed, status, created_at, updated_at)
         select ?, 'withdrawal', source_account_id, reserved_account_id, ?, fee_mode, amount, fee, net_amount, bank_code,
           texts_sealed, 'pending', created_at, created_at from payouts where id = ?`,
        [forged, `WD-${forged.slice(0, 30)}`, id],
      );
      await tx.execute(
        `select post_journal(?, ?, 'withdrawal.reserved', array[source_account_id, reserved_account_id],
           array[-amount, amount]) from payouts where id = ?`,
        [newId(), `withdrawal/${forged}/reserved`, forged],
      );
    });
    await expect(posting).rejects.toThrow('no rows prove this journal');
  });
});

describe('A withdrawal whose workflow was lost', () => {
  /** A withdrawal that the bank has accepted and that has no workflow. */
  async function lose(): Promise<string> {
    const { id } = await withdraw(stack, owner, { digits: '131313' });
    await eventually(
      () => stack.em().execute<{ word: string }[]>('select last_word as word from payouts where id = ?', [id]),
      ([row]) => row?.word === 'accepted',
    );
    await loseWorkflow(stack.deps.workflows.client, `withdrawal/${id}`);
    return id;
  }

  it('A withdrawal whose workflow was lost continues when the provider calls back', async () => {
    const id = await lose();
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await withdrawalWhen(stack, owner, id, 'succeeded');
  });

  it('A withdrawal whose workflow was lost continues when the sweep finds its row', async () => {
    await setFaults(stack, { callbacks: { drop: true } });
    const id = await lose();
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await withoutTriggers(stack, "update payouts set look_again_at = now() - interval '1 minute' where id = ?", [id]);
    const { client, taskQueue } = stack.deps.workflows;
    await client.workflow.execute('sweep', { workflowId: `test/${newId()}`, taskQueue, args: [] });
    await withdrawalWhen(stack, owner, id, 'succeeded');
    await setFaults(stack, {});
  });
});
