import { Router } from '@koa/router';
import type { Context } from 'koa';
import { toString as drawQr } from 'qrcode';
import { z } from 'zod';
import { advanceClock } from './advance-clock.ts';
import { heldAccountBody, holdBankAccount } from './bank-accounts.ts';
import { advanceBody } from './control.routes.ts';
import { faultsIn, renderControls } from './controls-page.ts';
import { renderCheckout, renderRefund, renderTransfer } from './detail-pages.ts';
import { faultsSchema, readFaults, writeFaults } from './faults.ts';
import { queryValue, readBytes } from './http.ts';
import type { SandboxInstrument } from './instrument.ts';
import {
  findInstrumentByCode,
  findInstrumentByRequest,
  listInstrumentsForPage,
  listPayments,
} from './instrument-store.ts';
import { renderList } from './list-page.ts';
import { renderMessage } from './page.ts';
import { findRefund, listRefundsForPage, refundSettlement, settleRefunds } from './refunds.ts';
import { declineInstrument, expireInstrument, payInstrument, upToDate } from './settle-instrument.ts';
import type { Store } from './store.ts';
import { findTransfer, listTransfersForPage, settlement, settleTransfers } from './transfers.ts';

const shownOpen = 50;
const shownEnded = 10;
const shownPayments = 20;
const shownTransfers = 20;

const form = z.object({
  action: z.enum(['pay', 'decline', 'expire']),
  amount: z.coerce.number().positive().max(1e15).optional(),
});

function answer(ctx: Context, html: string, status = 200): void {
  ctx.status = status;
  ctx.type = 'html';
  ctx.set(
    'content-security-policy',
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  );
  ctx.set('cache-control', 'no-store');
  ctx.body = html;
}

const fieldsOf = async (ctx: Context): Promise<URLSearchParams> =>
  new URLSearchParams((await readBytes(ctx)).toString('utf8'));

function seeOther(ctx: Context, path: string): void {
  ctx.status = 303;
  ctx.redirect(path);
}

export interface PageOptions {
  store: Store;
  wake: () => void;
}

/** The page where a person plays the payer. */
export function pageRoutes({ store, wake }: PageOptions): Router {
  const router = new Router();
  const present = (found: SandboxInstrument | null) => (found ? upToDate(store, found) : null);
  const checkout = async (ctx: Context, instrument: SandboxInstrument, notice?: string, status?: number) => {
    const qr = instrument.type === 'QR_CODE' ? await drawQr(instrument.paymentCode, { type: 'svg', margin: 2 }) : null;
    const payments = listPayments(store, instrument.methodId, { limit: shownPayments });
    answer(ctx, renderCheckout({ instrument, payments, qr, notice }), status);
  };

  router.get('/', (ctx) => {
    const code = queryValue(ctx, 'code')?.trim();
    if (code) {
      const found = findInstrumentByCode(store, code);
      if (found) return ctx.redirect(`/checkout/${found.requestId}`);
    }
    const open = listInstrumentsForPage(store, 'open', shownOpen);
    open.rows = open.rows.map((instrument) => upToDate(store, instrument));
    const notice = code ? 'The sandbox has not issued this number, code or link' : undefined;
    const ended = listInstrumentsForPage(store, 'ended', shownEnded);
    const transfers = listTransfersForPage(store, shownTransfers);
    const refunds = listRefundsForPage(store, shownTransfers);
    answer(ctx, renderList({ open, ended, transfers, refunds, notice }), code ? 404 : 200);
  });

  router.get('/checkout/:id', async (ctx) => {
    const instrument = present(findInstrumentByRequest(store, ctx.params.id ?? ''));
    if (!instrument) return answer(ctx, renderMessage('The payment was not found'), 404);
    await checkout(ctx, instrument);
  });

  router.post('/checkout/:id', async (ctx) => {
    const instrument = present(findInstrumentByRequest(store, ctx.params.id ?? ''));
    if (!instrument) return answer(ctx, renderMessage('The payment was not found'), 404);
    const fields = await fieldsOf(ctx);
    const read = form.safeParse({ action: fields.get('action'), amount: fields.get('amount') || undefined });
    if (!read.success) return checkout(ctx, instrument, 'The amount must be above zero', 400);
    const { action, amount } = read.data;
    if (action === 'pay') payInstrument(store, instrument.requestId, { amount });
    if (action === 'decline') declineInstrument(store, instrument.requestId);
    if (action === 'expire') expireInstrument(store, instrument.requestId);
    wake();
    seeOther(ctx, `/checkout/${instrument.requestId}`);
  });

  router.get('/payouts/:id', (ctx) => {
    const transfer = findTransfer(store, ctx.params.id ?? '');
    if (!transfer) return answer(ctx, renderMessage('The payout was not found'), 404);
    answer(ctx, renderTransfer(transfer));
  });

  router.post('/payouts/:id', async (ctx) => {
    const transfer = findTransfer(store, ctx.params.id ?? '');
    if (!transfer) return answer(ctx, renderMessage('The payout was not found'), 404);
    const fields = await fieldsOf(ctx);
    const status = settlement.safeParse(fields.get('status'));
    if (!status.success) return answer(ctx, renderTransfer(transfer), 400);
    settleTransfers(store, transfer.referenceId, status.data);
    wake();
    seeOther(ctx, `/payouts/${transfer.id}`);
  });

  router.get('/refunds/:id/by-hand', (ctx) => {
    const refund = findRefund(store, ctx.params.id ?? '');
    if (!refund) return answer(ctx, renderMessage('The refund was not found'), 404);
    answer(ctx, renderRefund(refund));
  });

  router.post('/refunds/:id/by-hand', async (ctx) => {
    const refund = findRefund(store, ctx.params.id ?? '');
    if (!refund) return answer(ctx, renderMessage('The refund was not found'), 404);
    const status = refundSettlement.safeParse((await fieldsOf(ctx)).get('status'));
    if (!status.success) return answer(ctx, renderRefund(refund), 400);
    settleRefunds(store, refund.referenceId, status.data);
    wake();
    seeOther(ctx, `/refunds/${refund.id}/by-hand`);
  });

  router.get('/controls', (ctx) => answer(ctx, renderControls(readFaults(store))));

  router.post('/controls/clock', async (ctx) => {
    const read = advanceBody.safeParse({ seconds: Number((await fieldsOf(ctx)).get('seconds')) });
    if (!read.success)
      return answer(ctx, renderControls(readFaults(store), 'Seconds must be a whole number, at most a year'), 400);
    advanceClock(store, read.data.seconds * 1000);
    wake();
    seeOther(ctx, '/');
  });

  router.post('/controls/bank-accounts', async (ctx) => {
    const { holder, ...account } = Object.fromEntries(await fieldsOf(ctx));
    const read = heldAccountBody.safeParse({ ...account, holder: holder || null });
    if (!read.success)
      return answer(ctx, renderControls(readFaults(store), 'The account number must have 5 to 20 digits'), 400);
    holdBankAccount(store, read.data);
    seeOther(ctx, '/controls');
  });

  router.post('/controls/faults', async (ctx) => {
    const read = faultsSchema.safeParse(faultsIn(await fieldsOf(ctx)));
    if (!read.success) {
      const [issue] = read.error.issues;
      return answer(ctx, renderControls(readFaults(store), `${issue?.path.join(' ')}: ${issue?.message}`), 400);
    }
    writeFaults(store, read.data);
    seeOther(ctx, '/controls');
  });

  return router;
}
