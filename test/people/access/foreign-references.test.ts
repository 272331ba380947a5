import { productKinds } from '../../../src/giving/products/product.ts';
import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import type { Rail } from '../../../src/money-in/payments/handler.ts';
import { type ReferenceType, referenceTypes } from '../../../src/money-in/payments/payment-order.ts';
import { newId } from '../../../src/shared/ids.ts';
import { paymentKinds } from '../../../src/wiring/kinds.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../../support/build.ts';
import { buildActiveCause, buildGoal, buildProduct } from '../../support/build-targets.ts';
import { casesOf } from '../../support/full.ts';
import { freshKey } from '../../support/partner.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { type Owner, thingsOf } from './matrix-things.ts';

/**
 * Tests which resources `reference_id` may name for each reference type: the caller's, a stranger's, and those without
 * an owner.
 */
let stack: Stack;
let caller: BuiltUser;
let stranger: BuiltUser;
let things: Record<string, string>;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  caller = await buildIndividual(stack, { balance: '1000000' });
  stranger = await buildIndividual(stack);
  const [goal, theirGoal] = [await buildGoal(stack, caller), await buildGoal(stack, stranger)];
  const cause = await buildActiveCause(stack, stranger);
  const owner = { user: stranger } as Owner;
  const circle = await thingsOf({ method: 'get', path: '/v1/saving-circles/:id' }).make(stack, owner);
  const products: [string, string][] = [];
  for (const kind of productKinds) {
    const product = await buildProduct(stack, stranger, { kind });
    products.push([kind, product.id], [`account of ${kind}`, product.accountId]);
  }
  things = {
    account: caller.accountId,
    'stranger’s account': stranger.accountId,
    goal: goal.id,
    'account of goal': goal.accountId,
    'stranger’s goal': theirGoal.id,
    'account of stranger’s goal': theirGoal.accountId,
    'stranger’s cause': cause.id,
    'stranger’s circle': circle.id ?? '',
    ...Object.fromEntries(products),
    ...systemAccounts,
    'stranger’s person': stranger.id,
    'nothing there': newId(),
  };
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());

const accounts = (): string[] => Object.keys(things).filter((name) => /^account of|stranger’s account/.test(name));
const all = (names: readonly string[], status: number): Record<string, number> =>
  Object.fromEntries(names.map((name) => [name, status]));
const product = (kind: (typeof productKinds)[number]) => (): Record<string, number> => ({
  ...all(productKinds, 400),
  [kind]: 201,
});

/** Each type's status for the resources of its kind; all others are a 404. */
const known: Record<ReferenceType, () => Record<string, number>> = {
  account_top_up: () => ({ ...all([...accounts(), ...Object.keys(systemAccounts)], 403), account: 201 }),
  charitable_cause_donate: () => ({ 'stranger’s cause': 201 }),
  charitable_cause_open_donate: () => ({ openDonationPool: 201 }),
  saving_goal_contribution: () => ({ goal: 201, 'stranger’s goal': 403 }),
  investment: product('investment'),
  saving_circle_contribution: () => ({ 'stranger’s circle': 403 }),
  commodity_financing_payment: product('commodity_financing'),
  trusted_partner_investment: product('trusted_partner_investment'),
  takaful_insurance: product('takaful_insurance'),
  takaful_tabaru_contribution: product('takaful_tabaru'),
};

/** Types that cannot be paid from a balance. */
const byGatewayAlone = referenceTypes.filter(
  (type) => !(paymentKinds[type].rails as readonly Rail[]).includes('balance'),
);

/** The balances of caller and stranger, and the numbers of their postings and of the caller's orders. */
const moneyNow = async () => ({
  balances: await Promise.all([caller, stranger].map(({ accountId }) => balanceOf(stack, accountId))),
  postings: await stack
    .em()
    .execute(`select count(*) from postings where account_id in (select id from accounts where user_id in (?, ?))`, [
      caller.id,
      stranger.id,
    ]),
  orders: await stack.em().execute('select count(*) from payment_orders where user_id = ?', [caller.id]),
});

describe.each(referenceTypes)('A payment for %s', (reference_type) => {
  it.each(['gateway', 'balance'] as const)(
    'A payment by %s accepts only ids of its type that the caller may pay for, and refuses all others without effect',
    async (rail) => {
      const paid = { gateway: { payment_id: 1 }, balance: { source_account_id: caller.accountId } }[rail];
      const answered: Record<string, number> = {};
      const before = await moneyNow();
      const ask = async (name: string) => {
        const { status, body } = await stack.post(
          `/v1/payments/${rail}`,
          { reference_type, reference_id: things[name], amount: 20_000, ...paid },
          { token: caller.token, headers: { 'Idempotency-Key': freshKey() } },
        );
        answered[name] = status;
        if (status !== 201) expect([name, JSON.stringify(body)]).toEqual([name, expect.stringMatching(/reference_/)]);
      };
      const everything = Object.keys(things);
      const wanted =
        rail === 'balance' && byGatewayAlone.includes(reference_type)
          ? all(everything, 400)
          : { ...all(everything, 404), ...known[reference_type]() };
      const isTaken = (name: string) => wanted[name] === 201;
      // In `npm test` the types share the ids without an owner; each id is used by some of them.
      const turn = referenceTypes.indexOf(reference_type);
      const names = casesOf(
        everything,
        (name, index) => isTaken(name) || name.startsWith('stranger') || index % 5 === turn % 5,
      );
      const expected = Object.fromEntries(names.map((name) => [name, wanted[name]]));
      for (const name of names) if (!isTaken(name)) await ask(name);
      expect(await moneyNow()).toEqual(before);
      for (const name of names) if (isTaken(name)) await ask(name);
      expect(answered).toEqual(expected);
    },
    60_000,
  );
});
