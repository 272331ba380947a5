import { reconcileDay } from '../../src/reconciliation/reconcile-day.ts';
import { westernIndonesiaDay } from '../../src/shared/clock.ts';
import { newId } from '../../src/shared/ids.ts';
import { generous } from '../payouts/build-payouts.ts';
import { atProvider, buildPaid, refund, refundWhen, toBank } from '../refunds/build-refunds.ts';
import { atProvider as changeAtProvider } from '../support/at-provider.ts';
import { buildSuperAdmin } from '../support/build.ts';
import { type BuiltPartner, buildPartner } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { readDifferences } from './read-differences.ts';

let stack: Stack;
let partner: BuiltPartner;
let paymentId: string;
let token: string;
beforeAll(async () => {
  stack = await startStack({ own: true, worker: true, sandbox: true });
  partner = await buildPartner(stack, { limits: generous });
  ({ token } = await buildSuperAdmin(stack));
  paymentId = await buildPaid(stack, partner);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const today = westernIndonesiaDay(new Date());
const reconcile = () =>
  reconcileDay(
    stack.em(),
    { gateway: stack.deps.gateway, workflows: stack.deps.workflows, failed: () => undefined },
    { day: today, takenBy: newId() },
  );
const differences = async () => (await readDifferences(stack, token)).sort();

/** The provider forgets a refund, in its own file. */
const forget = (refundId: string) => changeAtProvider(stack, 'delete from refunds where reference_id = ?', [refundId]);

/** Refunds a part of the payment to its wallet, and waits for the end. */
async function refunded(amount: string, status: string): Promise<string> {
  const asked = await refund(partner, paymentId, { amount });
  await refundWhen(partner, asked, status);
  return asked.id;
}

it('Refunds of which both sides say the same are no differences: pending, made, failed, refused, and by transfer', async () => {
  const byAccount = await buildPaid(stack, partner, { method: 'virtual_account', channel: 'BCA', amount: '50000' });
  const byTransfer = await refund(partner, byAccount, { amount: '20000', ...toBank() });
  await refundWhen(partner, byTransfer, 'succeeded');
  await refunded('25000', 'succeeded');
  await refunded('999999', 'failed');
  await refunded('121212', 'failed');
  const pending = await refund(partner, paymentId, { amount: '131313' });
  await eventually(
    () => atProvider(stack, pending.id),
    ({ refunds }) => refunds.length === 1,
  );
  // Two payments, a transfer, and the three refunds that the provider took.
  expect(await reconcile()).toMatchObject({ compared: 6, differences: 0, open: 0 });
  expect(await differences()).toEqual([]);
}, 60_000);

it('A refund that the provider took back, does not know, or made for nobody here is a difference', async () => {
  const takenBack = await refunded('26000', 'succeeded');
  await stack.sandbox.post('/sandbox/refunds/settle', { reference_id: takenBack, status: 'FAILED' });
  const forgotten = await refunded('27000', 'succeeded');
  forget(forgotten);
  const [paid] = await stack
    .em()
    .execute<[{ refund_of: string }]>(
      'select provider_payment_request_id as refund_of from partner_payments where id = ?',
      [paymentId],
    );
  const foreign = { reference: newId(), refundOf: paid.refund_of, amount: '28000.0000' };
  await stack.deps.gateway.requestTransfer(foreign);
  await eventually(
    () => stack.deps.gateway.findTransfer(foreign.reference, foreign),
    (found) => found?.status === 'succeeded',
  );
  await reconcile();
  expect(await differences()).toEqual(
    [
      `payout | ${takenBack} | succeeded | failed`,
      `payout | ${forgotten} | succeeded | `,
      `payout | ${foreign.reference} |  | succeeded`,
    ].sort(),
  );
}, 60_000);
