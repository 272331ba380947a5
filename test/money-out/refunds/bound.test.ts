import type { EntityManager } from '@mikro-orm/postgresql';
import type { Payout } from '../../../src/money-out/payouts/payout.entity.ts';
import { payoutTextsPlace } from '../../../src/money-out/payouts/payout.ts';
import { readPayoutHeadroom } from '../../../src/money-out/payouts/payout-limits.ts';
import { reserveMoney, writePayout } from '../../../src/money-out/payouts/write-payout.ts';
import { readRefundable } from '../../../src/money-out/refunds/read-refundable.ts';
import { newId, payoutReferenceOf } from '../../../src/shared/ids.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { buildPaid } from './build-refunds.ts';

let stack: Stack;
let partner: BuiltPartner;
let paymentId: string;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  // Each test has its own partner, because the refund that one of them writes stays pending.
  partner = await buildPartner(stack);
  paymentId = await buildPaid(stack, partner, { amount: '100000' });
});

const unproven = { code: 'AM010' };

/** Writes a refund of IDR 60,000 of the payment's 100,000 without locking the partner, unlike every use case. */
async function write(tx: EntityManager): Promise<Payout> {
  const id = newId();
  const { availableAccountId, reservedAccountId, at } = await readPayoutHeadroom(tx, partner.id);
  const { provider_payment_request_id: refundOf } = await readRefundable(tx, { partnerId: partner.id, paymentId });
  const texts = { bank_account_number: '', beneficiary_name: null, external_ref: null, reason: 'Planted' };
  const payout = await writePayout(tx, {
    id,
    kind: 'payment_refund',
    sourceAccountId: availableAccountId,
    reservedAccountId,
    partnerId: partner.id,
    reference: payoutReferenceOf(id, 'payment_refund'),
    externalRef: null,
    feeMode: 'DEDUCTED',
    amount: '60000.0000',
    fee: '0.0000',
    net: '60000.0000',
    providerFee: '0.0000',
    bankCode: null,
    refundOf,
    textsSealed: await stack.deps.sealer.seal(payoutTextsPlace(id), JSON.stringify(texts)),
    requestId: newId(),
    at,
  });
  await tx.execute(
    'insert into payment_refunds (id, payment_id, created_at) select id, ?, created_at from payouts where id = ?',
    [paymentId, id],
  );
  return payout;
}

it('Two refunds written without locking the partner are serialized and never exceed the payment', async () => {
  await buildPaid(stack, partner, { amount: '100000' });
  const first = stack.em();
  await first.begin();
  await reserveMoney(first, await write(first), { actorId: null, data: {} });
  const second = stack
    .em()
    .transactional(write)
    .then(() => 'written')
    .catch(({ code }: { code?: string }) => code);
  await untilLocked(stack);
  await first.commit();
  expect(await second).toBe(unproven.code);
}, 60_000);

it('A refund cannot be written in a transaction whose snapshot may miss committed refunds', async () => {
  const em = stack.em();
  await em.begin();
  await em.execute('set transaction isolation level repeatable read');
  await expect(write(em)).rejects.toMatchObject(unproven);
  await em.rollback();
});
