import type { Part } from '../../../dev/part.ts';
import { startWorker } from '../../../dev/service-parts.ts';
import { packIds } from '../../../src/giving/donations/allocation.ts';
import { preparePartnerPayment } from '../../../src/money-in/collections/prepare-partner-payment.ts';
import { prepareGatewayPayment } from '../../../src/money-in/payments/pay-by-gateway.ts';
import { preparePayout } from '../../../src/money-out/payouts/prepare-payout.ts';
import { createWithdrawal } from '../../../src/money-out/withdrawals/create-withdrawal.ts';
import { reserveWithdrawal } from '../../../src/money-out/withdrawals/reserve-withdrawal.ts';
import type { WithdrawalOpening } from '../../../src/money-out/withdrawals/withdrawal.ts';
import { hashKey, stampOpening } from '../../../src/platform/openings/idempotency-keys.ts';
import { must } from '../../../src/shared/assert.ts';
import { budgets } from '../../../src/shared/budgets.ts';
import {
  allocationBatchIdFor,
  newId,
  partnerPaymentIdFor,
  paymentOrderIdFor,
  payoutIdFor,
  subscriptionIdFor,
  workflowIds,
} from '../../../src/shared/ids.ts';
import { buildOpenDonations } from '../../giving/donations/build-donations.ts';
import { buildPayer, payoutBody, readBalance } from '../../money-out/payouts/build-payouts.ts';
import { addBankAccount, buildOwner } from '../../money-out/withdrawals/build-withdrawals.ts';
import { type BuiltUser, balanceOf, buildIndividual, buildSuperAdmin } from '../../support/build.ts';
import { buildActiveCause } from '../../support/build-targets.ts';
import { casesOf } from '../../support/full.ts';
import type { HttpAnswer } from '../../support/http.ts';
import { type BuiltPartner, freshKey } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { callerOf, claimOf, topUpOf } from './caller-of.ts';

let stack: Stack;
let worker: Part;
let partner: BuiltPartner;
let user: BuiltUser;
let admin: BuiltUser;
let cause: { id: string };
let donations: string[];
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, sandbox: true });
  partner = await buildPayer(stack);
  user = await buildIndividual(stack, { balance: '1000000' });
  admin = await buildSuperAdmin(stack);
  cause = await buildActiveCause(stack);
  donations = await buildOpenDonations(stack, await buildIndividual(stack), 2);
}, 60_000);
afterAll(() => stack.stop());

/** How long a request waits for its outcome: longer than the worker takes to start. */
const waitMs = 60_000;
const key = freshKey();
const requestId = 'test';
const claim = { keyHash: hashKey(key), fingerprint: 'f' };
/** Returns a stamp older than the lifetime of an opening. */
const oldStamp = async () => ({
  ...(await stampOpening(stack.em())),
  askedAt: new Date(Date.now() - budgets.opening.lives - 5000).toISOString(),
});

interface Kind {
  id: () => string;
  table: string;
  workflowId: (id: string) => string;
  /** Starts the workflow as the API does, for a request that is too old. */
  start: (id: string) => Promise<unknown>;
  /** The same request again, under the same key if it has one. */
  retry: (id: string) => Promise<HttpAnswer>;
}

/** The outcome of each start. */
const started = new Map<string, PromiseSettledResult<unknown>>();
const payoutRequest = { amount: '100000', bank_code: 'BRI', bank_account_number: '00100012111111' };
const paymentRequest = { method: 'virtual_account' as const, channel: 'BNI', amount: '50000' };
const subscriptionRequest = () => ({
  cause_id: cause.id,
  amount: '1000',
  source_account_id: user.accountId,
  interval: 'weekly' as const,
});
const asUser = (headers: Record<string, string> = {}) => ({ token: user.token, headers });

const kinds: Record<string, Kind> = {
  payout: {
    id: () => payoutIdFor(partner.id, key),
    table: 'payouts',
    workflowId: workflowIds.partnerPayout,
    start: async (payoutId) => {
      const input = { payoutId, partnerId: partner.id, body: payoutRequest, idempotency: claim, requestId };
      const opening = await preparePayout(stack.em(), stack.deps.sealer, input);
      return stack.deps.workflows.startPartnerPayout(payoutId, { ...opening, stamp: await oldStamp() }, waitMs);
    },
    retry: () => partner.post('/payouts', payoutBody(), key),
  },
  'partner payment': {
    id: () => partnerPaymentIdFor(partner.id, `${key}-in`),
    table: 'partner_payments',
    workflowId: workflowIds.partnerPayment,
    start: async (paymentId) => {
      const idempotency = { ...claim, keyHash: hashKey(`${key}-in`) };
      const input = { paymentId, partnerId: partner.id, body: paymentRequest, idempotency, requestId };
      const opening = await preparePartnerPayment(stack.em(), stack.deps.sealer, input);
      return stack.deps.workflows.startPartnerPayment(paymentId, { ...opening, stamp: await oldStamp() }, waitMs);
    },
    retry: () => partner.post('/payments', paymentRequest, `${key}-in`),
  },
  'payment order': {
    id: () => paymentOrderIdFor(user.id, key),
    table: 'payment_orders',
    workflowId: workflowIds.gatewayPayment,
    start: async (orderId) => {
      const body = topUpOf(user);
      const input = { orderId, caller: callerOf(user), body, claim: claimOf(user.id, key, body), requestId };
      const opening = await prepareGatewayPayment(stack.em(), stack.deps, input);
      return stack.deps.workflows.startGatewayPayment(orderId, { ...opening, stamp: await oldStamp() }, waitMs);
    },
    retry: () =>
      stack.post('/v1/payments/gateway', { ...topUpOf(user), amount: 10_000 }, asUser({ 'idempotency-key': key })),
  },
  subscription: {
    id: () => subscriptionIdFor(user.id, key),
    table: 'donation_subscriptions',
    workflowId: workflowIds.donationSubscription,
    start: async (subscriptionId) => {
      const opening = {
        userId: user.id,
        causeId: cause.id,
        amount: '1000.0000',
        sourceAccountId: user.accountId,
        interval: 'weekly' as const,
        requestId,
        stamp: await oldStamp(),
      };
      return stack.deps.workflows.startDonationSubscription({ subscriptionId, opening }, waitMs);
    },
    retry: () => stack.post('/v1/donations/subscriptions', subscriptionRequest(), asUser({ 'idempotency-key': key })),
  },
  allocation: {
    id: () => allocationBatchIdFor(cause.id, donations),
    table: 'donation_allocations',
    workflowId: workflowIds.donationAllocation,
    start: async (batchId) => {
      const request = { batchId, attemptId: newId(), causeId: cause.id, donations: packIds(donations) };
      const stamped = { ...request, requestedBy: admin.id, requestId, stamp: await oldStamp() };
      const outcome = await stack.deps.workflows.runDonationAllocation(stamped, waitMs);
      throw outcome?.outcome === 'lapsed' ? { code: 'SERVICE_UNAVAILABLE' } : new Error(JSON.stringify(outcome));
    },
    retry: () =>
      stack.post('/v1/donations/allocate', { donation_ids: donations, cause_id: cause.id }, { token: admin.token }),
  },
};

/** Rows left in the shared database by other test files. */
const before = new Set<string>();
const allOf = async (table: string) =>
  (await stack.em().execute<{ id: string }[]>(`select id from ${table}`)).map(({ id }) => id);
const rowsOf = async (table: string) => (await allOf(table)).filter((id) => !before.has(id));
const handleOf = (name: string) => {
  const { id, workflowId } = kindOf(name);
  return stack.deps.workflows.client.workflow.getHandle(workflowId(id()));
};
const kindOf = (name: string): Kind => {
  const kind = kinds[name];
  if (kind === undefined) throw new Error(name);
  return kind;
};
const names = Object.keys(kinds);

describe('Requests that reach the workers long after their time-out', () => {
  beforeAll(async () => {
    for (const name of names) for (const id of await allOf(kindOf(name).table)) before.add(id);
    const starts = names.map((name) => kindOf(name).start(kindOf(name).id()));
    const ended = Promise.allSettled(starts);
    for (const name of names) {
      await eventually(
        () =>
          handleOf(name)
            .describe()
            .catch(() => null),
        (found) => found !== null,
      );
    }
    worker = await startWorker({ env: stack.env, logFile: 'ignore' });
    for (const [index, outcome] of (await ended).entries()) started.set(names[index] ?? '', outcome);
  }, 120_000);
  afterAll(() => worker.stop());
  afterEach(() => expectChecksEmpty(stack));

  it.each(names)('A late %s request is never executed, and gets a 503', async (name) => {
    expect(started.get(name)).toMatchObject({ status: 'rejected', reason: { code: 'SERVICE_UNAVAILABLE' } });
    expect(JSON.stringify(await handleOf(name).result())).toMatch(/lapsed/i);
    expect(await rowsOf(kindOf(name).table)).toEqual([]);
    const { body } = await stack.sandbox.get(`/sandbox/records?reference_id=${kindOf(name).id()}`);
    expect([...(body.payments ?? []), ...(body.transfers ?? [])]).toEqual([]);
  });

  it('A late request moves no money', async () => {
    expect(await readBalance(partner)).toMatchObject({ available: '1000000.0000', pending: '0.0000' });
    expect(await balanceOf(stack, user.accountId)).toBe('1000000.0000');
    const ids = `{${names.map((name) => kindOf(name).id()).join(',')}}`;
    const openings = 'select 1 from requests where resource_id = any(?::uuid[])';
    expect(await stack.em().execute<object[]>(openings, [ids])).toEqual([]);
  });

  it.each(casesOf(names, (name) => name === 'payout'))(
    'A late %s request frees its key for a new request, which creates exactly one resource',
    async (name) => {
      const { id, table, retry } = kindOf(name);
      const answer = await retry(id());
      expect([name, answer.status < 300 || answer.body]).toEqual([name, true]);
      expect(await rowsOf(table)).toEqual([id()]);
    },
  );
});

describe('A request without a key whose API process died before refusing it', () => {
  it('An unkeyed withdrawal whose API process died reserves nothing after its time-out', async () => {
    const owner = await buildOwner(stack);
    const body = { bank_account_id: await addBankAccount(stack, owner), amount: '10000' };
    const asking = { caller: callerOf(owner), accountId: owner.accountId, body, key: undefined, requestId };
    const begun: { withdrawalId: string; opening: WithdrawalOpening }[] = [];
    const startWithdrawal = (withdrawalId: string, opening: WithdrawalOpening) => {
      begun.push({ withdrawalId, opening });
      return Promise.reject(new Error('the process dies'));
    };
    const creation = createWithdrawal(stack.em(), { ...stack.deps, workflows: { startWithdrawal } }, asking);
    await expect(creation).rejects.toThrow('the process dies');
    const { withdrawalId, opening } = must(begun[0], 'it has begun');
    const askedAt = new Date(Date.parse(opening.stamp.askedAt) - budgets.requests.payoutReservation).toISOString();
    const late = { withdrawalId, opening: { ...opening, stamp: { ...opening.stamp, askedAt } } };
    await expect(reserveWithdrawal(stack.em(), stack.deps, late)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
    expect(await balanceOf(stack, owner.accountId)).toBe('1000000.0000');
  });
});
