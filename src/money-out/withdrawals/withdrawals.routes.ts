import { z } from 'zod';
import { DecidedTimelineShape } from '../../partners/timeline.ts';
import { getOwnBankAccount } from '../../people/bank-accounts/get-own-bank-account.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { allow } from '../../platform/http/access.ts';
import { amount, moneyString, periodEnd, periodStart, uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import type { PayoutKinds } from '../payouts/handling.ts';
import { payoutLaw } from '../payouts/payout.ts';
import { tellPayoutTimeline } from '../payouts/payout-timeline.ts';
import { findWithdrawals, getWithdrawal } from './find-withdrawals.ts';
import { presentWithdrawal, WithdrawalShape } from './present-withdrawal.ts';
import { priceWithdrawal } from './price-withdrawal.ts';

interface Ports {
  payoutKinds: PayoutKinds;
  config: Pick<Config, 'PAYOUT_RESEND_HOURS' | 'WITHDRAWAL_FEE'>;
  sealer: Sealer;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/withdrawals',
  tag: 'Withdrawals',
  description:
    "Money from a balance to its owner's bank account: reserved first, then sent under one key, so that it is paid " +
    'once.',
});

const reads = allow('withdraw-account', { scope: "own; the organization's for its admins; all for platform" });
const message = z.string();
const params = z.object({ id: uuid() });

routes.post(
  '/quotes',
  {
    summary: 'Quote a withdrawal',
    description: 'With the current fee. Reserves nothing and does not check the balance.',
    access: allow('withdraw-account', { userTypes: ['individual', 'organization'], scope: 'to own bank accounts' }),
    body: z.strictObject({ bank_account_id: uuid(), amount: moneyString() }),
    answers: {
      200: z.object({
        message,
        data: z.object({ bank_account_id: uuid(), amount: amount(), fee: amount(), net_amount: amount() }),
      }),
    },
    refusals: [404],
  },
  async ({ em, deps, caller, body }) => {
    const { id, bank_code: bankCode } = await getOwnBankAccount(em, caller, body.bank_account_id, {
      field: 'bank_account_id',
    });
    const { WITHDRAWAL_FEE } = deps.config;
    const { net, ...price } = await priceWithdrawal(em, { bankCode, amount: body.amount, fee: WITHDRAWAL_FEE });
    return { message: 'Withdrawal quoted', data: { bank_account_id: id, ...price, net_amount: net } };
  },
);

routes.get(
  '/',
  {
    summary: 'List withdrawals, newest first',
    access: reads,
    query: listQuery().extend({
      status: z.enum(payoutLaw.statuses).optional(),
      cause_id: uuid().optional().meta({ description: 'Only disbursements of this cause.' }),
      from: periodStart().optional(),
      to: periodEnd().optional(),
    }),
    answers: { 200: z.object({ message, data: z.object({ items: z.array(WithdrawalShape), ...pageFields }) }) },
  },
  async ({ em, caller, query }) => {
    const { status, cause_id, from, to, ...window } = query;
    const filter = { status, cause_id, from, to };
    const { items, ...listed } = await findWithdrawals(em, caller, { ...window, filter });
    return {
      message: 'Withdrawals found',
      data: { items: items.map(presentWithdrawal), ...presentPage(query, listed) },
    };
  },
);

routes.get(
  '/:id',
  {
    summary: 'Read a withdrawal',
    access: reads,
    params,
    answers: { 200: z.object({ message, data: WithdrawalShape }) },
    refusals: [404],
  },
  async ({ em, caller, params: { id } }) => ({
    message: 'Withdrawal found',
    data: presentWithdrawal(await getWithdrawal(em, caller, id)),
  }),
);

routes.get(
  '/:id/timeline',
  {
    summary: 'What happened to a withdrawal, in plain words, and what happens next',
    access: reads,
    params,
    answers: { 200: z.object({ message, data: DecidedTimelineShape }) },
    refusals: [404],
  },
  async ({ em, deps, caller, params: { id } }) => {
    const { payout } = await getWithdrawal(em, caller, id);
    const resendHours = deps.config.PAYOUT_RESEND_HOURS;
    return {
      message: 'Timeline found',
      data: await tellPayoutTimeline(em, payout, { payoutKinds: deps.payoutKinds, resendHours }),
    };
  },
);

export const withdrawalsRoutes = routes;
