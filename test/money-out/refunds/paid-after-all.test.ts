import { fund } from '../../support/build.ts';
import { buildOperators, decide, propose } from '../../support/decide.ts';
import { itInFull } from '../../support/full.ts';
import type { HttpAnswer } from '../../support/http.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { loseWorkflow } from '../../support/lose-workflow.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { recountTallies } from '../../support/recount-tallies.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { ageAttempts, generous, readBalance, setFaults, settleAtProvider } from '../payouts/build-payouts.ts';
import { askRefund, atProvider, buildPaid, readRefund, refund, refundWhen, toBank } from './build-refunds.ts';

/** Refunds that failed here and that the provider has paid after all, or may have paid. */
let stack: ProcessStack;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startProcessStack({ env: { PAYOUT_RESEND_HOURS: '0' } });
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());
beforeEach(async () => {
  partner = await buildPartner(stack, { limits: generous });
  await fund(stack, partner.account.available, '10000000');
});
afterEach(async () => {
  stack.arm('');
  await setFaults(stack, {});
});

const saidOf = (id: string, word: string) =>
  eventually(
    () => stack.em().execute<{ last_word: string }[]>('select last_word from payouts where id = ?', [id]),
    ([row]) => row?.last_word === word,
    60_000,
  );
const makeAfterAll = (id: string) =>
  stack.sandbox.post('/sandbox/refunds/settle', { reference_id: id, status: 'SUCCEEDED' });

/** A refund to the wallet, in full by default, that failed and that the provider paid after all. */
async function buildMadeAfterAll(paymentId: string, amount?: string) {
  const failed = await refund(partner, paymentId, amount === undefined ? {} : { amount });
  expect(failed.bank_code).toBeNull();
  await refundWhen(partner, failed, 'failed', 60_000);
  await makeAfterAll(failed.id);
  await saidOf(failed.id, 'succeeded');
  return failed;
}

/** A refund to the wallet, in full by default, whose outcome is unknown, and that two people have settled. */
async function buildEndedByPeople(paymentId: string, amount?: string) {
  const lost = await refund(partner, paymentId, amount === undefined ? {} : { amount });
  await eventually(
    () => stack.em().execute<unknown[]>('select 1 from payouts where id = ? and unknown_since is not null', [lost.id]),
    (rows) => rows.length === 1,
    60_000,
  );
  await ageAttempts(stack, lost.id, 3);
  const settling = { kind: 'settle_payout', payout_id: lost.id, outcome: 'failed' };
  expect(await decide(stack, await buildOperators(stack), settling)).toMatchObject({ status: 'carried_out' });
  expect(await readRefund(partner, lost)).toMatchObject({ status: 'failed', failure_code: 'SETTLED_BY_OPERATOR' });
}

function expectExceeded({ status, body }: HttpAnswer, remaining: string): void {
  expect({ status, body }).toMatchObject({
    status: 422,
    body: { error: { code: 'FUNDS_REFUND_EXCEEDED', details: { remaining } } },
  });
}

describe('A failed refund that was paid after all', () => {
  itInFull(
    'A LinkAja refund that was paid after all is not repeated in part by transfer',
    async () => {
      const paymentId = await buildPaid(stack, partner, { channel: 'LINKAJA', amount: '999999' });
      await buildMadeAfterAll(paymentId);
      expectExceeded(await askRefund(partner, paymentId, { amount: '999998', ...toBank() }), '0.0000');
    },
    120_000,
  );

  itInFull(
    'A wallet refund paid after all is not repeated by transfer after the wallet’s refund window',
    async () => {
      const paymentId = await buildPaid(stack, partner, { amount: '999999' });
      await buildMadeAfterAll(paymentId);
      const longAgo = 'update partner_payments set finalized_at = now() - make_interval(days => 31) where id = ?';
      await withoutTriggers(stack, longAgo, [paymentId]);
      expectExceeded(await askRefund(partner, paymentId, toBank()), '0.0000');
    },
    120_000,
  );

  itInFull(
    'A transfer refund that was paid after all is not repeated by transfer',
    async () => {
      const paymentId = await buildPaid(stack, partner, { method: 'virtual_account', channel: 'BCA', amount: '50000' });
      const first = await refund(partner, paymentId, toBank('999999'));
      await refundWhen(partner, first, 'failed', 60_000);
      await settleAtProvider(stack, first.id, 'SUCCEEDED');
      await saidOf(first.id, 'succeeded');
      expectExceeded(await askRefund(partner, paymentId, toBank()), '0.0000');
    },
    120_000,
  );

  it('A transfer refund that was paid after all is not repeated to the wallet', async () => {
    const paymentId = await buildPaid(stack, partner);
    await refundWhen(partner, await refund(partner, paymentId, { amount: '121212' }), 'failed', 60_000);
    const first = await refund(partner, paymentId, { amount: '1500000', ...toBank('999999') });
    expect(first.bank_code).toBe('BRI');
    await refundWhen(partner, first, 'failed', 60_000);
    await settleAtProvider(stack, first.id, 'SUCCEEDED');
    await saidOf(first.id, 'succeeded');
    expectExceeded(await askRefund(partner, paymentId, { amount: '2000000' }), '500000.0000');
    const rest = await refund(partner, paymentId);
    expect(rest.amount).toBe('500000.0000');
    await refundWhen(partner, rest, 'succeeded', 60_000);
    const booking = { kind: 'book_transfer', payout_id: first.id };
    expect(await decide(stack, await buildOperators(stack), booking)).toMatchObject({ status: 'carried_out' });
    const { items } = (await partner.get(`/payments/${paymentId}/timeline`)).body.data;
    expect(items.map(({ text }: { text: string }) => text).join()).toContain('was paid after all');
  }, 120_000);

  itInFull(
    'A refund waiting for the partner’s lock is refused if an earlier one was paid after all',
    async () => {
      const paymentId = await buildPaid(stack, partner);
      const first = await refund(partner, paymentId, { amount: '999999' });
      await refundWhen(partner, first, 'failed', 60_000);
      const asking: Promise<HttpAnswer>[] = [];
      await stack.owner().transactional(async (tx) => {
        await tx.execute('select 1 from partners where id = ? for no key update', [partner.id]);
        asking.push(askRefund(partner, paymentId, { amount: '2000000', ...toBank() }));
        await untilLocked(stack, { text: 'for no key update of p' });
        await makeAfterAll(first.id);
        await saidOf(first.id, 'succeeded');
      });
      for (const answer of await Promise.all(asking)) expectExceeded(answer, '1000001.0000');
    },
    120_000,
  );

  it('A reserved refund not sent yet fails once an earlier failed refund turns out to be paid', async () => {
    const paymentId = await buildPaid(stack, partner);
    const first = await refund(partner, paymentId, { amount: '999999' });
    await refundWhen(partner, first, 'failed', 60_000);
    stack.arm('send-transfer.before=hold');
    const next = await refund(partner, paymentId, { amount: '2000000', ...toBank() });
    await makeAfterAll(first.id);
    await saidOf(first.id, 'succeeded');
    stack.arm('');
    expect(await refundWhen(partner, next, 'failed', 60_000)).toMatchObject({ failure_code: 'ALREADY_REFUNDED' });
    expect(await atProvider(stack, next.id)).toMatchObject({ transfers: [] });
    expectExceeded(await askRefund(partner, paymentId, { amount: '1000002', ...toBank() }), '1000001.0000');
  }, 120_000);

  itInFull(
    'Of two waiting refunds the later fails once a failed refund turns out to have been paid',
    async () => {
      const paymentId = await buildPaid(stack, partner);
      const first = await refund(partner, paymentId, { amount: '999999' });
      await refundWhen(partner, first, 'failed', 60_000);
      stack.arm('send-transfer.before=hold');
      const earlier = await refund(partner, paymentId, { amount: '1000000', ...toBank() });
      const later = await refund(partner, paymentId, { amount: '1000000', ...toBank() });
      await makeAfterAll(first.id);
      await saidOf(first.id, 'succeeded');
      stack.arm('');
      expect(await refundWhen(partner, later, 'failed', 60_000)).toMatchObject({ failure_code: 'ALREADY_REFUNDED' });
      await refundWhen(partner, earlier, 'succeeded', 60_000);
    },
    120_000,
  );

  it('The refundable amount is never negative, even if a failed refund was paid after all', async () => {
    const paymentId = await buildPaid(stack, partner);
    const first = await refund(partner, paymentId, { amount: '999999' });
    await refundWhen(partner, first, 'failed', 60_000);
    await refundWhen(partner, await refund(partner, paymentId, toBank()), 'succeeded', 60_000).catch(() => undefined);
    await makeAfterAll(first.id);
    await saidOf(first.id, 'succeeded');
    expectExceeded(await askRefund(partner, paymentId, toBank()), '0.0000');
    const { body } = await partner.get(`/payments/${paymentId}`);
    expect(body.data.refunded_amount).toBe('2000000.0000');
  }, 120_000);

  itInFull(
    'An unsent wallet refund fails once an earlier refund turns out to have been paid',
    async () => {
      const paymentId = await buildPaid(stack, partner);
      await refundWhen(partner, await refund(partner, paymentId, { amount: '121212' }), 'failed', 60_000);
      const first = await refund(partner, paymentId, { amount: '1500000', ...toBank('999999') });
      await refundWhen(partner, first, 'failed', 60_000);
      stack.arm('send-transfer.before=hold');
      const next = await refund(partner, paymentId, { amount: '2000000' });
      expect(next.bank_code).toBeNull();
      await settleAtProvider(stack, first.id, 'SUCCEEDED');
      await saidOf(first.id, 'succeeded');
      stack.arm('');
      expect(await refundWhen(partner, next, 'failed', 60_000)).toMatchObject({ failure_code: 'ALREADY_REFUNDED' });
      expect((await refund(partner, paymentId, { amount: '500000', ...toBank() })).bank_code).toBe('BRI');
    },
    120_000,
  );
});

describe('A refund above the paid amount whose request a restore has lost', () => {
  /**
   * Two refunds: one by transfer that the bank has but whose attempt is lost; one to the wallet that was paid after
   * all.
   */
  async function buildForgotten() {
    const paymentId = await buildPaid(stack, partner);
    const first = await refund(partner, paymentId, { amount: '999999' });
    await refundWhen(partner, first, 'failed', 60_000);
    const forgotten = await refund(partner, paymentId, toBank('131313'));
    await saidOf(forgotten.id, 'accepted');
    await loseWorkflow(stack.deps.workflows.client, `payment-refund/${forgotten.id}`);
    await withoutTriggers(stack, 'delete from payout_attempts where payout_id = ?', [forgotten.id]);
    await withoutTriggers(
      stack,
      `update payouts set last_word = null, last_word_at = null, provider_transfer_id = null, asked_at = null,
         created_at = now() - interval '5 minutes', look_again_at = now() + interval '1 hour' where id = ?`,
      [forgotten.id],
    );
    await recountTallies(stack);
    await makeAfterAll(first.id);
    await saidOf(first.id, 'succeeded');
    return forgotten;
  }
  const asksOf = async (id: string) =>
    Number((await stack.em().execute<{ asks: number }[]>('select asks from payouts where id = ?', [id]))[0]?.asks);

  it('An excess refund whose request was lost in a restore waits for the bank and takes its outcome', async () => {
    const forgotten = await buildForgotten();
    await setFaults(stack, { requests: { error_rate: 1 } });
    const asked = await asksOf(forgotten.id);
    await stack.deps.workflows.hintPayout({ id: forgotten.id, kind: 'payment_refund' });
    await eventually(
      () => asksOf(forgotten.id),
      (asks) => asks > asked,
      60_000,
    );
    expect(await readRefund(partner, forgotten)).toMatchObject({ status: 'pending' });
    await settleAtProvider(stack, forgotten.id, 'FAILED');
    await setFaults(stack, {});
    await stack.deps.workflows.hintPayout({ id: forgotten.id, kind: 'payment_refund' });
    expect((await refundWhen(partner, forgotten, 'failed', 120_000)).failure_code).not.toBe('ALREADY_REFUNDED');
    expect((await atProvider(stack, forgotten.id)).transfers).toHaveLength(1);
  }, 240_000);
});

describe('Money that may have reached the wallet', () => {
  itInFull(
    'A refund settled while unknown is repeated to a wallet that refunds whole payments only',
    async () => {
      const paymentId = await buildPaid(stack, partner, { channel: 'LINKAJA', amount: '900004' });
      await buildEndedByPeople(paymentId);
      // The provider has no such refund, so it no longer counts: the whole payment is refunded to the wallet.
      expect(await refund(partner, paymentId, toBank())).toMatchObject({ amount: '900004.0000', bank_code: null });
    },
    120_000,
  );

  it('A refund refused because of one made in the provider’s dashboard is not sent by transfer', async () => {
    const paymentId = await buildPaid(stack, partner, { amount: '500000' });
    const [payment] = await stack
      .em()
      .execute<{ id: string }[]>('select provider_payment_request_id as id from partner_payments where id = ?', [
        paymentId,
      ]);
    const made = await fetch(`${stack.sandbox.url}/refunds`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${stack.env.XENDIT_SECRET_KEY}:`).toString('base64')}`,
        'content-type': 'application/json',
        'idempotency-key': 'dashboard-1',
      },
      body: JSON.stringify({
        payment_request_id: payment?.id,
        reference_id: 'dashboard-1',
        amount: 500_000,
        currency: 'IDR',
        reason: 'OTHERS',
      }),
    });
    expect(made.status).toBeLessThan(300);
    const operators = await buildOperators(stack);
    stack.arm('resolve-payout.before=hold');
    const first = await refund(partner, paymentId);
    await saidOf(first.id, 'refused');
    const proposed = await propose(stack, operators, { kind: 'settle_payout', payout_id: first.id, outcome: 'failed' });
    expect(proposed).toMatchObject({ status: 201, body: { data: { status: 'carried_out' } } });
    stack.arm('');
    expect(await refundWhen(partner, first, 'failed', 60_000)).toMatchObject({ failure_code: 'SETTLED_BY_OPERATOR' });
    const next = await refund(partner, paymentId, toBank());
    expect(next.bank_code).toBeNull();
    expect(await refundWhen(partner, next, 'failed', 60_000)).toMatchObject({
      failure_code: 'MAXIMUM_REFUND_AMOUNT_REACHED',
    });
  }, 120_000);

  itInFull(
    'A refund settled while unknown can be repeated in full by transfer after the wallet’s window',
    async () => {
      const paymentId = await buildPaid(stack, partner);
      await buildEndedByPeople(paymentId, '900004');
      const longAgo = 'update partner_payments set finalized_at = now() - make_interval(days => 31) where id = ?';
      await withoutTriggers(stack, longAgo, [paymentId]);
      expect(await refund(partner, paymentId, toBank())).toMatchObject({ amount: '2000000.0000', bank_code: 'BRI' });
    },
    120_000,
  );
});

itInFull(
  'A wallet refund with an unknown outcome (900004) is stuck until two people settle it',
  async () => {
    const paymentId = await buildPaid(stack, partner);
    const { available } = await readBalance(partner);
    const lost = await refund(partner, paymentId, { amount: '900004' });
    await eventually(
      () =>
        stack.em().execute<unknown[]>('select 1 from payouts where id = ? and unknown_since is not null', [lost.id]),
      (rows) => rows.length === 1,
      60_000,
    );
    const operators = await buildOperators(stack);
    const { items } = (await stack.get('/v1/payouts/stuck?minutes=0&limit=100', { token: operators.proposer.token }))
      .body.data;
    expect(items).toContainEqual(expect.objectContaining({ payout_id: lost.id, kind: 'payment_refund' }));
    const told = await partner.get(`/payments/${paymentId}/refunds/${lost.id}/timeline`);
    const texts = told.body.data.items.map(({ text }: { text: string }) => text).join('\n');
    expect(texts).toContain('A refund of IDR 900004.0000 to the wallet that paid was requested (RF-');
    expect(texts).toContain('The outcome is unknown');
    await ageAttempts(stack, lost.id, 3);
    const settling = { kind: 'settle_payout', payout_id: lost.id, outcome: 'failed' };
    expect(await decide(stack, operators, settling)).toMatchObject({ status: 'carried_out' });
    expect(await readRefund(partner, lost)).toMatchObject({ status: 'failed', failure_code: 'SETTLED_BY_OPERATOR' });
    expect((await readBalance(partner)).available).toBe(available);
    // Operators settled it as failed, not the provider: the wallet may have been paid.
    await refundWhen(partner, await refund(partner, paymentId, { amount: '121212' }), 'failed', 60_000);
    const next = await refund(partner, paymentId, { amount: '1000', ...toBank() });
    expect(next.bank_code).toBeNull();
  },
  120_000,
);
