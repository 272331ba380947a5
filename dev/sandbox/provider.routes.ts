import { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import { bankAccountBody, findBankAccount } from './bank-accounts.ts';
import {
  createInstrument,
  createPaymentMethodBody,
  createPaymentRequestBody,
  createReusable,
} from './create-instrument.ts';
import { readFaults } from './faults.ts';
import {
  leaveUnanswered,
  makeOnce,
  presentList,
  queryLimit,
  queryValue,
  queryValues,
  readJson,
  requestFaults,
  requireKey,
} from './http.ts';
import { presentMethodResource, presentPayment, presentRequest, type SandboxInstrument } from './instrument.ts';
import { findInstrumentByMethod, findInstrumentByRequest, listInstruments, listPayments } from './instrument-store.ts';
import { payoutChannels, presentPayoutChannel, requirePayable } from './payout-channels.ts';
import { presentRefund, refundFateOf } from './refund.ts';
import { cancelRefund, createRefund, createRefundBody, findRefund, listRefunds } from './refunds.ts';
import { expireInstrument, payInstrument, upToDate } from './settle-instrument.ts';
import type { Store } from './store.ts';
import { fateOf, presentTransfer } from './transfer.ts';
import {
  cancelTransfer,
  createPayoutBody,
  createTransfer,
  findTransfer,
  listTransfers,
  readBalance,
} from './transfers.ts';
import { invalid, notFound, WireError } from './wire-error.ts';

const idempotencyKey = (ctx: Context): string | null => {
  const key = ctx.get('idempotency-key');
  if (key.length > 255) throw invalid('idempotency-key has at most 255 characters');
  return key === '' ? null : key;
};

function instant(ctx: Context, name: string): number | undefined {
  const text = queryValue(ctx, name);
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw invalid(`${name} is not a time`);
  return at;
}

const simulatePaymentBody = z.strictObject({ amount: z.number().positive().max(1e15).optional() });

export interface ProviderOptions {
  store: Store;
  secretKey: string;
  /** Called after any change that may have queued a callback or scheduled a step. */
  wake: () => void;
  silenceMs: number | undefined;
}

/** The provider's own paths, as the official SDK calls them. */
export function providerRoutes({ store, secretKey, wake, silenceMs }: ProviderOptions): Router {
  const router = new Router();
  const door: Middleware[] = [requireKey(secretKey), requestFaults(store)];
  const byMethod = (id: string): SandboxInstrument => {
    const found = findInstrumentByMethod(store, id);
    if (!found) throw notFound('payment method');
    return upToDate(store, found);
  };
  const byRequest = (id: string): SandboxInstrument => {
    const found = findInstrumentByRequest(store, id);
    if (!found) throw notFound('payment request');
    return upToDate(store, found);
  };

  router.post('/payment_requests', ...door, async (ctx) => {
    const body = await readJson(ctx, createPaymentRequestBody);
    const id = makeOnce(store, 'payment_requests', idempotencyKey(ctx), body, () => {
      return createInstrument(store, body, `${ctx.protocol}://${ctx.host}`).requestId;
    });
    wake();
    ctx.status = 201;
    ctx.body = presentRequest(byRequest(id));
  });

  router.get('/payment_requests', ...door, (ctx) => {
    const limit = queryLimit(ctx);
    const found = listInstruments(store, 'request', {
      ids: queryValues(ctx, 'id'),
      references: queryValues(ctx, 'reference_id'),
      afterId: queryValue(ctx, 'after_id'),
      limit,
    });
    ctx.body = presentList(found, limit, (instrument) => presentRequest(upToDate(store, instrument)));
  });

  router.get('/payment_requests/:id', ...door, (ctx) => {
    ctx.body = presentRequest(byRequest(ctx.params.id ?? ''));
  });

  router.post('/payment_requests/:id/payments/simulate', ...door, (ctx) => {
    payInstrument(store, byRequest(ctx.params.id ?? '').requestId);
    wake();
    ctx.body = { status: 'PENDING', message: 'Payment simulation is being processed' };
  });

  router.post('/v2/payment_methods', ...door, async (ctx) => {
    const made = createReusable(store, await readJson(ctx, createPaymentMethodBody));
    wake();
    ctx.status = 201;
    ctx.body = presentMethodResource(made);
  });

  router.get('/v2/payment_methods', ...door, (ctx) => {
    const limit = queryLimit(ctx);
    const found = listInstruments(store, 'method', {
      ids: queryValues(ctx, 'id'),
      references: queryValues(ctx, 'reference_id'),
      afterId: queryValue(ctx, 'after_id'),
      limit,
    });
    ctx.body = presentList(found, limit, (instrument) => presentMethodResource(upToDate(store, instrument)));
  });

  router.get('/v2/payment_methods/:id', ...door, (ctx) => {
    ctx.body = presentMethodResource(byMethod(ctx.params.id ?? ''));
  });

  router.get('/v2/payment_methods/:id/payments', ...door, (ctx) => {
    const instrument = byMethod(ctx.params.id ?? '');
    const limit = queryLimit(ctx);
    const listedUntil = Date.now() - readFaults(store).listing.lag_ms;
    const found = listPayments(store, instrument.methodId, {
      createdGte: instant(ctx, 'created[gte]'),
      createdLte: Math.min(instant(ctx, 'created[lte]') ?? listedUntil, listedUntil),
      limit,
    });
    ctx.body = presentList(found, limit, (payment) => presentPayment(instrument, payment));
  });

  router.post('/v2/payment_methods/:id/payments/simulate', ...door, async (ctx) => {
    const instrument = byMethod(ctx.params.id ?? '');
    const { amount } = await readJson(ctx, simulatePaymentBody);
    payInstrument(store, instrument.requestId, { amount });
    wake();
    ctx.body = { status: 'PENDING', message: 'Payment simulation is being processed' };
  });

  router.post('/v2/payment_methods/:id/expire', ...door, (ctx) => {
    const instrument = byMethod(ctx.params.id ?? '');
    if (instrument.methodStatus !== 'ACTIVE') {
      throw new WireError(400, 'INACTIVE_PAYMENT_METHOD', `the payment method is ${instrument.methodStatus}`);
    }
    const expired = expireInstrument(store, instrument.requestId);
    wake();
    ctx.body = presentMethodResource(expired);
  });

  router.post('/v2/payouts', ...door, async (ctx) => {
    const key = idempotencyKey(ctx);
    if (key === null) throw invalid('the header idempotency-key is required');
    const body = await readJson(ctx, createPayoutBody);
    const { account_number: accountNumber } = body.channel_properties;
    requirePayable(body.channel_code, accountNumber, body.amount);
    const fate = fateOf(accountNumber);
    if (fate.refused) throw new WireError(400, fate.refused, 'the destination does not accept this transfer');
    const isFirst = () => store.run('insert or ignore into lost_requests (key) values (?)', key) > 0;
    if (fate.silence === 'instead' || (fate.silence === 'at first' && isFirst()))
      return leaveUnanswered(ctx, silenceMs);
    const id = makeOnce(store, 'payouts', key, body, () => createTransfer(store, body, key).id);
    wake();
    if (fate.silence === 'after') return leaveUnanswered(ctx, silenceMs);
    const transfer = findTransfer(store, id);
    if (!transfer) throw notFound('payout');
    ctx.body = presentTransfer(transfer);
  });

  router.get('/v2/payouts', ...door, (ctx) => {
    const limit = queryLimit(ctx);
    const referenceId = queryValue(ctx, 'reference_id');
    if (referenceId === undefined) throw invalid('reference_id is required');
    const listedUntil = Date.now() - readFaults(store).listing.lag_ms;
    const found = listTransfers(store, { referenceId, afterId: queryValue(ctx, 'after_id'), limit }).filter(
      ({ created }) => Date.parse(created) <= listedUntil,
    );
    ctx.body = { ...presentList(found, limit, presentTransfer), links: {} };
  });

  router.post('/bank_account_data_requests', ...door, async (ctx) => {
    const account = findBankAccount(store, await readJson(ctx, bankAccountBody));
    if (account === null) return leaveUnanswered(ctx, silenceMs);
    ctx.body = account;
  });

  router.get('/payouts_channels', ...door, (ctx) => {
    const [category, code] = [queryValue(ctx, 'channel_category')?.split(','), queryValue(ctx, 'channel_code')];
    const currency = queryValue(ctx, 'currency') ?? 'IDR';
    ctx.body = payoutChannels
      .filter((channel) => currency === 'IDR' && (code ?? channel.code) === channel.code)
      .filter((channel) => category?.includes(channel.category) ?? true)
      .map(presentPayoutChannel);
  });

  router.get('/v2/payouts/:id', ...door, (ctx) => {
    const transfer = findTransfer(store, ctx.params.id ?? '');
    if (!transfer) throw notFound('payout');
    ctx.body = presentTransfer(transfer);
  });

  router.post('/v2/payouts/:id/cancel', ...door, (ctx) => {
    const transfer = cancelTransfer(store, ctx.params.id ?? '');
    wake();
    ctx.body = presentTransfer(transfer);
  });

  router.post('/refunds', ...door, async (ctx) => {
    const key = idempotencyKey(ctx);
    if (key === null) throw invalid('the header idempotency-key is required');
    const body = await readJson(ctx, createRefundBody);
    const fate = refundFateOf(body.amount);
    if (fate.refused) throw new WireError(400, fate.refused, 'the payment cannot be refunded');
    if (fate.silence === 'instead') return leaveUnanswered(ctx, silenceMs);
    const id = makeOnce(store, 'refunds', key, body, () => createRefund(store, body, key).id);
    wake();
    if (fate.silence === 'after') return leaveUnanswered(ctx, silenceMs);
    const refund = findRefund(store, id);
    if (!refund) throw notFound('refund');
    ctx.body = presentRefund(refund);
  });

  router.get('/refunds', ...door, (ctx) => {
    const limit = queryLimit(ctx);
    const listedUntil = Date.now() - readFaults(store).listing.lag_ms;
    const found = listRefunds(store, {
      requestId: queryValue(ctx, 'payment_request_id'),
      afterId: queryValue(ctx, 'after_id'),
      limit,
    }).filter(({ created }) => Date.parse(created) <= listedUntil);
    ctx.body = presentList(found, limit, presentRefund);
  });

  router.get('/refunds/:id', ...door, (ctx) => {
    const refund = findRefund(store, ctx.params.id ?? '');
    if (!refund) throw notFound('refund');
    ctx.body = presentRefund(refund);
  });

  router.post('/refunds/:id/cancel', ...door, (ctx) => {
    const refund = cancelRefund(store, ctx.params.id ?? '');
    wake();
    ctx.body = presentRefund(refund);
  });

  router.get('/balance', ...door, (ctx) => {
    const accountType = z.enum(['CASH', 'HOLDING', 'TAX']).default('CASH').safeParse(queryValue(ctx, 'account_type'));
    if (!accountType.success) throw invalid('account_type must be CASH, HOLDING or TAX');
    ctx.body = { balance: accountType.data === 'CASH' ? readBalance(store) : 0 };
  });

  return router;
}
