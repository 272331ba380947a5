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

const make = (key = freshKey()) =>
  eventually(
    () => partner.post('/instruments', { method: 'virtual_account', channel: 'BCA' }, key).catch(() => null),
    (answer) => answer?.status === 200,
    120_000,
  );

it('An instrument whose worker is killed with SIGKILL is created once and records each payment once', async () => {
  const { id, payment_code } = must(await make(), 'the instrument was created').body.data;
  const amounts = [20_000, 30_000, 40_000];
  await stack.holdAt('collect-instrument-payments.taken', async () => {
    for (const amount of amounts) await stack.sandbox.post('/sandbox/pay', { payment_code, amount });
  });
  const made: ReturnType<typeof make>[] = [];
  for (const point of ['obtain-payment-code.after', 'open-partner-instrument.after']) {
    await stack.holdAt(point, () => made.push(make()));
  }
  await stack.kill('worker');
  await stack.restart();
  for (const answer of await Promise.all(made)) {
    const { body } = await stack.sandbox.get('/sandbox/records');
    const { id: madeId } = must(answer, 'the instrument was created').body.data;
    const atProvider = body.instruments.filter(({ reference_id }: { reference_id: string }) => reference_id === madeId);
    expect(atProvider).toHaveLength(1);
  }
  const payments = await eventually(
    async () => (await partner.get(`/payments?instrument_id=${id}`)).body.data.items,
    (items) => items.length === amounts.length,
    120_000,
  );
  expect(payments.map(({ amount }: { amount: string }) => Number(amount)).sort()).toEqual(amounts);
  expect((await partner.get('/balance')).body.data.available).toBe('90000.0000');
}, 300_000);
