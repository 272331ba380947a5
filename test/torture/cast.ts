import { assert, must } from '../../src/shared/assert.ts';
import { give } from '../giving/donations/build-donations.ts';
import { type BuiltUser, buildIndividual, buildOrganizationAdmin, buildSuperAdmin, fund } from '../support/build.ts';
import {
  type BuiltTarget,
  buildActiveCause,
  buildGoal,
  buildOrganizationCause,
  buildProduct,
  openPoolAccount,
} from '../support/build-targets.ts';
import { buildOperators, type Operators, secureSession } from '../support/decide.ts';
import { type BuiltPartner, buildPartner, everyEvent } from '../support/partner.ts';
import { castSize } from './cast-size.ts';
import type { BankAccountFact } from './facts.ts';
import { payoutAccounts } from './plan-money-out.ts';
import type { PaidType } from './plan-work.ts';
import type { Topology } from './topology.ts';

/** The people and resources that a plan refers to by number or name. */
export interface Cast {
  users: (Withdrawing & { pocketId: string })[];
  /** The owner of each cause, in the order of `causes`: an organization, and a person. */
  owners: Withdrawing[];
  /** Platform users who approve disbursements. */
  approvers: BuiltUser[];
  admin: BuiltUser;
  operators: Deciders;
  partners: BuiltPartner[];
  /** A second key of each partner, which approves the batches that the first created. */
  secondKeys: { apiKey: string; signingSecret: string }[];
  /** The target of each reference type, by user. */
  targets: Record<PaidType, (user: number) => string>;
  causes: string[];
  /** The account of each target, by the target's id. */
  accounts: Record<string, string>;
  /** IDR, the fee of a partner's payment by method, and of a user's payment by channel. */
  partnerFee(partnerId: string, method: string): string;
  channelFee(channel: number): string;
}

/** Operators, and another one who may approve the approver's proposals. */
export type Deciders = Operators & { other: BuiltUser };

/** A user who withdraws money, with a bank account for each of the sandbox's magic numbers. */
interface Withdrawing {
  user: BuiltUser;
  bankAccounts: Record<string, BankAccountFact & { id: string }>;
}

/** IDR per minute of work: donations that causes received before it started. */
const given = 300_000;

/** IDR per minute of work: enough for many payments, but so little that some are refused. */
const balance = 600_000;
const available = 400_000;
/** IDR per minute of work: the second partner's daily limit, below its later balance. */
const payable = 250_000;
const limits = { max_payout_amount: '5000000', max_daily_amount: '50000000', max_hourly_count: 10_000 };
/** The limits of the bounded partner: per payout, and per hour. */
const few = { max_payout_amount: '50000', max_hourly_count: 3 };
const fees = [
  { method: 'virtual_account', fixed: '4000', basis_points: 0, provider_fixed: '2500', provider_basis_points: 0 },
  { method: 'payout', fixed: '2500', basis_points: 0, provider_fixed: '1000', provider_basis_points: 0 },
];

/** Builds the cast through the first API, and directly in the database where there is no route. */
export async function buildCast(topology: Topology, minutes: number): Promise<Cast> {
  const forAll = (amount: number) => String(amount * Math.max(1, Math.round(minutes)));
  const place = { ...topology.api, em: topology.em, owner: topology.owner, deps: topology.deps };
  const admin = await buildSuperAdmin(place);
  let holders = 0;
  const addBankAccounts = async (user: BuiltUser): Promise<Withdrawing> => {
    holders += 1;
    const bankAccounts: Withdrawing['bankAccounts'] = {};
    for (const digits of Object.keys(payoutAccounts)) {
      // Unique, because no piece of work has such a high number.
      const account = `${90_000_000 + holders}${digits}`;
      const holder = `Siti Rahayu ${holders}`;
      const body = { bank_code: 'BRI', account_number: account, account_holder: holder };
      const added = await topology.api.post('/v1/bank-accounts', body, { token: user.token });
      bankAccounts[digits] = { id: must(added.body?.data?.id, `a bank account: ${added.status}`), account, holder };
    }
    return { user, bankAccounts };
  };
  const users: Cast['users'] = [];
  for (let number = 0; number < castSize.users; number += 1) {
    const user = await buildIndividual(place, { balance: forAll(balance) });
    const pocket = await topology.api.post('/v1/accounts', { name: 'Pocket' }, { token: user.token });
    const pocketId: string = pocket.body?.data?.id ?? pocket.body?.id;
    if (typeof pocketId !== 'string') throw new Error(`no pocket: ${pocket.status} ${JSON.stringify(pocket.body)}`);
    // Every second user may receive receipts.
    if (number % 2 === 0)
      await place.em().execute('update users set email_confirmed_at = now() where id = ?', [user.id]);
    users.push({ ...(await addBankAccounts(user)), pocketId });
  }
  const webhook = { url: topology.webhookUrl, events: [...everyEvent, 'refund.succeeded', 'refund.failed'] };
  const partners = [
    await buildPartner(place, { limits, webhook }),
    await buildPartner(place, {
      limits: { ...limits, max_daily_amount: forAll(payable) },
      webhook,
      feeMode: 'ADDED',
      fees,
    }),
  ];
  partners.push(await buildPartner(place, { limits: { ...limits, ...few }, webhook }));
  partners.push(await buildPartner(place, { limits, webhook }));
  const secondKeys: Cast['secondKeys'] = [];
  for (const partner of partners) {
    const { body } = await partner.administer('post', '/keys', { permissions: ['approve-payout'] });
    secondKeys.push({ apiKey: body.data.api_key, signingSecret: body.data.signing_secret });
  }
  for (const partner of partners) await fund(place, partner.account.available, forAll(available));
  const accounts: Record<string, string> = { [openPoolAccount]: openPoolAccount };
  const known = ({ id, accountId }: BuiltTarget): string => {
    accounts[id] = accountId;
    return id;
  };
  const owners = [
    await addBankAccounts(await buildOrganizationAdmin(place, { balance: forAll(balance) })),
    await addBankAccounts(await buildIndividual(place, { balance: forAll(balance) })),
  ];
  const causes: string[] = [];
  for (const { user } of owners) {
    const id = known(await (user.organizationId === null ? buildActiveCause : buildOrganizationCause)(place, user));
    causes.push(id);
    const donor = await buildIndividual(place, { balance: forAll(given) });
    const { status } = await give(topology.api, donor, Number(forAll(given)), id);
    assert(status === 201, 'a cause receives donations');
  }
  const approvers: BuiltUser[] = [];
  while (approvers.length < castSize.approvers) {
    const user = await buildSuperAdmin(place);
    approvers.push({ ...user, token: await secureSession(place, user.id) });
  }
  const goals: string[] = [];
  for (const { user } of users) goals.push(known(await buildGoal(place, user, '100000000')));
  const always = (id: string) => () => id;
  const product = async (kind: Parameters<typeof buildProduct>[2]['kind'], target?: string) =>
    always(known(await buildProduct(place, admin, { kind, ...(target !== undefined && { target }) })));
  const products = {
    investment: await product('investment', '100000000'),
    commodity_financing_payment: await product('commodity_financing'),
    trusted_partner_investment: await product('trusted_partner_investment'),
    takaful_insurance: await product('takaful_insurance'),
    takaful_tabaru_contribution: await product('takaful_tabaru'),
  };
  const channels = await topology
    .em()
    .execute<{ id: number; fee: string; basis_points: number }[]>(
      'select id, fee_fixed::text as fee, fee_basis_points as basis_points from payment_channels',
    );
  const dear = must(partners[1], 'the second partner pays fees');
  return {
    users,
    admin,
    operators: { ...(await buildOperators(place)), other: must(approvers[0], 'people approve disbursements') },
    partners,
    secondKeys,
    owners,
    approvers,
    causes,
    accounts,
    partnerFee: (partnerId, method) =>
      (partnerId === dear.id && fees.find((fee) => fee.method === method)?.fixed) || '0',
    channelFee(channel) {
      const { fee, basis_points } = must(
        channels.find(({ id }) => id === channel),
        `there is a channel ${channel}`,
      );
      assert(basis_points === 0, 'the fee of a channel is fixed');
      return fee;
    },
    targets: {
      account_top_up: (user) => users[user]?.user.accountId ?? '',
      charitable_cause_donate: (user) => causes[user % causes.length] ?? '',
      charitable_cause_open_donate: always(openPoolAccount),
      saving_goal_contribution: (user) => goals[user] ?? '',
      ...products,
    },
  };
}
