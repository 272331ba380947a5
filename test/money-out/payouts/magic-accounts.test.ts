import { casesOf, itInFull } from '../../support/full.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import {
  ageAttempts,
  buildPayer,
  magicAccount,
  pay,
  payoutWhen,
  readBalance,
  readPayout,
  setFaults,
  settleAtProvider,
  transfersOf,
} from './build-payouts.ts';

let stack: Stack;
let partner: BuiltPartner;
/** Payouts that take until the provider call times out; they start before the others. */
let unanswered: Record<
  '900003' | '900004' | '900005',
  { partner: BuiltPartner; payout: { id: string; reference: string } }
>;
let sending: { next: object };
const buildWithFee = () => buildPayer(stack, { fees: [{ method: 'payout', fixed: '2500', basis_points: 0 }] });
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  const begin = async (digits: string) => {
    partner = await buildWithFee();
    return { partner, payout: await to(digits) };
  };
  // The first request gets a 429.
  await setFaults(stack, { requests: { limit_rate: 1 } });
  const last = await begin('900005');
  await eventually(
    () => stack.em().execute('select last_word from payouts where id = ?', [last.payout.id]),
    ([row]) => row?.last_word === 'unsent',
  );
  await setFaults(stack, {});
  unanswered = { 900003: await begin('900003'), 900004: await begin('900004'), 900005: last };
  sending = (await partner.get(`/payouts/${unanswered['900004'].payout.id}/timeline`)).body.data;
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  partner = await buildWithFee();
});

const to = (lastDigits: string) => pay(partner, { bank_account_number: magicAccount(lastDigits) });
const returned = { balance: '1000000.0000', available: '1000000.0000', pending: '0.0000' };
const reserved = { balance: '1000000.0000', available: '900000.0000', pending: '100000.0000' };
const spent = { balance: '900000.0000', available: '900000.0000', pending: '0.0000' };

describe('A payout to a sandbox account', () => {
  it('A payout sends one transfer of its net amount, with the payout’s id as idempotency key', async () => {
    const payout = await to('111111');
    const ended = await payoutWhen(partner, payout.id, 'succeeded');
    expect(ended).toMatchObject({ is_final: true, finalized_at: expect.any(String), net_amount: '97500.0000' });
    expect(await readBalance(partner)).toMatchObject(spent);
    expect(await transfersOf(stack, payout.id)).toMatchObject([
      { idempotency_key: payout.id, amount: 97_500, status: 'SUCCEEDED' },
    ]);
  });

  it('A payout to 121212 fails with INVALID_DESTINATION, without a transfer, and releases all money', async () => {
    const payout = await to('121212');
    expect(await payoutWhen(partner, payout.id, 'failed')).toMatchObject({ failure_code: 'INVALID_DESTINATION' });
    expect(await readBalance(partner)).toMatchObject(returned);
    expect(await transfersOf(stack, payout.id)).toEqual([]);
  });

  const failing = [
    ['999999', 'REJECTED_BY_CHANNEL'],
    ['123456', 'TEMPORARY_TRANSFER_ERROR'],
  ] as const;
  it.each(casesOf(failing))(
    'A payout to %s is accepted, then fails with %s and releases all money',
    async (digits, failure_code) => {
      const payout = await to(digits);
      expect(await payoutWhen(partner, payout.id, 'failed')).toMatchObject({
        failure_code,
        is_final: true,
        succeeded_at: null,
      });
      expect(await readBalance(partner)).toMatchObject(returned);
      expect(await transfersOf(stack, payout.id)).toMatchObject([{ status: 'FAILED' }]);
    },
  );

  itInFull('A payout to 131313 stays pending with the money reserved until the provider completes it', async () => {
    const payout = await to('131313');
    await eventually(
      () => transfersOf(stack, payout.id),
      (transfers) => transfers.length === 1,
    );
    expect(await readPayout(partner, payout.id)).toMatchObject({ status: 'pending', is_final: false });
    expect(await readBalance(partner)).toMatchObject(reserved);
    await settleAtProvider(stack, payout.id, 'SUCCEEDED');
    await payoutWhen(partner, payout.id, 'succeeded');
    expect(await readBalance(partner)).toMatchObject(spent);
  });

  it('A payout to 654321 succeeds and is reversed: the net amount is returned, the fee is retained', async () => {
    const payout = await to('654321');
    // If it was reversed before the first query, both are booked at once.
    const { is_final, succeeded_at, finalized_at } = await payoutWhen(partner, payout.id, 'reversed');
    expect(is_final).toBe(true);
    expect(Date.parse(succeeded_at)).toBeLessThanOrEqual(Date.parse(finalized_at));
    expect(await readBalance(partner)).toMatchObject({ balance: '997500.0000', available: '997500.0000' });
  });

  it('A payout to 900003 succeeds with one transfer although the response was lost', async () => {
    const { payout } = unanswered['900003'];
    partner = unanswered['900003'].partner;
    await payoutWhen(partner, payout.id, 'succeeded');
    expect(await transfersOf(stack, payout.id)).toHaveLength(1);
    expect(await readBalance(partner)).toMatchObject(spent);
  });

  it('A payout to 900004 stays pending and reserved with an unknown outcome and no transfer', async () => {
    const { payout } = unanswered['900004'];
    partner = unanswered['900004'].partner;
    const { token } = partner.admin;
    const stuck = await eventually(
      async () => (await stack.get('/v1/payouts/stuck?minutes=0', { token })).body.data.items,
      (items) => items.some(({ payout_id }: { payout_id: string }) => payout_id === payout.id),
    );
    expect(stuck).toContainEqual(
      expect.objectContaining({ partner_id: partner.id, reference: payout.reference, amount: '100000.0000' }),
    );
    expect(await readPayout(partner, payout.id)).toMatchObject({ status: 'pending' });
    expect(await readBalance(partner)).toMatchObject(reserved);
    expect(await transfersOf(stack, payout.id)).toEqual([]);
    expect(sending.next).toEqual({ at: expect.any(String), text: expect.stringContaining('is being sent') });
    const { body } = await partner.get(`/payouts/${payout.id}/timeline`);
    expect(JSON.stringify(body.data.items)).toContain('unknown');
    expect(body.data.next).toMatchObject({ at: expect.any(String), text: expect.stringContaining('asked again') });
  });

  itInFull(
    'A payout to 900005, whose first request is lost, succeeds by a retry two minutes later',
    async () => {
      const { payout } = unanswered['900005'];
      partner = unanswered['900005'].partner;
      await eventually(
        () => stack.em().execute('select last_word from payouts where id = ?', [payout.id]),
        ([row]) => row?.last_word === 'not known',
      );
      expect(await transfersOf(stack, payout.id)).toEqual([]);
      await ageAttempts(stack, payout.id, 2);
      await payoutWhen(partner, payout.id, 'succeeded');
      expect(await transfersOf(stack, payout.id)).toMatchObject([{ idempotency_key: payout.id, amount: 97_500 }]);
      expect(await readBalance(partner)).toMatchObject(spent);
      const { body } = await partner.get(`/payouts/${payout.id}/timeline`);
      const texts = body.data.items.map(({ text }: { text: string }) => text);
      expect(texts).toContainEqual(expect.stringContaining('asked to make the transfer'));
      expect(texts).toContainEqual(expect.stringContaining('the same request was repeated under the same key (2)'));
    },
    90_000,
  );
});
