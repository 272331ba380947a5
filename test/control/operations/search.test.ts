import { openProfile } from '../../../src/people/members/profile.ts';
import { User } from '../../../src/people/members/user.entity.ts';
import { buildPayer, pay, payoutBody, payoutWhen } from '../../money-out/payouts/build-payouts.ts';
import { type BuiltUser, buildIndividual, buildPlatformAdmin } from '../../support/build.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let operator: BuiltUser;
let partner: BuiltPartner;
let payout: { id: string; reference: string; external_ref: string };
let payment: { id: string };
beforeAll(async () => {
  stack = await startStack({ worker: true });
  operator = await buildPlatformAdmin(stack);
  partner = await buildPayer(stack);
  payout = await pay(partner, { external_ref: `invoice ${partner.id}` });
  await payoutWhen(partner, payout.id, 'succeeded');
  const body = { method: 'virtual_account', channel: 'BCA', amount: '150000', external_ref: `order ${partner.id}` };
  payment = (await partner.post('/payments', body)).body.data;
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const search = (q: string) => stack.get(`/v1/search?q=${encodeURIComponent(q)}`, { token: operator.token });
const typesOf = async (q: string) => {
  const { status, body } = await search(q);
  expect({ status, q }).toEqual({ status: 200, q });
  return body.data.items.map(({ type, id }: { type: string; id: string }) => [type, id]);
};

describe('GET /v1/search', () => {
  it('The search finds a payout by each of its identifiers', async () => {
    const [row] = await stack
      .em()
      .execute<{ provider: string }[]>('select provider_transfer_id as provider from payouts where id = ?', [
        payout.id,
      ]);
    const names = [
      payout.id,
      payout.id.toUpperCase(),
      payout.reference,
      payout.external_ref,
      row?.provider ?? '',
      ` ${payout.reference} `,
    ];
    const found = await Promise.all(names.map(async (q) => [q, await typesOf(q)]));
    expect(found).toEqual(names.map((q) => [q, [['payout', payout.id]]]));
    const { items } = (await search(payout.reference)).body.data;
    expect(items).toEqual([
      {
        type: 'payout',
        id: payout.id,
        text: `${payout.reference}, partner payout, IDR 100000.0000, succeeded`,
        at: expect.stringMatching(/Z$/),
      },
    ]);
  });

  it('The search finds a partner payment by its id, its external_ref and its id at the provider', async () => {
    const [row] = await stack
      .em()
      .execute<{ provider: string }[]>(
        'select provider_payment_request_id as provider from partner_payments where id = ?',
        [payment.id],
      );
    const names = [payment.id, `order ${partner.id}`, row?.provider ?? ''];
    const found = await Promise.all(names.map(async (q) => [q, await typesOf(q)]));
    expect(found).toEqual(names.map((q) => [q, [['partner_payment', payment.id]]]));
  });

  it('The search finds a user by e-mail address in any case, does not show it, and records an event', async () => {
    const person = await buildIndividual(stack);
    const { email } = await openProfile(stack.deps.sealer, await stack.em().findOneOrFail(User, person.id));
    for (const q of [email, email.toUpperCase()]) expect(await typesOf(q)).toEqual([['user', person.id]]);
    expect(JSON.stringify((await search(email)).body.data)).not.toContain(email);
    const { items } = (
      await stack.get(`/v1/events?resource_id=${person.id}&event=RESOURCE_FETCHED`, { token: operator.token })
    ).body.data;
    expect(items[0]).toMatchObject({ actor_id: operator.id, resource_type: 'user' });
    expect(await typesOf('nobody@example.org')).toEqual([]);
  });

  it('The search finds resources by exact identifiers only', async () => {
    expect(await typesOf(partner.id)).toEqual([['partner', partner.id]]);
    expect(await typesOf(operator.id)).toEqual([['user', operator.id]]);
    for (const q of [payout.reference.slice(0, -1), payout.reference.toLowerCase(), payout.id.slice(0, 8), '%']) {
      expect([q, await typesOf(q)]).toEqual([q, []]);
    }
  });

  it('The search finds batches and reusable instruments', async () => {
    const { bank_code, bank_account_number } = payoutBody();
    const item = { amount: '20000', bank_code, bank_account_number, external_ref: 'item' };
    for (const [path, type, body] of [
      ['/payout-batches', 'payout_batch', { items: [item] }],
      ['/instruments', 'partner_instrument', { method: 'qris' }],
    ] as const) {
      const external_ref = `${type} ${partner.id}`;
      const { id } = (await partner.post(path, { ...body, external_ref })).body.data;
      for (const q of [id, external_ref]) expect([q, await typesOf(q)]).toEqual([q, [[type, id]]]);
    }
  });

  it('The search finds a transfer missing from the books by its reference and its id at the provider', async () => {
    const reference = `nobody-${partner.id}`;
    const [row] = await stack.owner().execute<{ id: string }[]>(
      `insert into reconciliations (id, day, resource_type, subject, reference, theirs)
       values (uuidv7(), current_date, 'payout', ?, ?, '{"status": "succeeded", "amount": "90000.0000"}') returning id`,
      [`disb-${partner.id}`, reference],
    );
    for (const q of [reference, `disb-${partner.id}`]) expect(await typesOf(q)).toEqual([['reconciliation', row?.id]]);
    await stack.owner().execute('delete from reconciliations where id = ?', [row?.id]);
  });

  it('The search returns at most twenty results', async () => {
    const external_ref = `same ${partner.id}`;
    for (let i = 0; i < 21; i += 1) {
      await stack.em().execute(
        `insert into partner_payments (id, partner_id, external_ref, channel_id, fee_mode, amount, fee, net_amount, status,
           expires_at, created_at, updated_at)
         values (uuidv7(), ?, ?, 1, 'DEDUCTED', 20000, 1, 19999, 'PENDING',
           now() + interval '1 day', now(), now())`,
        [partner.id, external_ref],
      );
    }
    await stack
      .em()
      .execute("update partner_payments set status = 'FAILED', finalized_at = now() where external_ref = ?", [
        external_ref,
      ]);
    expect(await typesOf(external_ref)).toHaveLength(20);
  });

  it('The search returns 400 for an empty, too long or multi-line query', async () => {
    for (const query of ['', '?q=', '?q=%20', `?q=${'x'.repeat(255)}`, '?q=a%0Ab']) {
      const { status, body } = await stack.get(`/v1/search${query}`, { token: operator.token });
      expect([query, status, JSON.stringify(body)]).toEqual([query, 400, expect.stringContaining('q:')]);
    }
  });
});
