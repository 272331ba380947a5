import { z } from 'zod';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { allow } from '../../platform/http/access.ts';
import { moneyString, prose, uuid } from '../../platform/http/fields.ts';
import { readIdempotencyKey } from '../../platform/http/idempotency-key.ts';
import { sendStored } from '../../platform/http/replay.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { createWithdrawal } from './create-withdrawal.ts';
import { WithdrawalShape } from './present-withdrawal.ts';
import type { WithdrawalTerms, WithdrawalWorkflows } from './withdrawal.ts';
import { purposeNoteLimits } from './withdrawal.ts';

const { shortest, longest } = purposeNoteLimits;
const Body = z
  .strictObject({
    bank_account_id: uuid(),
    amount: moneyString(),
    cause_id: uuid()
      .optional()
      .describe('Makes the withdrawal a disbursement of this cause, whose account must be `account_id`.'),
    purpose_note: prose(longest, shortest)
      .optional()
      .describe('With `cause_id`: the public purpose of the disbursement.'),
  })
  .superRefine(({ cause_id, purpose_note }, ctx) => {
    if ((cause_id === undefined) === (purpose_note === undefined)) return;
    const [path, message] =
      purpose_note === undefined ? ['purpose_note', 'is required'] : ['purpose_note', 'is for a disbursement only'];
    ctx.addIssue({ code: 'custom', path: [path], message });
  });

interface Ports {
  config: WithdrawalTerms;
  sealer: Sealer;
  workflows: WithdrawalWorkflows;
}

const routes = createRouteGroup<Ports>({ prefix: '/v1/accounts', tag: 'Withdrawals' });

routes.post(
  '/:account_id/withdrawals',
  {
    summary: 'Withdraw to a bank account',
    description:
      'Returns as soon as the money is reserved; the transfer continues in the background. `amount` leaves the ' +
      'account; `amount` less the fee, a whole number of rupiah, reaches the bank. If the transfer fails, the ' +
      'account gets everything back; if the bank returns it later, the withdrawal is `reversed` and the account ' +
      'gets the net back. While the outcome is unknown it stays `pending` with the money reserved. With `cause_id` ' +
      'it is a disbursement: at most the undisbursed donations of the cause, and not counted in the daily limit. If ' +
      'the owner is an individual, or the amount is large, it stays `pending` and reserved until two people of the ' +
      'platform have approved it; if rejected, or not approved within seven days, it fails. Donations to causes ' +
      'leave their account only by disbursements and refunds. The same `Idempotency-Key` and body return the first ' +
      'response.',
    access: allow('withdraw-account', {
      userTypes: ['individual', 'organization'],
      scope: 'from own accounts to own bank accounts',
    }),
    params: z.object({ account_id: uuid() }),
    body: Body,
    idempotent: true,
    answers: { 201: z.object({ status: z.literal('success'), message: z.string(), data: WithdrawalShape }) },
    refusals: [404, 503],
  },
  async ({ em, deps, caller, params: { account_id: accountId }, body, ctx, requestId }) =>
    sendStored(await createWithdrawal(em, deps, { caller, accountId, body, key: readIdempotencyKey(ctx), requestId })),
);

export const accountWithdrawalsRoutes = routes;
