import { z } from 'zod';
import { allow } from '../../platform/http/access.ts';
import { moneyString, uuid } from '../../platform/http/fields.ts';
import { readIdempotencyKey } from '../../platform/http/idempotency-key.ts';
import { sendStored } from '../../platform/http/replay.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { transferBetweenPockets } from './pay-as-asked.ts';
import type { PayTogether } from './pay-from-balance.ts';
import { PaidShape } from './present-order.ts';

interface Ports {
  payTogether: PayTogether;
}

const routes = createRouteGroup<Ports>({ prefix: '/v1/accounts', tag: 'Accounts' });

routes.post(
  '/:account_id/transfers',
  {
    summary: "Move money between one's own accounts",
    description: 'One ledger row of purpose `pocket_transfer`. The same `Idempotency-Key` and body replay the answer.',
    access: allow('top-up-account', { scope: "both accounts the caller's own" }),
    params: z.object({ account_id: uuid() }),
    body: z.strictObject({ destination_account_id: uuid(), amount: moneyString() }),
    idempotent: true,
    answers: { 201: PaidShape },
    refusals: [404],
  },
  async ({ em, deps, caller, params, body, ctx, requestId }) =>
    sendStored(
      await transferBetweenPockets(
        em,
        deps.payTogether,
        {
          sourceAccountId: params.account_id,
          destinationAccountId: body.destination_account_id,
          amount: body.amount,
        },
        { caller, key: readIdempotencyKey(ctx), requestId },
      ),
    ),
);

export const transfersRoutes = routes;
