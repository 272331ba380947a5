import { randomUUID } from 'node:crypto';
import { preparePayout } from '../../../src/money-out/payouts/prepare-payout.ts';
import { reservePayout } from '../../../src/money-out/payouts/reserve-payout.ts';
import type { Sealer } from '../../../src/platform/encryption/sealer.ts';
import { stampOpening } from '../../../src/platform/openings/idempotency-keys.ts';
import { newId } from '../../../src/shared/ids.ts';
import { asAKeyedClient } from '../../support/as-a-client.ts';
import { type BuildPlace, fund } from '../../support/build.ts';
import type { Http, HttpAnswer } from '../../support/http.ts';
import { loseWorkflow } from '../../support/lose-workflow.ts';
import { type BuiltPartner, buildPartner, freshKey, type PartnerOptions } from '../../support/partner.ts';
import { eventually, type Stack } from '../../support/stack.ts';

/** A stack in which payouts are created; it has a sandbox. */
export type PayoutPlace = BuildPlace & Http & { sandbox: Http };

export const generous = { max_payout_amount: '100000000', max_daily_amount: '1000000000', max_hourly_count: 10_000 };

/** A partner with limits and available money (IDR 1,000,000 by default). */
export async function buildPayer(
  stack: PayoutPlace,
  { available = '1000000', ...options }: PartnerOptions & { available?: string } = {},
): Promise<BuiltPartner> {
  const partner = await buildPartner(stack, { limits: generous, ...options });
  if (available !== '0') await fund(stack, partner.account.available, available);
  return partner;
}

/** An account number at BRI (13 to 17 digits) that ends with the sandbox's magic digits. */
export const magicAccount = (lastDigits: string): string => `00100012${lastDigits}`;

/** The body of a payout, by default of IDR 100,000 to an account that accepts it. */
export const payoutBody = (changes: object = {}) => ({
  amount: '100000',
  bank_code: 'BRI',
  bank_account_number: magicAccount('111111'),
  beneficiary_name: 'Budi Santoso',
  ...changes,
});

export async function pay(partner: BuiltPartner, changes: object = {}, key?: string): Promise<HttpAnswer['body']> {
  const once = key ?? freshKey();
  const { status, body } = await asAKeyedClient(() => partner.post('/payouts', payoutBody(changes), once));
  expect({ status, body }).toMatchObject({ status: 200, body: { data: { status: 'pending', is_final: false } } });
  return body.data;
}

export const readPayout = async (partner: BuiltPartner, id: string) => (await partner.get(`/payouts/${id}`)).body?.data;

export const payoutWhen = (partner: BuiltPartner, id: string, status: string, withinMs = 60_000) =>
  eventually(
    () => readPayout(partner, id).catch(() => undefined),
    (payout) => payout?.status === status,
    withinMs,
  );

export const readBalance = async (partner: BuiltPartner) => (await partner.get('/balance')).body.data;

interface TransferRecord {
  reference_id: string;
  idempotency_key: string;
  status: string;
  amount: number;
}

/** Every transfer that the provider has under a payout's reference. */
export async function transfersOf(stack: PayoutPlace, payoutId: string): Promise<TransferRecord[]> {
  const { body } = await stack.sandbox.get(`/sandbox/records?reference_id=${payoutId}`);
  return body.transfers;
}

export const settleAtProvider = (stack: PayoutPlace, payoutId: string, status: 'SUCCEEDED' | 'FAILED' | 'REVERSED') =>
  stack.sandbox.post('/sandbox/payouts/settle', { reference_id: payoutId, status });

export async function setFaults(stack: PayoutPlace, faults: object): Promise<void> {
  expect(await stack.sandbox.put('/sandbox/faults', faults)).toMatchObject({ status: 200 });
}

/**
 * Backdates a payout's attempts and the provider's statuses by a number of minutes, because the database's clock cannot
 * be moved.
 */
export const ageAttempts = (stack: Pick<PayoutPlace, 'owner'>, payoutId: string, minutes: number) =>
  stack.owner().execute(
    `update payout_attempts set sent_at = sent_at - make_interval(mins => ?),
       answered_at = answered_at - make_interval(mins => ?),
       not_known_at = not_known_at - make_interval(mins => ?) where payout_id = ?`,
    [minutes, minutes, minutes, payoutId],
  );

/** Where a worker may die in the activities shared by payouts, withdrawals and refunds: around each effect. */
export const sharedFailpoints = [
  'send-transfer.before',
  'send-transfer.attempt-written',
  'send-transfer.after',
  'send-transfer.noted',
  'resolve-payout.before',
  'resolve-payout.after',
] as const;

/** A payout that the provider does not have, old enough to be settled by hand. */
export async function buildUnknownPayout(
  stack: PayoutPlace & Pick<Stack, 'em'>,
  partner: BuiltPartner,
): Promise<string> {
  const { id } = await pay(partner, { bank_account_number: magicAccount('900004') });
  await eventually(
    () => stack.em().execute<unknown[]>('select 1 from payouts where id = ? and unknown_since is not null', [id]),
    (rows) => rows.length === 1,
  );
  await ageAttempts(stack, id, 2);
  return id;
}

/**
 * Creates this many unknown payouts concurrently, because each mostly waits. Each call of the result returns the next,
 * and creates another if none is left.
 */
export async function buildUnknownPayouts(
  stack: PayoutPlace & Pick<Stack, 'em'>,
  partner: BuiltPartner,
  count: number,
): Promise<() => Promise<string>> {
  const build = () => buildUnknownPayout(stack, partner);
  const ready = await Promise.all(Array.from({ length: count }, build));
  return async () => ready.shift() ?? build();
}

/**
 * A payout that the provider has accepted but does not complete, and that is not polled because its workflow is lost.
 */
export async function buildRestingPayout(
  stack: PayoutPlace & Pick<Stack, 'em' | 'deps'>,
  partner: BuiltPartner,
): Promise<string> {
  const { id } = await pay(partner, { bank_account_number: magicAccount('131313') });
  await eventually(
    () => stack.em().execute<unknown[]>("select 1 from payouts where id = ? and last_word = 'accepted'", [id]),
    (rows) => rows.length === 1,
  );
  await loseWorkflow(stack.deps.workflows.client, `partner-payout/${id}`);
  return id;
}

/** Reserves a payout without a workflow: the test runs its activities. */
export async function reserve(
  stack: PayoutPlace & { deps: { sealer: Sealer } },
  partner: BuiltPartner,
  lastDigits: string,
): Promise<string> {
  const payoutId = newId();
  const body = payoutBody({ bank_account_number: magicAccount(lastDigits) });
  const idempotency = { keyHash: newId(), fingerprint: newId() };
  const { sealer } = stack.deps;
  const stamp = await stampOpening(stack.em());
  const request = { payoutId, partnerId: partner.id, body, idempotency, requestId: newId() };
  const opening = { ...(await preparePayout(stack.em(), sealer, request)), stamp };
  await reservePayout(stack.em(), sealer, { payoutId, opening });
  return payoutId;
}

/**
 * Creates a transfer under any reference, of IDR 100,000 by default, as only another user of our key could; returns its
 * id.
 */
export async function transferElsewhere(
  { sandbox, env }: { sandbox: { url: string }; env: { XENDIT_SECRET_KEY?: string } },
  reference: string,
  digits = '131313',
  amount = 100_000,
): Promise<string> {
  const answer = await fetch(`${sandbox.url}/v2/payouts`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${env.XENDIT_SECRET_KEY}:`).toString('base64')}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({
      reference_id: reference,
      channel_code: 'ID_BRI',
      channel_properties: { account_number: magicAccount(digits), account_holder_name: 'Budi' },
      amount,
      currency: 'IDR',
    }),
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { id: string }).id;
}
