import { must } from '../../../src/shared/assert.ts';
import { type BuiltPartner, buildPartner, freshKey } from '../../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';

let stack: ProcessStack;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startProcessStack();
  partner = await buildPartner(stack);
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

it('An instrument whose worker is killed with -9 is made once, and each payment to it is taken once', async () => {
  const key = freshKey();
  const make = () =>
    eventually(
      () => partner.post('/instruments', { method: 'virtual_account', channel: 'BCA' }, key).catch(() => null),
      (answer) => answer?.status === 200,
      120_000,
    );
  let made: ReturnType<typeof make> | undefined;
  for (const failpoint of ['open-partner-instrument.after=kill', 'obtain-payment-code.after=kill']) {
    stack.arm(failpoint);
    const dying = stack.worker.exited;
    made ??= make();
    await dying;
    await stack.restart();
  }
  const { id, payment_code } = must(await made, 'it was made').body.data;
  const { body } = await stack.sandbox.get('/sandbox/records');
  expect(body.instruments.filter((made: { reference_id: string }) => made.reference_id === id)).toHaveLength(1);

  stack.arm('collect-instrument-payments.taken=kill');
  const dying = stack.worker.exited;
  const amounts = [20_000, 30_000, 40_000];
  for (const amount of amounts) await stack.sandbox.post('/sandbox/pay', { payment_code, amount });
  await dying;
  await stack.restart();
  const payments = await eventually(
    async () => (await partner.get(`/payments?instrument_id=${id}`)).body.data.items,
    (items) => items.length === amounts.length,
    120_000,
  );
  expect(payments.map(({ amount }: { amount: string }) => Number(amount)).sort()).toEqual(amounts);
  expect((await partner.get('/balance')).body.data.available).toBe('90000.0000');
}, 300_000);
