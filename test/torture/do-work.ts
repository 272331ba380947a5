import { setTimeout as sleep } from 'node:timers/promises';
import { must } from '../../src/shared/assert.ts';
import { openPoolAccount } from '../support/build-targets.ts';
import type { Cast } from './cast.ts';
import { runCircle } from './circle-story.ts';
import type { Answer, Operation } from './client.ts';
import { giveVerdict } from './give-verdict.ts';
import { runBatch, runInstrument } from './grouped-story.ts';
import { makePeriodsDue } from './make-periods-due.ts';
import {
  bankAccountOf,
  bankFields,
  collect,
  endOf,
  ofPartner,
  partnerOf,
  payFromBalance,
  personOf,
} from './pay-steps.ts';
import type { Work } from './plan-work.ts';
import { refundPayment, takeBack } from './refund-story.ts';
import { settleReceipt } from './settle-receipt.ts';
import { runTermsCircle } from './terms-story.ts';
import type { Topology } from './topology.ts';
import { atProvider, codeOf, personal, type Workplace } from './workplace.ts';

/** Performs one piece of the plan's work to completion. */
export async function doWork(place: Workplace, work: Work): Promise<void> {
  const { client, cast, topology } = place;
  const person = (number: number) => personOf(cast, number);
  switch (work.do) {
    case 'balance':
      await payFromBalance(place, work, work);
      return;
    case 'transfer': {
      const { user, pocketId } = person(work.user);
      const body = { destination_account_id: pocketId, amount: String(work.amount) };
      const otherBody = { ...body, amount: String(work.amount + 1) };
      const path = `/v1/accounts/${user.accountId}/transfers`;
      const resourceOf = (answer: Answer) => answer.data?.transaction_id;
      const asked = { path, body, otherBody, source: user.accountId, resourceOf };
      await client.operate(personal(place, work, 'transfer', user.token, asked), work);
      return;
    }
    case 'gateway': {
      const { user } = person(work.user);
      const body = {
        reference_type: work.type,
        reference_id: cast.targets[work.type](work.user),
        payment_id: work.channel,
        amount: work.amount,
      };
      const otherBody = { ...body, amount: work.amount + 1000 };
      const resourceOf = (answer: Answer) => answer.data?.payment_order_id;
      const asked = { path: '/v1/payments/gateway', body, otherBody, resourceOf };
      const made = await client.operate(personal(place, work, 'gateway', user.token, asked), work);
      if (made === null) return;
      const id: string = made.data.payment_order_id;
      const end = { ...endOf(id), path: `/v1/payments/orders/${id}/cancel` };
      const cancel = personal(place, { ...work, keyed: false }, 'cancel', user.token, end);
      await Promise.all([atProvider(place, codeOf(made.data), work), cancelAsPlanned(place, work, cancel)]);
      return;
    }
    case 'partner-payment': {
      const partner = partnerOf(cast, work.partner);
      const channel = { virtual_account: { channel: 'BNI' }, ewallet: { channel: 'DANA' } }[work.method];
      const made = await collect(place, work, { partner, amount: work.amount, method: work.method, ...channel });
      if (made === null) return;
      const id: string = made.data.id;
      const end = { ...endOf(id), path: `/v1/partners/payments/${id}/cancel` };
      const cancel = { ...ofPartner(place, work, 'cancel', partner, end), key: null };
      await Promise.all([atProvider(place, codeOf(made.data), work), cancelAsPlanned(place, work, cancel)]);
      return;
    }
    case 'payout': {
      const partner = partnerOf(cast, work.partner);
      const goesTo = bankAccountOf(work);
      const body = {
        amount: String(work.amount),
        ...bankFields(goesTo),
        external_ref: work.id,
      };
      const otherBody = { ...body, amount: String(work.amount + 1000) };
      const resourceOf = (answer: Answer) => answer.data?.id;
      const asked = { path: '/v1/partners/payouts', body, otherBody, goesTo, resourceOf };
      await client.operate(ofPartner(place, work, 'payout', partner, asked), work);
      return;
    }
    case 'circle':
      return runCircle(place, work);
    case 'terms':
      return runTermsCircle(place, work);
    case 'subscription': {
      const { user } = person(work.user);
      const body = {
        cause_id: cast.targets.charitable_cause_donate(work.user),
        amount: String(work.amount),
        source_account_id: user.accountId,
        interval: 'weekly',
      };
      const otherBody = { ...body, amount: String(work.amount + 1) };
      const resourceOf = (answer: Answer) => answer.data?.id;
      const asked = { path: '/v1/donations/subscriptions', body, otherBody, resourceOf };
      const made = await client.operate(personal(place, work, 'subscription', user.token, asked), work);
      if (made === null || !work.stop) return;
      const stop = {
        ...endOf(made.data.id),
        method: 'DELETE' as const,
        path: `/v1/donations/subscriptions/${made.data.id}`,
      };
      await client.operate(personal(place, { ...work, keyed: false }, 'stop', user.token, stop), work);
      return;
    }
    case 'allocation': {
      const donations = await openDonations(topology);
      if (donations.length === 0) return;
      const body = { donation_ids: donations, cause_id: cast.causes[work.cause] };
      const resourceOf = (answer: Answer) => answer.data?.allocation_batch_id;
      const asked = { path: '/v1/donations/allocate', body, source: openPoolAccount, resourceOf };
      await client.operate(personal(place, { ...work, keyed: false }, 'allocation', cast.admin.token, asked), work);
      return;
    }
    case 'period':
      return makePeriodsDue(topology);
    case 'operator':
      return settleReceipt(place, work, { operators: cast.operators, accountId: person(work.user).user.accountId });
    case 'withdrawal':
      return withdraw(place, work, must(cast.users[work.user], 'the cast has the user'), {});
    case 'disbursement': {
      const disbursement = { cause_id: cast.causes[work.cause], purpose_note: `Pumps and pipes, ${work.id}` };
      return withdraw(place, work, must(cast.owners[work.cause], 'each cause has an owner'), disbursement);
    }
    case 'verdict':
      return giveVerdict(place, work);
    case 'release': {
      const { user } = person(work.user);
      const goal = cast.targets.saving_goal_contribution(work.user);
      const body = { account_id: user.accountId };
      const release = { ...endOf(goal), body, path: `/v1/saving-goals/${goal}/release` };
      await client.operate(personal(place, { ...work, keyed: false }, 'release', user.token, release), work);
      return;
    }
    case 'refund':
      return refundPayment(place, work);
    case 'take-back':
      return takeBack(place, work);
    case 'payout-batch':
      return runBatch(place, work);
    case 'instrument':
      return runInstrument(place, work);
    default:
      throw new Error(`there is no work ${JSON.stringify(work satisfies never)}`);
  }
}

/** Withdraws money to one of its owner's bank accounts; a cause's money, as a disbursement. */
async function withdraw(
  place: Workplace,
  work: Extract<Work, { do: 'withdrawal' | 'disbursement' }>,
  { user, bankAccounts }: Cast['owners'][number],
  disbursement: Record<string, unknown>,
): Promise<void> {
  const { id, ...goesTo } = must(bankAccounts[work.account], `there is a bank account ${work.account}`);
  const body = { bank_account_id: id, amount: String(work.amount), ...disbursement };
  const otherBody = { ...body, amount: String(work.amount + 1000) };
  const path = `/v1/accounts/${user.accountId}/withdrawals`;
  const resourceOf = (answer: Answer) => answer.data?.id;
  const asked = { path, body, otherBody, source: user.accountId, goesTo, resourceOf };
  await place.client.operate(personal(place, work, work.do, user.token, asked), work);
}

/** Cancels a payment if the plan says so, while its customer pays or without a payment. */
async function cancelAsPlanned(
  { client }: Workplace,
  work: Extract<Work, { do: 'gateway' | 'partner-payment' }>,
  cancel: Operation,
): Promise<void> {
  if (work.ending !== 'cancel' && work.ending !== 'cancel-while-paying') return;
  await sleep(work.afterMs);
  await client.operate(cancel, { ...work, otherBody: false });
}

async function openDonations({ em }: Topology): Promise<string[]> {
  const rows = await em()
    .execute<{ id: string }[]>(
      `select id from donations where type = 'open' and status = 'completed' and cause_id is null
       order by created_at, id limit 10`,
    )
    .catch(() => []);
  return rows.map(({ id }) => id);
}
