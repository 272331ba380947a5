import { asAKeyedClient } from '../../support/as-a-client.ts';
import { itInFull } from '../../support/full.ts';
import { type BuiltPartner, buildPartner, freshKey } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { generous, payoutBody, readBalance } from '../payouts/build-payouts.ts';
import { askRefund, buildPaid } from './build-refunds.ts';

const racers = isFullRun() ? 50 : 16;

let stack: Stack;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  partner = await buildPartner(stack, { limits: generous });
});

const untilAllHaveEnded = () =>
  eventually(
    () =>
      stack.em().execute<unknown[]>("select 1 from payouts where partner_id = ? and status = 'pending'", [partner.id]),
    (pending) => pending.length === 0,
    180_000,
  );
const made = (answers: { status: number }[]) => answers.filter(({ status }) => status === 200).length;

it(`Of ${racers} concurrent refunds of a tenth of one payment, exactly ten are sent`, async () => {
  const paymentId = await buildPaid(stack, partner, { amount: '100000' });
  await buildPaid(stack, partner, { amount: '1000000' });
  const answers = await Promise.all(
    Array.from({ length: racers }, () => {
      const key = freshKey();
      return asAKeyedClient(() => askRefund(partner, paymentId, { amount: '10000' }, key));
    }),
  );
  expect([made(answers), new Set(answers.map(({ status }) => status))]).toEqual([10, new Set([200, 422])]);
  await untilAllHaveEnded();
  expect((await readBalance(partner)).available).toBe('1000000.0000');
  expect((await partner.get(`/payments/${paymentId}/refunds`)).body.data.total).toBe(10);
}, 300_000);

itInFull(
  `${racers} concurrent refunds and payouts from one balance never exceed it`,
  async () => {
    const paymentId = await buildPaid(stack, partner, { amount: '100000' });
    const race = (ask: (key: string) => ReturnType<BuiltPartner['post']>) =>
      Promise.all(
        Array.from({ length: racers / 2 }, () => {
          const key = freshKey();
          return asAKeyedClient(() => ask(key));
        }),
      );
    const [refunds, payouts] = await Promise.all([
      race((key) => askRefund(partner, paymentId, { amount: '10000' }, key)),
      race((key) => partner.post('/payouts', payoutBody({ amount: '10000' }), key)),
    ]);
    expect(made(refunds) + made(payouts)).toBe(10);
    await untilAllHaveEnded();
    expect(await readBalance(partner)).toMatchObject({ available: '0.0000', pending: '0.0000' });
  },
  300_000,
);
