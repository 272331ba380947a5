import { z } from 'zod';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { allow, signedIn } from '../../platform/http/access.ts';
import { amount, moneyString, uuid } from '../../platform/http/fields.ts';
import { readIdempotencyKey } from '../../platform/http/idempotency-key.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { presentFields } from '../../platform/http/present-fields.ts';
import { sendStored } from '../../platform/http/replay.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { isPlatform } from '../../shared/caller.ts';
import { formatMoney } from '../../shared/money.ts';
import { cancelOrder } from './cancel-instrument.ts';
import { findChannels } from './find-channels.ts';
import { findOrders, getOrder, type OrderWithChannel } from './find-orders.ts';
import type { PaymentKinds, WakingPort } from './handler.ts';
import { payAsAsked, transferBetweenPockets } from './pay-as-asked.ts';
import { openTexts, payByGateway } from './pay-by-gateway.ts';
import type { PayTogether } from './pay-from-balance.ts';
import type { GatewayPaymentWorkflows } from './payment-contract.ts';
import { BalancePayment, GatewayPayment, madeShape, OrderShape, PaidShape, presentOrder } from './present-order.ts';

const ChannelShape = z.object({
  payment_id: z.int(),
  payment_name: z.string(),
  method: z.enum(['virtual_account', 'qris', 'ewallet']),
  channel_code: z.string(),
  admin_fee: z.object({ fixed: amount(), basis_points: z.int() }),
  minimum_amount: amount(),
  maximum_amount: amount(),
});

interface Ports {
  sealer: Sealer;
  workflows: GatewayPaymentWorkflows & WakingPort;
  paymentKinds: PaymentKinds;
  payTogether: PayTogether;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/payments',
  tag: 'Payments',
  description: 'Pay for any entity by the gateway rail (asynchronous) or from a balance (synchronous).',
});

const present = async (deps: Ports, found: OrderWithChannel) =>
  presentOrder(found, await openTexts(deps.sealer, found.order.id, found.order.texts_sealed));

routes.get(
  '/channels',
  {
    summary: 'List payment channels',
    description:
      'Not paged. `admin_fee` is `fixed` plus `basis_points` of the nominal, rounded up so that the ' +
      'total is a whole rupiah.',
    access: signedIn({ scope: 'all' }),
    answers: { 200: z.object({ message: z.string(), data: z.object({ items: z.array(ChannelShape) }) }) },
  },
  async ({ em }) => {
    const channels = await findChannels(em);
    return {
      message: 'Payment channels found',
      data: {
        items: channels.map((channel) =>
          presentFields(ChannelShape.shape, {
            ...channel,
            payment_id: channel.id,
            payment_name: channel.name,
            admin_fee: { fixed: channel.fee_fixed, basis_points: channel.fee_basis_points },
          }),
        ),
      },
    };
  },
);

routes.post(
  '/gateway',
  {
    summary: 'Pay by the gateway',
    description:
      'Creates a payment order and returns the details for the payer. If the provider is silent for 10 seconds, the ' +
      'response is `PENDING` without a code: poll the order. The same `Idempotency-Key` and body return the first ' +
      'response.',
    access: signedIn({ scope: 'targets the caller may pay for', note: "the handler's permission, by reference_type" }),
    body: GatewayPayment,
    idempotent: true,
    answers: { 201: madeShape(OrderShape) },
    refusals: [404, 502, 503],
  },
  async ({ em, deps, caller, body, ctx, requestId }) => {
    const asking = { caller, key: readIdempotencyKey(ctx), requestId };
    const named = { ...body, amount: formatMoney(body.amount) };
    const request = { path: '/v1/payments/gateway', body: named, payment: body };
    const made = { status: 'success', statusCode: 201, message: 'Payment created' };
    return sendStored(await payByGateway(em, deps, asking, request, async (data) => ({ ...made, data })));
  },
);

routes.post(
  '/balance',
  {
    summary: 'Pay from a balance',
    description:
      'Debits an account of the caller and pays the target at once, or has no effect. The minimum is 0.0001. The ' +
      'same `Idempotency-Key` and body return the first response.',
    access: signedIn({ scope: 'targets the caller may pay for', note: "the handler's permission, by reference_type" }),
    body: BalancePayment,
    idempotent: true,
    answers: { 201: PaidShape },
    refusals: [404],
  },
  async ({ em, deps, caller, body, ctx, requestId }) => {
    const asking = { caller, key: readIdempotencyKey(ctx), requestId };
    return sendStored(await payAsAsked(em, deps, body, asking));
  },
);

routes.get(
  '/orders',
  {
    summary: "List the caller's payment orders",
    access: signedIn({ scope: 'own' }),
    query: listQuery(),
    answers: { 200: z.object({ message: z.string(), data: z.object({ items: z.array(OrderShape), ...pageFields }) }) },
  },
  async ({ em, deps, caller, query }) => {
    const { items, ...listed } = await findOrders(em, caller, query);
    return {
      message: 'Payment orders found',
      data: { items: await Promise.all(items.map((item) => present(deps, item))), ...presentPage(query, listed) },
    };
  },
);

const ofOne = {
  params: z.object({ payment_order_id: uuid() }),
  answers: { 200: z.object({ message: z.string(), data: OrderShape }) },
};

routes.get(
  '/orders/:payment_order_id',
  {
    summary: 'Poll a payment order',
    access: signedIn({ scope: 'own; all for platform' }),
    ...ofOne,
    refusals: [404],
  },
  async ({ em, deps, caller, params }) => ({
    message: 'Payment order found',
    data: await present(deps, await getOrder(em, caller, params.payment_order_id, { any: isPlatform(caller) })),
  }),
);

routes.post(
  '/orders/:payment_order_id/cancel',
  {
    summary: 'Cancel an open payment order',
    description:
      'For its payer: the instrument is expired at the provider, then the order becomes `EXPIRED`. If it was paid ' +
      'first: 400. An order that is already closed unpaid is returned unchanged. 503 if the provider does not ' +
      'confirm within 10 seconds: cancelling continues in the background, so poll or retry.',
    access: signedIn({ scope: 'own' }),
    ...ofOne,
    refusals: [404, 503],
  },
  async ({ em, deps, caller, params: { payment_order_id: orderId }, requestId }) => ({
    message: 'Payment order cancelled',
    data: await present(deps, await cancelOrder(em, deps.workflows, { caller, orderId, requestId })),
  }),
);

export const paymentsRoutes = routes;

export const transfersRoutes = createRouteGroup<Pick<Ports, 'payTogether'>>({
  prefix: '/v1/accounts',
  tag: 'Accounts',
});

transfersRoutes.post(
  '/:account_id/transfers',
  {
    summary: "Move money between the caller's accounts",
    description:
      'Writes one ledger row with purpose `pocket_transfer`. The same `Idempotency-Key` and body return ' +
      'the first response.',
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
