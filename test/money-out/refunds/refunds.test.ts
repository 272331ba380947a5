import { newId } from '../../../src/shared/ids.ts';
import { itInFull } from '../../support/full.ts';
import { type BuiltPartner, buildPartner, freshKey } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { generous, readBalance, setFaults, settleAtProvider } from '../payouts/build-payouts.ts';
import { askRefund, atProvider, buildPaid, refund, refundWhen, toBank } from './build-refunds.ts';

let stack: Stack;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  partner = await buildPartner(stack, {
    limits: generous,
    fees: [{ method: 'ewallet', fixed: '1500', basis_points: 0 }],
  });
});
afterEach(() => setFaults(stack, {}));

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const available = async () => (await readBalance(partner)).available;
const errorOf = ({ status, body }: { status: number; body: { error: { code: string } } }) => [status, body.error?.code];
const agePayment = (id: string, days: number) =>
  withoutTriggers(stack, 'update partner_payments set finalized_at = now() - make_interval(days => ?) where id = ?', [
    days,
    id,
  ]);

describe('A refund to the wallet that paid', () => {
  it('A wallet refund pays the full amount to the wallet, and the partner’s fee is retained', async () => {
    const paymentId = await buildPaid(stack, partner, { external_ref: 'INV-7' });
    // The first payment added its amount less the fee of 1,500: only with a second one can it be refunded in full.
    await buildPaid(stack, partner, { amount: '100000' });
    const { status, body, headers } = await askRefund(partner, paymentId);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        data: {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          payment_id: paymentId,
          reference: expect.stringMatching(/^RF-[0-9A-F]{20}$/),
          status: 'pending',
          is_final: false,
          amount: '2000000.0000',
          currency: 'IDR',
          reason: 'Returned goods',
          bank_code: null,
          bank_account_number: null,
          beneficiary_name: null,
          failure_code: null,
          metadata: null,
          booked_at: null,
          created_at: expect.stringMatching(timestamp),
          finalized_at: null,
          status_url: `/v1/partners/payments/${paymentId}/refunds/${body.data?.id}`,
        },
        request_id: headers.get('x-request-id'),
      },
    });
    const { status_url: _, ...created } = body.data;
    const ended = await refundWhen(partner, created, 'succeeded');
    expect(ended).toEqual({
      ...created,
      status: 'succeeded',
      is_final: true,
      finalized_at: expect.stringMatching(timestamp),
    });
    const told = await partner.get(`/payments/${paymentId}/refunds/${created.id}/timeline`);
    const texts = told.body.data.items.map(({ text }: { text: string }) => text);
    expect(texts).toContain('The provider was asked to return the money to the wallet that paid.');
    expect(texts.join(' ')).not.toContain('transfer');
    expect(await atProvider(stack, created.id)).toMatchObject({
      refunds: [{ status: 'SUCCEEDED', amount: 2_000_000, idempotency_key: created.id, channel_code: 'DANA' }],
      transfers: [],
    });
    expect(await readBalance(partner)).toMatchObject({ available: '97000.0000', pending: '0.0000' });
    const list = await partner.get(`/payments/${paymentId}/refunds`);
    expect(list.body.data).toEqual({ items: [ended], page: 1, limit: 50, total: 1 });
    expect((await partner.get(`/payments/${paymentId}/refunds?after=${ended.id}`)).body.data.items).toEqual([]);
    const elsewhere = await partner.get(`/payments/${paymentId}/refunds?after=${paymentId}`);
    expect(errorOf(elsewhere)).toEqual([400, 'REQUEST_INVALID_PAYLOAD']);
    const { data: payment } = (await partner.get(`/payments/${paymentId}`)).body;
    expect(payment).toMatchObject({ status: 'succeeded', refunded_amount: '2000000.0000' });
    const payments = (await partner.get('/payments')).body.data.items;
    expect(payments.map((one: { refunded_amount: string }) => one.refunded_amount)).toEqual(['0.0000', '2000000.0000']);
    expect(payments[1]).toEqual(payment);
  });

  itInFull('Wallet refunds together never exceed the payment, and one without an amount refunds the rest', async () => {
    const paymentId = await buildPaid(stack, partner);
    await buildPaid(stack, partner, { amount: '100000' });
    const first = await refund(partner, paymentId, { amount: '500000' });
    const tooMuch = await askRefund(partner, paymentId, { amount: '1500001' });
    expect([errorOf(tooMuch), tooMuch.body.error.details]).toEqual([
      [422, 'FUNDS_REFUND_EXCEEDED'],
      { paid: '2000000.0000', refunded: '500000.0000', remaining: '1500000.0000' },
    ]);
    const rest = await refund(partner, paymentId);
    expect(rest.amount).toBe('1500000.0000');
    for (const each of [first, rest]) await refundWhen(partner, each, 'succeeded');
    expect(errorOf(await askRefund(partner, paymentId))).toEqual([422, 'FUNDS_REFUND_EXCEEDED']);
    expect(errorOf(await askRefund(partner, paymentId, { amount: '1' }))).toEqual([422, 'FUNDS_REFUND_EXCEEDED']);
    expect(await available()).toBe('97000.0000');
  });

  it('A wallet refund refused (121212) or failed (999999) by the provider releases its money', async () => {
    const paymentId = await buildPaid(stack, partner);
    for (const [amount, code] of [
      ['121212', 'INELIGIBLE_TRANSACTION'],
      ['999999', 'REFUND_FAILED'],
    ]) {
      const refused = await refund(partner, paymentId, { amount });
      expect(await refundWhen(partner, refused, 'failed')).toMatchObject({ is_final: true, failure_code: code });
    }
    expect(await available()).toBe('1998500.0000');
    const refundedOf = async () => (await partner.get(`/payments/${paymentId}`)).body.data.refunded_amount;
    expect(await refundedOf()).toBe('0.0000');
    expect((await refund(partner, paymentId, { amount: '1998500' })).status).toBe('pending');
    expect(await refundedOf()).toBe('1998500.0000');
  });

  itInFull(
    'A wallet refund that stays pending (131313) keeps its money reserved until the outcome is known',
    async () => {
      const paymentId = await buildPaid(stack, partner);
      const late = await refund(partner, paymentId, { amount: '131313' });
      await eventually(
        () => atProvider(stack, late.id),
        ({ refunds }) => refunds.length === 1,
      );
      expect(await readBalance(partner)).toMatchObject({ available: '1867187.0000', pending: '131313.0000' });
      await stack.sandbox.post('/sandbox/refunds/settle', { reference_id: late.id, status: 'FAILED' });
      expect(await refundWhen(partner, late, 'failed')).toMatchObject({ failure_code: 'REFUND_FAILED' });
      const another = await refund(partner, paymentId, { amount: '131313' });
      await eventually(
        () => atProvider(stack, another.id),
        ({ refunds }) => refunds.length === 1,
      );
      await stack.sandbox.post('/sandbox/refunds/settle', { reference_id: another.id, status: 'SUCCEEDED' });
      await refundWhen(partner, another, 'succeeded');
    },
  );

  itInFull(
    'A wallet refund whose response was lost (900003) succeeds and exists once at the provider',
    async () => {
      const paymentId = await buildPaid(stack, partner);
      const lost = await refund(partner, paymentId, { amount: '900003' });
      await refundWhen(partner, lost, 'succeeded', 60_000);
      expect((await atProvider(stack, lost.id)).refunds).toHaveLength(1);
    },
    90_000,
  );
});

describe('A refund by transfer', () => {
  it('A payment by virtual account is refunded by transfer to the named bank account', async () => {
    const paymentId = await buildPaid(stack, partner, { method: 'virtual_account', channel: 'BCA', amount: '50000' });
    const asked = await refund(partner, paymentId, { amount: '20000', ...toBank() });
    expect(asked).toMatchObject(toBank());
    await refundWhen(partner, asked, 'succeeded');
    expect(await atProvider(stack, asked.id)).toMatchObject({
      refunds: [],
      transfers: [{ status: 'SUCCEEDED', amount: 20_000, idempotency_key: asked.id }],
    });
    const { items } = (await partner.get(`/payments/${paymentId}/timeline`)).body.data;
    expect(items.map(({ text }: { text: string }) => text)).toEqual(
      expect.arrayContaining([
        `A refund of IDR 20000.0000 was requested (${asked.reference}).`,
        `IDR 20000.0000 was refunded (${asked.reference}).`,
      ]),
    );
  });

  it('A refund after the wallet’s window, or of part of a LinkAja payment, requires a bank account', async () => {
    const dana = await buildPaid(stack, partner);
    const linkAja = await buildPaid(stack, partner, { channel: 'LINKAJA', amount: '60000' });
    await agePayment(dana, 31);
    for (const id of [dana, linkAja]) {
      const refused = await askRefund(partner, id, { amount: '20000' });
      expect([errorOf(refused), refused.body.error.details[0].field]).toEqual([
        [400, 'REQUEST_INVALID_PAYLOAD'],
        'bank_code',
      ]);
      const asked = await refund(partner, id, { amount: '20000', ...toBank() });
      await refundWhen(partner, asked, 'succeeded');
      expect((await atProvider(stack, asked.id)).transfers).toHaveLength(1);
    }
  });

  itInFull('A full refund of a LinkAja payment goes to the wallet', async () => {
    // Its fee is retained, so the refund needs money of another payment, too.
    await buildPaid(stack, partner);
    const whole = await buildPaid(stack, partner, { channel: 'LINKAJA', amount: '30000' });
    const back = await refund(partner, whole);
    await refundWhen(partner, back, 'succeeded');
    expect((await atProvider(stack, back.id)).refunds).toHaveLength(1);
  });

  itInFull('After a declined wallet refund, the next one goes to the named bank account, if any', async () => {
    const paymentId = await buildPaid(stack, partner);
    for (const amount of ['121212', '999999']) {
      const declined = await refund(partner, paymentId, { amount });
      await refundWhen(partner, declined, 'failed');
    }
    const asked = await refund(partner, paymentId, { amount: '121212', ...toBank() });
    expect(asked).toMatchObject(toBank());
    await refundWhen(partner, asked, 'succeeded');
    expect(await atProvider(stack, asked.id)).toMatchObject({ refunds: [], transfers: [{ amount: 121_212 }] });
    const halfNamed = await askRefund(partner, paymentId, { amount: '20000', bank_account_number: '123' });
    expect([halfNamed.status, halfNamed.body.error.details?.[0]?.field]).toEqual([400, 'bank_code']);
    const again = await refund(partner, paymentId, { amount: '20000' });
    await refundWhen(partner, again, 'succeeded');
    expect(await atProvider(stack, again.id)).toMatchObject({ refunds: [{ amount: 20_000 }], transfers: [] });
  });

  it('A wallet payment is refunded to the wallet even if the request names a bank account', async () => {
    const asked = await refund(partner, await buildPaid(stack, partner), { amount: '20000', ...toBank() });
    expect(asked).toMatchObject({ bank_code: null, bank_account_number: null, beneficiary_name: null });
    await refundWhen(partner, asked, 'succeeded');
    expect(await atProvider(stack, asked.id)).toMatchObject({ refunds: [{ amount: 20_000 }], transfers: [] });
  });

  itInFull('After a failed wallet refund that was paid after all, the next refund goes to the wallet', async () => {
    const contradicted = await buildPaid(stack, partner);
    const failed = await refund(partner, contradicted, { amount: '999999' });
    await refundWhen(partner, failed, 'failed');
    await stack.sandbox.post('/sandbox/refunds/settle', { reference_id: failed.id, status: 'SUCCEEDED' });
    await eventually(
      () => stack.em().execute<{ last_word: string }[]>('select last_word from payouts where id = ?', [failed.id]),
      ([row]) => row?.last_word === 'succeeded',
    );
    await refundWhen(partner, await refund(partner, contradicted, { amount: '121212' }), 'failed');
    const asked = await refund(partner, contradicted, { amount: '20000', ...toBank() });
    expect(asked).toMatchObject({ bank_code: null, bank_account_number: null });
    await refundWhen(partner, asked, 'succeeded');
  });

  it('While payouts are disabled, a refund by transfer is refused and a wallet refund succeeds', async () => {
    const byTransfer = await buildPaid(stack, partner, { method: 'virtual_account', channel: 'BCA', amount: '50000' });
    const byWallet = await buildPaid(stack, partner);
    await partner.administer('patch', '', { payouts_enabled: false });
    expect(errorOf(await askRefund(partner, byTransfer, { amount: '20000', ...toBank() }))).toEqual([
      422,
      'FUNDS_PAYOUT_SUSPENDED',
    ]);
    await refundWhen(partner, await refund(partner, byWallet, { amount: '20000' }), 'succeeded');
  });

  it('A refund by transfer counts toward all three payout limits, and a wallet refund toward none', async () => {
    const limits = { max_payout_amount: '30000', max_daily_amount: '30000', max_hourly_count: 10 };
    const limited = await buildPartner(stack, { limits });
    const byTransfer = await buildPaid(stack, limited, { method: 'virtual_account', channel: 'BCA', amount: '200000' });
    const byWallet = await buildPaid(stack, limited);
    const exceeds = async (amount: string) =>
      expect(errorOf(await askRefund(limited, byTransfer, { amount, ...toBank() }))).toEqual([
        422,
        'FUNDS_LIMIT_EXCEEDED',
      ]);
    await exceeds('30001');
    await refundWhen(limited, await refund(limited, byTransfer, { amount: '20000', ...toBank() }), 'succeeded');
    await exceeds('10001');
    await limited.administer('patch', '', { max_daily_amount: '1000000', max_hourly_count: 1 });
    await exceeds('10001');
    await refundWhen(limited, await refund(limited, byWallet, { amount: '200000' }), 'succeeded');
  });

  it('A refund by transfer that the bank returns fails, and its amount can be refunded again', async () => {
    const paymentId = await buildPaid(stack, partner, { method: 'qris', channel: undefined, amount: '50000' });
    const asked = await refund(partner, paymentId, toBank());
    await refundWhen(partner, asked, 'succeeded');
    await settleAtProvider(stack, asked.id, 'REVERSED');
    const returned = await refundWhen(partner, asked, 'failed', 60_000);
    expect(returned).toMatchObject({ is_final: true, failure_code: 'RETURNED_BY_BANK' });
    const [row] = await stack
      .em()
      .execute<{ succeeded_at: Date | null }[]>('select succeeded_at from payouts where id = ?', [asked.id]);
    expect(row?.succeeded_at).not.toBeNull();
    expect(await available()).toBe('50000.0000');
    await refundWhen(partner, await refund(partner, paymentId, toBank()), 'succeeded');
  }, 90_000);
});

describe('Refused refunds', () => {
  it('A refund is refused for an unpaid (409) or missing payment (404) or a low balance (422)', async () => {
    const { body } = await partner.post('/payments', { method: 'ewallet', channel: 'DANA', amount: '20000' });
    expect(errorOf(await askRefund(partner, body.data.id))).toEqual([409, 'PAYMENT_NOT_PAID']);
    const paymentId = await buildPaid(stack, partner);
    const key = freshKey();
    expect(errorOf(await askRefund(partner, paymentId, {}, key))).toEqual([422, 'FUNDS_INSUFFICIENT_BALANCE']);
    await buildPaid(stack, partner, { amount: '100000' });
    expect((await askRefund(partner, paymentId, {}, key)).status).toBe(200);
    const other = await buildPartner(stack, { limits: generous });
    expect(errorOf(await askRefund(other, paymentId))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    expect(errorOf(await other.get(`/payments/${paymentId}/refunds`))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    expect(errorOf(await askRefund(partner, newId()))).toEqual([404, 'RESOURCE_NOT_FOUND']);
  });

  it('A refund with a fraction of a rupiah, zero, no reason or an unknown field is refused', async () => {
    const paymentId = await buildPaid(stack, partner);
    for (const [fields, field] of [
      [{ amount: '100.5' }, 'amount'],
      [{ amount: '0' }, 'amount'],
      [{ reason: undefined }, 'reason'],
      [{ note: 'x' }, 'note'],
    ] as const) {
      const refused = await askRefund(partner, paymentId, fields);
      expect([errorOf(refused), JSON.stringify(refused.body.error.details)]).toEqual([
        [400, 'REQUEST_INVALID_PAYLOAD'],
        expect.stringContaining(field),
      ]);
    }
  });

  it('A refund by transfer is refused for an invalid bank account or below the minimum amount', async () => {
    const paymentId = await buildPaid(stack, partner, { method: 'virtual_account', channel: 'BCA', amount: '50000' });
    for (const [fields, field] of [
      [{ ...toBank(), bank_code: 'NOBANK' }, 'bank_code'],
      [{ ...toBank(), bank_account_number: '12' }, 'bank_account_number'],
      [{ amount: '20000', bank_account_number: '123' }, 'bank_code'],
      [{ ...toBank(), amount: '9999' }, 'amount'],
    ] as const) {
      const refused = await askRefund(partner, paymentId, fields);
      expect([refused.status, refused.body.error.details?.[0]?.field]).toEqual([400, field]);
    }
  });

  it('A refund without the permission or without an idempotency key is refused', async () => {
    const paymentId = await buildPaid(stack, partner);
    const reader = await buildPartner(stack, { permissions: ['read-gateway'] });
    expect(errorOf(await askRefund(reader, paymentId))).toEqual([403, 'AUTH_PERMISSION_DENIED']);
    const keyless = await partner.post(`/payments/${paymentId}/refunds`, { reason: 'x' }, null);
    expect(errorOf(keyless)).toEqual([400, 'REQUEST_IDEMPOTENCY_KEY_REQUIRED']);
  });
});

describe('Refunds with the same idempotency key', () => {
  it('Concurrent refunds with one idempotency key create one refund; another body is refused', async () => {
    const paymentId = await buildPaid(stack, partner);
    const key = freshKey();
    const [first, ...others] = await Promise.all(
      Array.from({ length: 5 }, () => askRefund(partner, paymentId, { amount: '1000' }, key)),
    );
    for (const other of others) expect(other.body).toEqual(first?.body);
    expect(errorOf(await askRefund(partner, paymentId, { amount: '2000' }, key))).toEqual([
      409,
      'REQUEST_IDEMPOTENCY_KEY_REUSED',
    ]);
    expect((await partner.get(`/payments/${paymentId}/refunds`)).body.data.total).toBe(1);
  });
});

describe('A refund', () => {
  it('A wallet refund is not shown as a payout and does not count toward payout limits', async () => {
    const paymentId = await buildPaid(stack, partner);
    const asked = await refund(partner, paymentId, { amount: '1000' });
    expect((await partner.get('/payouts')).body.data.total).toBe(0);
    expect(errorOf(await partner.get(`/payouts/${asked.id}`))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    await partner.administer('put', '/limits', {
      max_payout_amount: '1000',
      max_daily_amount: '1000',
      max_hourly_count: 1,
    });
    expect((await partner.get('/limits')).body.data).toMatchObject({
      max_daily_amount: { used: '0.0000' },
      max_hourly_count: { used: 0 },
    });
  });

  it('A refund appears in the daily settlement with the external_ref of its payment', async () => {
    const paymentId = await buildPaid(stack, partner, { external_ref: 'INV-9' });
    const asked = await refund(partner, paymentId, { amount: '1000' });
    await refundWhen(partner, asked, 'succeeded');
    const day = new Date(Date.now() + 7 * 3_600_000).toISOString().slice(0, 10);
    const { totals, lines } = (await partner.get(`/settlements/${day}`)).body.data;
    expect(totals.refunds).toMatchObject({ count: 1, amount: '1000.0000' });
    expect(lines).toContainEqual(
      expect.objectContaining({ group: 'refunds', resource_id: asked.id, external_ref: 'INV-9', amount: '1000.0000' }),
    );
  });
});
