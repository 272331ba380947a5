import { openPartnerPayment } from '../../../src/money-in/collections/open-partner-payment.ts';
import { preparePartnerPayment } from '../../../src/money-in/collections/prepare-partner-payment.ts';
import { preparePayout } from '../../../src/money-out/payouts/prepare-payout.ts';
import { reservePayout } from '../../../src/money-out/payouts/reserve-payout.ts';
import { prepareRefund } from '../../../src/money-out/refunds/create-refund.ts';
import { reserveRefund } from '../../../src/money-out/refunds/reserve-refund.ts';
import type { Sealer } from '../../../src/platform/encryption/sealer.ts';
import { stampOpening } from '../../../src/platform/openings/idempotency-keys.ts';
import { budgets } from '../../../src/shared/budgets.ts';
import { newId } from '../../../src/shared/ids.ts';
import type { OpeningStamp } from '../../../src/shared/opening.ts';
import { buildPayer, payoutBody } from '../../money-out/payouts/build-payouts.ts';
import { loseKey, replaceKey, sealerElsewhere } from '../../support/lost-keys.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** A request whose encrypted parts cannot be read when its first activity runs, in a process that has cached no key. */
let stack: Stack;
let partner: BuiltPartner;
let paid: string;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  partner = await buildPayer(stack);
  const { body } = await partner.post('/payments', { method: 'virtual_account', channel: 'BCA', amount: '500000' });
  await stack.sandbox.post('/sandbox/pay', { payment_code: body.data.payment_code });
  paid = body.data.id;
  await eventually(
    async () => (await partner.get(`/payments/${paid}`)).body.data,
    (payment) => payment.status === 'succeeded',
  );
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());

interface Kind {
  kind: string;
  table: string;
  prepare(id: string, sealer: Sealer): Promise<object>;
  open(id: string, sealer: Sealer, opening: unknown): Promise<{ status: string }>;
}
const request = () => ({
  partnerId: partner.id,
  idempotency: { keyHash: newId(), fingerprint: newId() },
  requestId: newId(),
});
const kinds: Kind[] = [
  {
    kind: 'payout',
    table: 'payouts',
    prepare: (payoutId, sealer) =>
      preparePayout(stack.em(), sealer, { ...request(), payoutId, body: payoutBody({ amount: '50000' }) }),
    open: (payoutId, sealer, opening) => reservePayout(stack.em(), sealer, { payoutId, opening: opening as never }),
  },
  {
    kind: 'refund',
    table: 'payment_refunds',
    prepare: (refundId, sealer) =>
      prepareRefund(stack.em(), sealer, refundId, {
        ...request(),
        paymentId: paid,
        body: { ...payoutBody({ amount: '50000' }), reason: 'Returned' },
      }),
    open: (refundId, sealer, opening) => reserveRefund(stack.em(), sealer, { refundId, opening: opening as never }),
  },
  {
    kind: 'payment',
    table: 'partner_payments',
    prepare: (paymentId, sealer) =>
      preparePartnerPayment(stack.em(), sealer, {
        ...request(),
        paymentId,
        body: { method: 'qris', amount: '20000', customer_name: 'Budi Santoso' },
      }),
    open: (paymentId, sealer, opening) =>
      openPartnerPayment(stack.em(), sealer, {
        paymentId,
        opening: opening as never,
        at: new Date().toISOString(),
      }),
  },
];

/** Returns a request that is encrypted and stamped, and its first activity. */
async function ask({ table, prepare, open }: Kind) {
  const id = newId();
  const opening = await prepare(id, stack.deps.sealer);
  const stamp: OpeningStamp = await stampOpening(stack.em());
  return {
    id,
    open: (changes: Partial<OpeningStamp> = {}) =>
      open(id, sealerElsewhere(stack.deps), { ...opening, stamp: { ...stamp, ...changes } }),
    rows: async () => (await stack.em().execute(`select 1 from ${table} where id = ?`, [id])).length,
  };
}

describe.each(kinds)('A $kind whose encryption key was lost', (kind) => {
  it('An executed request whose encryption key was lost still returns its current state', async () => {
    const { id, open, rows } = await ask(kind);
    const opened = await open();
    await loseKey(stack, id);
    expect(await open()).toEqual(opened);
    expect(await rows()).toBe(1);
  });

  it('A request whose encryption key was lost before its execution is refused permanently', async () => {
    const { id, open, rows } = await ask(kind);
    const giveBack = await loseKey(stack, id);
    const refusal = { code: 'REQUEST_IDEMPOTENCY_KEY_REUSED' };
    await expect(open()).rejects.toMatchObject(refusal);
    await giveBack();
    await expect(open()).rejects.toMatchObject(refusal);
    expect(await rows()).toBe(0);
  });

  it('A request whose encryption key was replaced fails, and lapses after its lifetime', async () => {
    const { id, open, rows } = await ask(kind);
    await replaceKey(stack, id);
    await expect(open()).rejects.toMatchObject({ code: 'ERR_JWE_DECRYPTION_FAILED' });
    const askedAt = new Date(Date.now() - budgets.opening.lives - 5000).toISOString();
    await expect(open({ askedAt })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await rows()).toBe(0);
  });
});
