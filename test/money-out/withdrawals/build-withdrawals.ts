import { newId } from '../../../src/shared/ids.ts';
import { give } from '../../giving/donations/build-donations.ts';
import { type BuiltUser, buildIndividual } from '../../support/build.ts';
import { buildActiveCause } from '../../support/build-targets.ts';
import type { HttpAnswer } from '../../support/http.ts';
import { eventually } from '../../support/stack.ts';
import { magicAccount, type PayoutPlace } from '../payouts/build-payouts.ts';

/** A person with IDR 1,000,000 by default. */
export const buildOwner = (stack: PayoutPlace, balance = '1000000'): Promise<BuiltUser> =>
  buildIndividual(stack, { balance });

/** A bank account of the caller's that ends with the sandbox's magic digits; returns its id. */
export async function addBankAccount(stack: PayoutPlace, { token }: BuiltUser, lastDigits = '111111'): Promise<string> {
  const body = { bank_code: 'BRI', account_number: magicAccount(lastDigits), account_holder: 'Budi Santoso' };
  const answer = await stack.post('/v1/bank-accounts', body, { token });
  expect(answer.status).toBe(201);
  return answer.body.data.id;
}

/** Requests a withdrawal from the caller's account, with a key if one is given. */
export const ask = (
  stack: PayoutPlace,
  { token, accountId }: Pick<BuiltUser, 'token' | 'accountId'>,
  body: object,
  key?: string,
): Promise<HttpAnswer> =>
  stack.post(`/v1/accounts/${accountId}/withdrawals`, body, {
    token,
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  });

/** Withdraws IDR 100,000 by default to an account that ends with these digits. */
export async function withdraw(
  stack: PayoutPlace,
  owner: BuiltUser,
  { digits = '111111', amount = '100000' }: { digits?: string; amount?: string } = {},
): Promise<HttpAnswer['body']> {
  const bank_account_id = await addBankAccount(stack, owner, digits);
  const { status, body } = await ask(stack, owner, { bank_account_id, amount });
  expect({ status, body }).toMatchObject({ status: 201, body: { data: { status: 'pending' } } });
  return body.data;
}

export interface WaitingDisbursement {
  owner: BuiltUser;
  causeId: string;
  /** The disbursement, IDR 400,000 by default, and its pending decision. */
  id: string;
  decisionId: string;
}

/** A disbursement of an individual, who has another IDR 100,000, pending approval by two people. */
export async function buildWaitingDisbursement(
  stack: PayoutPlace,
  amount = '400000',
  digits?: string,
): Promise<WaitingDisbursement> {
  const owner = await buildOwner(stack, '100000');
  const { id: causeId } = await buildActiveCause(stack, owner);
  const donor = await buildIndividual(stack, { balance: '400000' });
  expect((await give(stack, donor, 400_000, causeId)).status).toBe(201);
  return { owner, causeId, ...(await askDisbursement(stack, owner, causeId, amount, digits)) };
}

/** Requests a disbursement of a cause that needs a decision. */
export async function askDisbursement(
  stack: PayoutPlace,
  owner: BuiltUser,
  causeId: string,
  amount: string,
  digits?: string,
): Promise<Pick<WaitingDisbursement, 'id' | 'decisionId'>> {
  const bank_account_id = await addBankAccount(stack, owner, digits);
  const body = { bank_account_id, amount, cause_id: causeId, purpose_note: 'Two pumps and their pipes' };
  const { id } = (await ask(stack, owner, body)).body.data;
  const [decision] = await stack
    .em()
    .execute<[{ id: string }]>('select id from decisions where withdrawal_id = ?', [id]);
  return { id, decisionId: decision.id };
}

export const readWithdrawal = async (stack: PayoutPlace, { token }: BuiltUser, id: string) =>
  (await stack.get(`/v1/withdrawals/${id}`, { token })).body?.data;

export const withdrawalWhen = (stack: PayoutPlace, owner: BuiltUser, id: string, status: string, withinMs = 60_000) =>
  eventually(
    () => readWithdrawal(stack, owner, id).catch(() => undefined),
    (withdrawal) => withdrawal?.status === status,
    withinMs,
  );

/** The ledger rows about a withdrawal, oldest first. */
export const transactionsOf = (stack: PayoutPlace, id: string) =>
  stack.em().execute<object[]>(
    `select type, amount::text, status, purpose, reference_type, source_account_id, destination_account_id
       from transactions where reference_id = ? order by created_at, type desc`,
    [id],
  );

/** An unused idempotency key. */
export const someKey = (): string => `withdrawal-${newId()}`;
