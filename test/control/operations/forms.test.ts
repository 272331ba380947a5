import { give } from '../../giving/donations/build-donations.ts';
import {
  buildPayer,
  buildUnknownPayout,
  generous,
  magicAccount,
  pay,
  payoutWhen,
  settleAtProvider,
} from '../../money-out/payouts/build-payouts.ts';
import { addBankAccount, ask, buildOwner } from '../../money-out/withdrawals/build-withdrawals.ts';
import { type BuiltUser, buildSuperAdmin } from '../../support/build.ts';
import { buildActiveCause } from '../../support/build-targets.ts';
import { approve, buildOperators, type Operators, propose, secureSession } from '../../support/decide.ts';
import { type BuiltPartner, freshKey } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let partner: BuiltPartner;
let operators: Operators;
beforeAll(async () => {
  stack = await startStack({ own: true, worker: true, sandbox: true, env: { PAYOUT_RESEND_HOURS: '0' } });
  const fees = [{ method: 'payout', fixed: '5000', basis_points: 0 }];
  partner = await buildPayer(stack, { feeMode: 'ADDED', fees, limits: generous, available: '10000000' });
  operators = await buildOperators(stack);
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());

const headersOf = ({ token }: Pick<BuiltUser, 'token'>) => ({
  cookie: `access_token=${token}`,
  origin: new URL(stack.url).origin,
});

async function send(user: Pick<BuiltUser, 'token'>, path: string, body?: FormData | URLSearchParams) {
  const init = body ? { method: 'POST', body } : {};
  const answer = await fetch(`${stack.url}${path}`, { ...init, headers: headersOf(user), redirect: 'manual' });
  return { status: answer.status, location: answer.headers.get('location'), page: await answer.text() };
}

/** Runs `work` while the database ends every connection that changes a row of the table to match `condition`. */
async function losing<T>([table, condition]: [string, string], work: () => Promise<T>): Promise<T> {
  await stack.owner().execute(
    `create function lose_connection() returns trigger language plpgsql as
       $$ begin raise exception 'terminating connection' using errcode = '57P01'; end $$;
     create trigger lose_connection before update on ${table} for each row when (${condition})
       execute function lose_connection()`,
  );
  try {
    return await work();
  } finally {
    await stack.owner().execute('drop function lose_connection cascade');
  }
}

/** The form that imports a file with one payout. */
function payroll(fields: Record<string, string> = {}): FormData {
  const row = `first,20000,BRI,${magicAccount('200001')},Budi`;
  const file = `external_ref,amount,bank_code,bank_account_number,beneficiary_name\n${row}\n`;
  const form = new FormData();
  form.append('file', new File([file], 'payroll.csv', { type: 'text/csv' }));
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

it('An import whose outcome is unknown is answered with its own form, and sending it again creates no second batch', async () => {
  const body = () => payroll({ external_ref: 'payroll-9' });
  const path = `/operations/partners/${partner.id}/import?key=${freshKey()}`;
  const lost = await losing(['requests', 'new.answer_status is not null'], () => send(partner.admin, path, body()));
  expect([lost.status, lost.page]).toEqual([503, expect.stringContaining('action="/operations/partners/')]);
  const [, action = ''] = /action="([^"]*\/import\?key=[^"]*)"/.exec(lost.page) ?? [];
  expect(action).toBe(path);
  expect(await send(partner.admin, action, body())).toMatchObject({ status: 303 });
  const { data } = (await partner.get('/payout-batches?external_ref=payroll-9')).body;
  expect(data.total).toBe(1);
});

it('An import without a key that loses its connection names its batch and gets no Retry-After', async () => {
  const { status, headers, body } = await losing(['requests', 'new.made is not null'], async () => {
    const url = `${stack.url}/v1/partner-accounts/${partner.id}/payout-batches`;
    const authorization = `Bearer ${partner.admin.token}`;
    const answer = await fetch(url, { method: 'POST', body: payroll(), headers: { authorization } });
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as { message: string } };
  });
  expect([status, headers.get('retry-after')]).toEqual([503, null]);
  expect(body.message).toMatch(/^The outcome is unknown\. If it was created, its id is [0-9a-f-]{36}$/);
});

it('A decision page tells the reserved amount, and after an unknown outcome that the approved decision is being carried out', async () => {
  const payoutId = await buildUnknownPayout(stack, partner);
  const { id } = (await propose(stack, operators, { kind: 'settle_payout', payout_id: payoutId, outcome: 'failed' }))
    .body.data;
  const path = `/operations/decisions/${id}`;
  const before = await send(operators.approver, path);
  expect(before.page).toContain('The reservation of IDR 105,000 is released, including the fee.');
  const lost = await losing(['decisions', "new.status = 'carried_out'"], () =>
    send(operators.approver, `${path}/approve`, new URLSearchParams()),
  );
  expect([lost.status, lost.page]).toEqual([503, expect.not.stringContaining('The action failed')]);
  const after = await send(operators.approver, path);
  expect(after.page).not.toMatch(/somebody else|second person/);
  expect(after.page).toContain('Approved, and not carried out yet');
  expect((await send(operators.proposer, path)).page).toContain('Approved, and not carried out yet');
  expect(await approve(stack, operators, id)).toMatchObject({ status: 200, body: { data: { status: 'carried_out' } } });
});

it('The page of a decision to book a transfer tells what the money does', async () => {
  const { id } = await pay(partner, { bank_account_number: magicAccount('999999') });
  await payoutWhen(partner, id, 'failed');
  await settleAtProvider(stack, id, 'SUCCEEDED');
  const decisionId = await eventually(
    async () => (await propose(stack, operators, { kind: 'book_transfer', payout_id: id })).body.data?.id,
    (found) => found !== undefined,
  );
  const { page } = await send(operators.approver, `/operations/decisions/${decisionId}`);
  expect(page).toContain('IDR 100,000 is debited from the account that paid, as far as its balance goes');
  expect(page).not.toContain('no money moves');
});

it('The page of a disbursement leads to its decision, which names approvers once there are any', async () => {
  const owner = await buildOwner(stack);
  const { id: cause_id } = await buildActiveCause(stack, owner);
  await give(stack, await buildOwner(stack), 100_000, cause_id);
  const bank_account_id = await addBankAccount(stack, owner);
  const asked = { bank_account_id, amount: '100000', cause_id, purpose_note: 'Two pumps and their pipes' };
  const { id } = (await ask(stack, owner, asked)).body.data;
  const { page } = await send(operators.approver, `/operations/payouts/${id}`);
  const [path = ''] = /\/operations\/decisions\/[0-9a-f-]{36}/.exec(page) ?? [];
  expect(path).not.toBe('');
  expect((await send(operators.approver, path)).page).not.toContain('Approved by');
  expect(await send(operators.approver, `${path}/approve`, new URLSearchParams())).toMatchObject({ status: 303 });
  expect((await send(operators.approver, path)).page).toMatch(/Approved by[\s\S]*a second person must also approve/);
});

it('The page of a cancelled payment says that it was cancelled', async () => {
  const { id } = (await partner.post('/payments', { method: 'qris', amount: '20000' })).body.data;
  expect(await partner.post(`/payments/${id}/cancel`, {}, null)).toMatchObject({ status: 200 });
  expect((await send(operators.proposer, `/operations/payments/${id}`)).page).toMatch(/<dt>Cancelled<\/dt><dd>2.* WIB/);
});

it('A switch page that was opened before another change changes nothing and shows the new state', async () => {
  const { id } = await buildSuperAdmin(stack);
  const second = { token: await secureSession(stack, id) };
  const formOf = async (user: Pick<BuiltUser, 'token'>, reason: string) => {
    const { page } = await send(user, '/operations/switch');
    const form = new URLSearchParams({ reason });
    for (const [, name = '', value = ''] of page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)) {
      form.set(name, value);
    }
    return form;
  };
  const submit = (user: Pick<BuiltUser, 'token'>, form: URLSearchParams) => send(user, '/operations/switch', form);
  const stands = async () => (await stack.get('/v1/operations/payouts', { token: second.token })).body.data;
  const [first, other] = [await formOf(operators.approver, 'incident 1'), await formOf(second, 'incident 2')];
  expect(await submit(operators.approver, first)).toMatchObject({ status: 303 });
  const late = await submit(second, other);
  expect([late.status, late.page]).toEqual([400, expect.stringContaining('was changed meanwhile')]);
  expect(await submit(operators.approver, first)).toMatchObject({ status: 303 });
  expect(await stands()).toMatchObject({ enabled: false, reason: 'incident 1' });
  const stale = await formOf(operators.approver, 'incident 1 is over');
  await submit(second, await formOf(second, 'released early'));
  await submit(second, await formOf(second, 'incident 3'));
  expect(await submit(operators.approver, stale)).toMatchObject({ status: 400 });
  expect(await stands()).toMatchObject({ enabled: false, reason: 'incident 3' });
  await submit(second, await formOf(second, 'all is well'));
  expect(await stands()).toMatchObject({ enabled: true });
});
