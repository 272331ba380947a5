import { buildCause } from '../causes/build-cause.ts';
import { buildConsentedCircle, buildMembers } from '../circles/build-circle.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildSuperAdmin,
} from '../support/build.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';

let stack: ProcessStack;
let causeId: string;
beforeAll(async () => {
  stack = await startProcessStack({ proxied: true });
  causeId = await buildCause(stack, await buildOrganizationAdmin(stack), await buildSuperAdmin(stack));
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop(), 60_000);

const buildPayer = () => buildIndividual(stack, { balance: '1000' });
const donate = ({ token, accountId }: BuiltUser) =>
  stack.post(
    '/v1/payments/balance',
    { reference_type: 'charitable_cause_donate', reference_id: causeId, source_account_id: accountId, amount: 100 },
    { token },
  );
const toPocket = async (payer: BuiltUser) => {
  const { body } = await stack.post('/v1/accounts', { name: 'Pocket' }, { token: payer.token });
  const transfer = { destination_account_id: body.data.id, amount: '100' };
  return () => stack.post(`/v1/accounts/${payer.accountId}/transfers`, transfer, { token: payer.token });
};
/** The first payment's connection is cut once its statement has gone out: nobody is told that it was committed. */
async function loseOneAnswer({ token }: BuiltUser, { text = 'pay_from_balance', awayMs = 0 } = {}): Promise<void> {
  const { database } = stack.lines.api;
  // Only a new connection is sent the text of a prepared statement. The API may first meet those that were cut.
  database.cut();
  await eventually(
    () => stack.get('/v1/transactions', { token }),
    ({ status }) => status === 200,
  );
  database.set({ kind: 'cut-after', text, once: true, awayMs });
}
const linesOf = async ({ token }: BuiltUser) => (await stack.get('/v1/transactions', { token })).body.data.count;

describe('A payment from a balance without a key whose commit was not answered', () => {
  it.each([
    ['donation', async (payer: BuiltUser) => () => donate(payer)],
    ['transfer', toPocket],
  ])(
    'is a %s made once, and says so',
    async (_, prepare) => {
      const payer = await buildPayer();
      const pay = await prepare(payer);
      await loseOneAnswer(payer);
      const { status, body } = await pay();
      expect([status, body.data]).toEqual([201, expect.objectContaining({ new_balance: '900.0000' })]);
      expect([await balanceOf(stack, payer.accountId), await linesOf(payer)]).toEqual(['900.0000', 1]);
      const { body: found } = await stack.get(`/v1/transactions/${body.data.transaction_id}`, { token: payer.token });
      expect(found.data.transaction).toMatchObject({ id: body.data.transaction_id, amount: '100.0000' });
    },
    120_000,
  );

  it('is made once, and says so, when the database restarts meanwhile', async () => {
    const payer = await buildPayer();
    await loseOneAnswer(payer, { awayMs: 1_200 });
    const { status, body } = await donate(payer);
    expect([status, body.data]).toEqual([201, expect.objectContaining({ new_balance: '900.0000' })]);
    expect([await balanceOf(stack, payer.accountId), await linesOf(payer)]).toEqual(['900.0000', 1]);
  }, 120_000);

  it('is a first contribution to a circle, of what was debited with its guarantee', async () => {
    const { id, creator } = await buildConsentedCircle(stack, await buildMembers(stack, 2), {
      terms: { guarantee_percent: 25 },
    });
    await loseOneAnswer(creator, { text: 'commit' });
    const { status, body } = await stack.post(
      '/v1/payments/balance',
      {
        reference_type: 'saving_circle_contribution',
        reference_id: id,
        source_account_id: creator.accountId,
        amount: 100_000,
      },
      { token: creator.token },
    );
    expect([status, body.data]).toEqual([
      201,
      expect.objectContaining({ amount: '125000.0000', new_balance: '875000.0000' }),
    ]);
    expect(await linesOf(creator)).toBe(1);
  }, 120_000);

  it('together with twenty others is made once, and so is each of them', async () => {
    const payers = await Promise.all(Array.from({ length: 20 }, buildPayer));
    await loseOneAnswer(payers[0] as BuiltUser);
    const answers = await Promise.all(payers.map(donate));
    expect(answers.map(({ status }) => status)).toEqual(payers.map(() => 201));
    for (const payer of payers) {
      expect([await balanceOf(stack, payer.accountId), await linesOf(payer)]).toEqual(['900.0000', 1]);
    }
  }, 120_000);
});
