import { itemsOf, makeBatch, readBatch } from '../../money-out/payout-batches/build-batches.ts';
import { buildPayer, magicAccount, pay } from '../../money-out/payouts/build-payouts.ts';
import { type BuiltUser, buildSuperAdmin } from '../../support/build.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let operator: BuiltUser;
let partner: BuiltPartner;
let payout: { id: string; reference: string };
let payment: { id: string };
beforeAll(async () => {
  stack = await startStack({ worker: true });
  operator = await buildSuperAdmin(stack);
  partner = await buildPayer(stack);
  payout = await pay(partner, { external_ref: `invoice ${partner.id}` });
  const { status, body } = await partner.post('/payments', {
    method: 'virtual_account',
    channel: 'BCA',
    amount: '150000',
    external_ref: `order ${partner.id}`,
  });
  expect({ status, body }).toMatchObject({ status: 200 });
  payment = body.data;
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const read = async (path: string) => {
  const { status, body } = await stack.get(`/v1${path}`, { token: operator.token });
  expect({ path, status }).toEqual({ path, status: 200 });
  return body.data;
};
const idsOf = async (path: string): Promise<string[]> => (await read(path)).items.map(({ id }: { id: string }) => id);
const ofPartner = () => `partner_id=${partner.id}`;

describe('GET /v1/payouts', () => {
  it('Payouts can be filtered by partner, reference, external_ref, kind, bank, status and period', async () => {
    const found: [string, boolean][] = [
      [ofPartner(), true],
      [`reference=${payout.reference}`, true],
      [`external_ref=${encodeURIComponent(`invoice ${partner.id}`)}`, true],
      [`${ofPartner()}&kind=partner_payout&from=2020-01-01&to=2999-01-01`, true],
      [`${ofPartner()}&bank_code=BRI`, true],
      [`${ofPartner()}&bank_code=BCA`, false],
      [`${ofPartner()}&kind=withdrawal`, false],
      [`${ofPartner()}&status=reversed`, false],
      [`${ofPartner()}&to=2020-01-01`, false],
      [`reference=${payout.reference.toLowerCase()}`, false],
    ];
    const answers = await Promise.all(found.map(async ([query]) => [query, await idsOf(`/payouts?${query}`)]));
    expect(answers).toEqual(found.map(([query, isFound]) => [query, isFound ? [payout.id] : []]));
  });

  it('A payout is listed with its partner, and the beneficiary is masked', async () => {
    const [listed] = (await read(`/payouts?${ofPartner()}`)).items;
    expect(listed).toMatchObject({
      id: payout.id,
      reference: payout.reference,
      kind: 'partner_payout',
      partner_id: partner.id,
      partner_name: 'Partner',
      cause_id: null,
      payment_id: null,
      amount: '100000.0000',
      bank_code: 'BRI',
      bank_account_number: `${'*'.repeat(magicAccount('111111').length - 4)}1111`,
      beneficiary_name: 'B*** S******',
    });
    expect(await read(`/payouts/${payout.id}`)).toMatchObject({
      id: payout.id,
      partner_name: 'Partner',
      beneficiary_name: 'B*** S******',
    });
  });

  it('A payout’s timeline for operators omits the beneficiary’s name', async () => {
    const timeline = await read(`/payouts/${payout.id}/timeline`);
    expect(timeline.items[0].text).toContain('to BRI was requested');
    expect(JSON.stringify(timeline)).not.toContain('Budi');
  });
});

describe('GET /v1/partner-payments', () => {
  it('Partner payments can be filtered by partner, reference, external_ref, kind, status and period', async () => {
    const found: [string, boolean][] = [
      [ofPartner(), true],
      [`reference=${payment.id}`, true],
      [`reference=${encodeURIComponent(`order ${partner.id}`)}`, true],
      [`external_ref=${encodeURIComponent(`order ${partner.id}`)}`, true],
      [`${ofPartner()}&status=pending&kind=partner_payment`, true],
      [`${ofPartner()}&status=succeeded`, false],
      [`${ofPartner()}&to=2020-01-01`, false],
      ['external_ref=nobody', false],
    ];
    const answers = await Promise.all(found.map(async ([query]) => [query, await idsOf(`/partner-payments?${query}`)]));
    expect(answers).toEqual(found.map(([query, isFound]) => [query, isFound ? [payment.id] : []]));
  });

  it('A partner payment is shown with its partner, its id at the provider and its timeline', async () => {
    expect(await read(`/partner-payments/${payment.id}`)).toMatchObject({
      id: payment.id,
      kind: 'partner_payment',
      partner_id: partner.id,
      partner_name: 'Partner',
      status: 'pending',
      method: 'virtual_account',
      channel: 'BCA',
      provider_payment_request_id: expect.any(String),
    });
    const { items } = await read(`/partner-payments/${payment.id}/timeline`);
    expect(items[0].text).toBe('A payment of IDR 150000.0000 was requested.');
  });
});

describe('GET /v1/payout-batches', () => {
  it('Batches can be filtered, show masked items, and can be rejected once by an operator', async () => {
    const external_ref = `salaries ${partner.id}`;
    const batch = await makeBatch(partner, itemsOf(2), { external_ref });
    const found: [string, boolean][] = [
      [`${ofPartner()}&status=needs_approval&from=2020-01-01&to=2999-01-01`, true],
      [`external_ref=${encodeURIComponent(external_ref)}`, true],
      [`${ofPartner()}&status=completed`, false],
      [`${ofPartner()}&to=2020-01-01`, false],
    ];
    const answers = await Promise.all(found.map(async ([query]) => [query, await idsOf(`/payout-batches?${query}`)]));
    expect(answers).toEqual(found.map(([query, isFound]) => [query, isFound ? [batch.id] : []]));
    const undecided = { imported_by: null, decided_by: null, rejected_by: null };
    const made = { partner_id: partner.id, partner_name: 'Partner', made_by: expect.any(String), ...undecided };
    expect(await read(`/payout-batches/${batch.id}`)).toMatchObject({
      id: batch.id,
      status: 'needs_approval',
      ...made,
    });
    const { items, total } = await read(`/payout-batches/${batch.id}/items`);
    expect(total).toBe(2);
    expect(items[0]).toMatchObject({ status: 'needs_approval', beneficiary_name: 'B*** S******' });
    expect(items[0].bank_account_number).toMatch(/^\*+1111$/);
    const reject = () => stack.post(`/v1/payout-batches/${batch.id}/reject`, undefined, { token: operator.token });
    const rejected = { ...made, status: 'rejected', is_final: true, rejected_by: operator.id };
    expect(await reject()).toMatchObject({ status: 200, body: { data: rejected } });
    expect(await reject()).toMatchObject({ status: 409, body: { code: 'PAYOUT_BATCH_DECIDED' } });
    expect(await readBatch(partner, batch.id)).toMatchObject({ status: 'rejected', decided_at: expect.any(String) });
  });
});

it.each(['/payouts', '/partner-payments'])('%s/:id and its timeline return 404 for an unknown id', async (path) => {
  for (const rest of ['', '/timeline']) {
    const answer = await stack.get(`/v1${path}/${partner.id}${rest}`, { token: operator.token });
    expect([rest, answer.status]).toEqual([rest, 404]);
  }
});
