import { systemAccounts } from '../../ledger/accounts/account.ts';
import type { PaymentHandler } from '../../money-in/payments/handler.ts';
import { refuse } from '../../shared/errors.ts';
import { closeDonation, completeDonation, holdDonation, openDonation } from './donation-effects.ts';

const noPool = 'not the open-donation pool, which GET /v1/donations/open-pool returns';

/** A donation without a cause, on both rails. It stays in the open pool until it is allocated. */
export const charitableCauseOpenDonate = {
  referenceType: 'charitable_cause_open_donate' as const,
  referenceOf: 'the pool of open donations, `account_id` of `GET /v1/donations/open-pool`',
  permission: 'donate-charitable-cause',
  rails: ['gateway', 'balance'],
  ledgerReferenceType: 'donation',
  gatewayPurpose: 'topup_product',
  async findTarget(_em, { referenceId }) {
    if (referenceId !== systemAccounts.openDonationPool) {
      refuse('NOT_FOUND', noPool, { field: 'reference_id' });
    }
    return { accountId: systemAccounts.openDonationPool };
  },
  onPending: (tx, payment) => openDonation(tx, payment, { type: 'open', causeId: null }),
  effect: {
    hold: holdDonation,
    inTransaction: (tx, payment, transactionId) =>
      completeDonation(tx, payment, transactionId, { type: 'open', causeId: null }),
  },
  together: {
    targets: (payments) => ({
      call: `array(select case when a.id = '${systemAccounts.openDonationPool}' then row(a.id, null)::payment_target
          else row(null, refusal('NOT_FOUND', '${noPool}', 'reference_id'))::payment_target end
        from unnest(?::uuid[]) with ordinality a (id, place) order by a.place)`,
      params: [payments.map(({ referenceId }) => referenceId)],
    }),
    effect: (paid) => `settle_donations('open', ${paid})`,
  },
  onClosed: (tx, payment) => closeDonation(tx, payment),
} satisfies PaymentHandler;
