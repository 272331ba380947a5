import { z } from 'zod';
import { systemAccounts } from '../../ledger/accounts/account.ts';
import { findBalances } from '../../ledger/find-accounts.ts';
import { allow, signedIn } from '../../platform/http/access.ts';
import { amount, timestamp, uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { refundDays } from './donation.ts';
import { findOwnDonations, getDonation } from './find-donations.ts';
import { DonationAnswer, presentDonation } from './present-donation.ts';
import { refundDonation } from './refund-donation.ts';
import { traceDonation } from './trace-donation.ts';

const message = z.string();
const permission = 'donate-charitable-cause';

const routes = createRouteGroup({ prefix: '/v1/donations', tag: 'Donations' });

routes.get(
  '/',
  {
    summary: "List the caller's donations",
    access: allow(permission, { scope: 'own' }),
    query: listQuery(),
    answers: {
      200: z.object({ message, data: z.object({ items: z.array(DonationAnswer), ...pageFields }) }),
    },
  },
  async ({ em, caller, query }) => {
    const { items, ...listed } = await findOwnDonations(em, caller, query);
    return {
      message: 'Donations found',
      data: { items: items.map(presentDonation), ...presentPage(query, listed) },
    };
  },
);

routes.get(
  '/open-pool',
  {
    summary: 'Read the pool of open donations',
    description: '`account_id` is the `reference_id` of a payment of type `charitable_cause_open_donate`.',
    access: signedIn({ scope: 'all' }),
    answers: { 200: z.object({ message, data: z.object({ account_id: uuid(), balance: amount() }) }) },
  },
  async ({ em }) => ({
    message: 'Open-donation pool found',
    data: {
      account_id: systemAccounts.openDonationPool,
      balance: (await findBalances(em, [systemAccounts.openDonationPool]))(systemAccounts.openDonationPool),
    },
  }),
);

routes.get(
  '/:id/trace',
  {
    summary: 'Trace the money of a donation',
    description:
      'The steps in order: the donation, the journal that paid it, the allocation that moved it, the cause that ' +
      'holds it, then the cause’s disbursements, or the refund that returned it. The first hundred disbursements ' +
      'are shown; the step `cause` has their total number as `disbursement_count`, and `GET ' +
      '/v1/charitable-causes/{id}/disbursements` lists all. Steps that have not happened are absent.',
    access: allow(permission, { scope: 'own; all for platform' }),
    params: z.object({ id: uuid() }),
    answers: {
      200: z.object({
        message,
        data: z.object({
          donation: DonationAnswer,
          steps: z.array(
            z.looseObject({
              type: z.enum(['donation', 'journal', 'allocation', 'cause', 'disbursement', 'refund']),
              at: timestamp(),
              amount: amount(),
            }),
          ),
        }),
      }),
    },
    refusals: [404],
  },
  async ({ em, caller, params }) => {
    const donation = await getDonation(em, caller, params.id);
    const steps = await traceDonation(em, donation);
    return { message: 'Donation traced', data: { donation: presentDonation(donation), steps } };
  },
);

routes.post(
  '/:id/refund',
  {
    summary: "Refund the caller's donation",
    description:
      `Within ${refundDays} days after it was paid, to the account that paid it or, if paid by gateway, to the ` +
      "donor's oldest account. 400 if the donation is not `completed` or was allocated from the open pool, or if its " +
      'cause has disbursed money since or no longer holds enough. The fee of a gateway payment is not ' +
      'refunded. Platform users propose a decision `refund_donation` instead.',
    access: allow(permission, { scope: 'own' }),
    params: z.object({ id: uuid() }),
    answers: { 200: z.object({ message, data: DonationAnswer }) },
    refusals: [404],
  },
  async ({ em, caller, params: { id: donationId }, requestId }) => ({
    message: 'Donation refunded',
    data: presentDonation(await refundDonation(em, { caller, donationId, requestId })),
  }),
);

export const donationsRoutes = routes;
