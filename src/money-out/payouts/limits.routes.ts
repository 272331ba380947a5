import { z } from 'zod';
import { partnerAnswer } from '../../partners/partner-answer.ts';
import { partner } from '../../platform/http/access.ts';
import { amount } from '../../platform/http/fields.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { readPayoutHeadroom } from './payout-limits.ts';

const routes = createRouteGroup({ prefix: '/v1/partners/limits', tag: 'Partner API' });

const useOf = <T extends z.ZodType>(quantity: T) =>
  z.object({ maximum: quantity, used: quantity, remaining: quantity }).nullable();

routes.get(
  '/',
  {
    summary: 'Read the payout limits and current usage',
    description:
      'Rolling windows that end now. The daily amount includes every payout except failed ones whose money did not ' +
      'leave. The hourly count includes every reserved payout. Refunds by transfer count, refunds to the wallet ' +
      'that paid do not. Null if no limit is set; payouts are then suspended.',
    access: partner('read-gateway'),
    answers: {
      200: partnerAnswer(
        z.object({
          max_payout_amount: useOf(amount()),
          max_daily_amount: useOf(amount()),
          max_hourly_count: useOf(z.int()),
        }),
      ),
    },
  },
  async ({ em, caller }) => (await readPayoutHeadroom(em, caller.partnerId)).limits,
);

export const limitsRoutes = routes;
