import { receiptIdFor } from '../../../src/shared/ids.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../../support/build.ts';
import { buildOperators, decide } from '../../support/decide.ts';
import { itInFull } from '../../support/full.ts';
import { eventually } from '../../support/stack.ts';
import type { TimeSkippingStack } from '../../support/time-skipping.ts';

let stack: TimeSkippingStack;
let payer: BuiltUser;
/** An expired order that can still be paid at the provider. */
let order: { id: string; payment_code: string };

/** Drops callbacks and hides later payments from the provider's list. */
const hide = () => stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true }, listing: { lag_ms: 86_400_000 } });
const list = () => stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });

async function expiredOrder(): Promise<{ id: string; payment_code: string }> {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 75_000 };
  const answer = await stack.post('/v1/payments/gateway', body, { token: payer.token });
  const { payment_order_id: id, payment_code } = answer.body.data;
  expect(await stack.time.client.workflow.getHandle(`gateway-payment/${id}`).result()).toBe('EXPIRED');
  return { id, payment_code };
}

interface Stray {
  receiptId: string;
  provider: string;
  providerPaymentId: string;
  providerPaymentMethodId: string;
}
async function payLate({ payment_code }: { payment_code: string }): Promise<Stray> {
  const { body } = await stack.sandbox.post('/sandbox/pay', { payment_code });
  return {
    receiptId: receiptIdFor(body.id),
    provider: 'xendit',
    providerPaymentId: body.id,
    providerPaymentMethodId: body.payment_method.id,
  };
}

const open = (stray: Stray) => stack.deps.workflows.openUnmatchedReceipt(stray);
const caseOf = ({ receiptId }: Stray) => stack.time.client.workflow.getHandle(`unmatched-receipt/${receiptId}`);
const stateOf = async ({ receiptId }: Stray) =>
  (await stack.em().execute<{ state: string }[]>('select state from receipts where id = ?', [receiptId]))[0]?.state;
const becomes = (stray: Stray, wanted: string) =>
  eventually(
    () => stateOf(stray),
    (state) => state === wanted,
  );

/** Declares the tests of late money, which span days, on a stack that the caller starts and stops. */
export function describeLateMoney(place: () => TimeSkippingStack): void {
  beforeAll(async () => {
    stack = place();
    payer = await buildIndividual(stack);
    order = await expiredOrder();
  }, 90_000);
  beforeEach(() => hide());
  afterAll(() => stack.sandbox.put('/sandbox/faults', {}));

  describe('Late money that the provider does not list yet', () => {
    it('Late money that the provider lists only hours later goes to suspense without another callback', async () => {
      const stray = await payLate(order);
      await open(stray);
      await stack.time.sleep('5 hours');
      expect(await stateOf(stray)).toBeUndefined();
      expect((await caseOf(stray).describe()).status.name).toBe('RUNNING');
      await list();
      await stack.time.sleep('2 hours');
      await becomes(stray, 'suspended');
    }, 60_000);

    it('A case of unlisted late money ends as unconfirmed, and can be reopened once it is listed', async () => {
      const stray = await payLate(order);
      await open(stray);
      expect(await caseOf(stray).result()).toBe('unconfirmed');
      await list();
      await open(stray);
      await becomes(stray, 'suspended');
    }, 60_000);

    itInFull(
      'Late money whose case became unconfirmed goes to suspense after a callback for its final order',
      async () => {
        const stray = await payLate(order);
        await open(stray);
        expect(await caseOf(stray).result()).toBe('unconfirmed');
        await list();
        await stack.deps.workflows.hintGatewayPayment(order.id);
        await becomes(stray, 'suspended');
      },
      60_000,
    );
  });

  describe('A settled case of late money', () => {
    it('A settled case of late money that is started again completes without moving the money twice', async () => {
      await list();
      const stray = await payLate(order);
      await open(stray);
      await becomes(stray, 'suspended');
      const before = Number(await balanceOf(stack, payer.accountId));
      const { receiptId } = stray;
      const credit = { kind: 'settle_receipt', receipt_id: receiptId, action: 'credit', account_id: payer.accountId };
      expect(await decide(stack, await buildOperators(stack), credit)).toMatchObject({ status: 'carried_out' });
      expect(await caseOf(stray).result()).toBe('credited');
      const { runId } = await caseOf(stray).describe();
      await open(stray);
      expect(await caseOf(stray).result()).toBe('credited');
      expect((await caseOf(stray).describe()).runId).not.toBe(runId);
      expect(Number(await balanceOf(stack, payer.accountId)) - before).toBe(79_000);
    }, 60_000);
  });
}
