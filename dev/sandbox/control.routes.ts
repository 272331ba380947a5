import { Router } from '@koa/router';
import { z } from 'zod';
import { advanceClock } from './advance-clock.ts';
import { heldAccountBody, holdBankAccount } from './bank-accounts.ts';
import { costsSchema, moveOwnMoney, readCosts, writeCosts } from './costs.ts';
import { faultsSchema, readFaults, writeFaults } from './faults.ts';
import { queryValue, readBytes, readJson } from './http.ts';
import { presentPayment, presentRequest, type SandboxInstrument } from './instrument.ts';
import { findInstrumentByCode, listInstruments, listPayments } from './instrument-store.ts';
import { presentRefund } from './refund.ts';
import { listRefunds, refundSettlement, settleRefunds } from './refunds.ts';
import {
  declineInstrument,
  expireInstrument,
  payInstrument,
  type Settled,
  settlePayment,
  upToDate,
} from './settle-instrument.ts';
import type { Store } from './store.ts';
import { presentTransfer } from './transfer.ts';
import { listTransfers, readBalance, settlement, settleTransfers } from './transfers.ts';
import { invalid, notFound } from './wire-error.ts';

const everything = 1_000_000;
const keptWebhooks = 10_000;
const longestWebhookList = 1_000;

const paymentCode = z.string().min(1).max(2_000);
const payBody = z.strictObject({
  payment_code: paymentCode,
  amount: z.number().positive().max(1e15).optional(),
  status: z.enum(['SUCCEEDED', 'PENDING']).optional(),
});
const settlePaymentBody = z.strictObject({ payment_id: z.string().min(1), status: z.enum(['SUCCEEDED', 'FAILED']) });
const codeBody = z.strictObject({ payment_code: paymentCode });
const settleBody = z.strictObject({
  reference_id: z.string().min(1),
  status: settlement,
});
const settleRefundBody = z.strictObject({ reference_id: z.string().min(1), status: refundSettlement });
const balanceBody = z.strictObject({ amount: z.number().int().min(-1e12).max(1e12) });
/** How far to advance the clock. */
export const advanceBody = z.strictObject({
  seconds: z
    .number()
    .int()
    .min(1)
    .max(366 * 86_400),
});
const callbacksBody = z.strictObject({ url: z.url({ protocol: /^https?$/ }) });

/** Returned by every advance of the clock, for callers who wait for something that it does not move. */
const notMoved =
  "The caller's clock with its deadlines, settlement delays and retries; and anything created from now on.";

const presentSettled = ({ instrument, payment }: Settled) => ({
  ...presentPayment(instrument, payment),
  payment_request_status: instrument.status,
});

export interface ControlOptions {
  store: Store;
  wake: () => void;
  setCallbackUrl: (url: string) => void;
}

/** The routes that control the sandbox: `/sandbox/*` (docs/sandbox.md), beside the provider's own paths. */
export function controlRoutes({ store, wake, setCallbackUrl }: ControlOptions): Router {
  const router = new Router({ prefix: '/sandbox' });
  const byCode = (code: string): SandboxInstrument => {
    const found = findInstrumentByCode(store, code);
    if (!found) throw notFound('payment code');
    return found;
  };

  router.post('/pay', async (ctx) => {
    const { payment_code, amount, status } = await readJson(ctx, payBody);
    const settled = payInstrument(store, byCode(payment_code).requestId, { amount, status });
    wake();
    ctx.body = presentSettled(settled);
  });

  router.post('/forget-keys', (ctx) => {
    store.run('delete from idempotency');
    ctx.status = 204;
  });

  router.post('/payments/settle', async (ctx) => {
    const { payment_id, status } = await readJson(ctx, settlePaymentBody);
    const settled = settlePayment(store, payment_id, status);
    if (settled === null) throw notFound('pending payment');
    wake();
    ctx.body = presentSettled(settled);
  });

  router.post('/decline', async (ctx) => {
    const { payment_code } = await readJson(ctx, codeBody);
    const settled = declineInstrument(store, byCode(payment_code).requestId);
    wake();
    ctx.body = presentSettled(settled);
  });

  router.post('/expire', async (ctx) => {
    const { payment_code } = await readJson(ctx, codeBody);
    const expired = expireInstrument(store, byCode(payment_code).requestId);
    wake();
    ctx.body = presentRequest(expired);
  });

  router.post('/payouts/settle', async (ctx) => {
    const { reference_id, status } = await readJson(ctx, settleBody);
    const settled = settleTransfers(store, reference_id, status);
    if (settled.length === 0) throw notFound('payout');
    wake();
    ctx.body = { data: settled.map(presentTransfer) };
  });

  router.post('/refunds/settle', async (ctx) => {
    const { reference_id, status } = await readJson(ctx, settleRefundBody);
    const settled = settleRefunds(store, reference_id, status);
    if (settled.length === 0) throw notFound('refund');
    wake();
    ctx.body = { data: settled.map(presentRefund) };
  });

  router.post('/clock/advance', async (ctx) => {
    const { seconds } = await readJson(ctx, advanceBody);
    const moved = advanceClock(store, seconds * 1000);
    wake();
    ctx.body = { seconds, moved, not_moved: notMoved };
  });

  router.get('/faults', (ctx) => {
    ctx.body = readFaults(store);
  });

  router.put('/faults', async (ctx) => {
    writeFaults(store, await readJson(ctx, faultsSchema));
    ctx.body = readFaults(store);
  });

  router.put('/costs', async (ctx) => {
    writeCosts(store, await readJson(ctx, costsSchema));
    ctx.body = readCosts(store);
  });

  router.post('/balance', async (ctx) => {
    moveOwnMoney(store, (await readJson(ctx, balanceBody)).amount);
    ctx.body = { balance: readBalance(store) };
  });

  router.put('/bank-accounts', async (ctx) => {
    const account = await readJson(ctx, heldAccountBody);
    holdBankAccount(store, account);
    ctx.body = account;
  });

  router.get('/records', (ctx) => {
    const reference = queryValue(ctx, 'reference_id');
    const filter = { references: reference === undefined ? [] : [reference], limit: everything };
    const instruments = listInstruments(store, 'request', filter).map((instrument) => upToDate(store, instrument));
    const transfers = listTransfers(store, { referenceId: reference, limit: everything });
    ctx.body = {
      payments: instruments.map((instrument) => ({
        id: instrument.requestId,
        reference_id: instrument.referenceId,
        payment_method_id: instrument.methodId,
        type: instrument.type,
        channel_code: instrument.channelCode,
        amount: instrument.amount,
        status: instrument.status,
        failure_code: instrument.failureCode,
        payment_code: instrument.paymentCode,
        expires_at: instrument.expiresAt,
        created: instrument.created,
        updated: instrument.updated,
        payments: listPayments(store, instrument.methodId, { limit: everything }),
      })),
      instruments: listInstruments(store, 'method', filter)
        .filter(({ isReusable }) => isReusable)
        .map((instrument) => ({
          id: instrument.methodId,
          reference_id: instrument.referenceId,
          payment_code: instrument.paymentCode,
          amount: instrument.amount || null,
          status: instrument.methodStatus,
          payments: listPayments(store, instrument.methodId, { limit: everything }),
        })),
      transfers: transfers.map((transfer) => ({
        ...presentTransfer(transfer),
        idempotency_key: transfer.idempotencyKey,
      })),
      refunds: listRefunds(store, { referenceId: reference, limit: everything }).map((refund) => ({
        ...presentRefund(refund),
        idempotency_key: refund.idempotencyKey,
      })),
    };
  });

  /** A webhook endpoint for partners without their own: stores every body unchanged. */
  router.post('/webhooks', async (ctx) => {
    const bytes = await readBytes(ctx);
    store.transaction(() => {
      store.run(
        'insert into webhooks (received_at, headers, body) values (?, ?, ?)',
        new Date().toISOString(),
        JSON.stringify(ctx.headers),
        bytes,
      );
      store.run('delete from webhooks where seq <= (select max(seq) from webhooks) - ?', keptWebhooks);
    });
    ctx.body = { received: true };
  });

  /** Oldest first; `?after=<seq>` continues, `?contains=<text>` filters by the body. */
  router.get('/webhooks', (ctx) => {
    const after = Number(queryValue(ctx, 'after') ?? 0);
    if (!Number.isSafeInteger(after)) throw invalid('after is the seq of the last webhook seen');
    const rows = store.all(
      `select seq, received_at, headers, body from webhooks
       where seq > ? and instr(body, cast(? as blob)) > 0 order by seq limit ?`,
      after,
      queryValue(ctx, 'contains') ?? '',
      longestWebhookList,
    );
    ctx.body = {
      webhooks: rows.map((row) => ({
        seq: Number(row.seq),
        received_at: String(row.received_at),
        headers: JSON.parse(String(row.headers)),
        body: row.body instanceof Uint8Array ? Buffer.from(row.body).toString('utf8') : String(row.body),
      })),
    };
  });

  /** Redirects the callbacks, for callers who learn their own address after the sandbox has started. */
  router.put('/callbacks', async (ctx) => {
    const { url } = await readJson(ctx, callbacksBody);
    setCallbackUrl(url);
    wake();
    ctx.body = { url };
  });

  return router;
}
