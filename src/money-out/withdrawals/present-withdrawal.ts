import { z } from 'zod';
import { amount, timestamp, uuid } from '../../platform/http/fields.ts';
import type { StoredAnswer } from '../../platform/openings/idempotency-keys.ts';
import { payoutLaw } from '../payouts/payout.ts';
import type { WholeWithdrawal } from './find-withdrawals.ts';

export const WithdrawalShape = z
  .object({
    id: uuid(),
    status: z.enum(payoutLaw.statuses),
    account_id: uuid(),
    amount: amount(),
    fee: amount(),
    net_amount: amount().meta({ description: 'The amount that reaches the bank: `amount` less `fee`.' }),
    bank_account_id: uuid(),
    cause_id: uuid().nullable().meta({ description: 'The cause of a disbursement; otherwise null.' }),
    purpose_note: z.string().nullable().meta({ description: 'The public purpose of a disbursement; otherwise null.' }),
    transaction_id: uuid(),
    failure_code: z.string().nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
    succeeded_at: timestamp().nullable(),
    finalized_at: timestamp().nullable(),
    booked_at: timestamp().nullable().meta({
      description: 'When a failed or reversed withdrawal was booked because the provider had paid it; otherwise null.',
    }),
  })
  .meta({ id: 'Withdrawal' });

/** A withdrawal as shown to its owner and the platform. */
export function presentWithdrawal({ withdrawal, payout }: WholeWithdrawal): z.input<typeof WithdrawalShape> {
  return {
    id: payout.id,
    status: payout.status,
    account_id: payout.source_account_id,
    amount: payout.amount,
    fee: payout.fee,
    net_amount: payout.net_amount,
    bank_account_id: withdrawal.bank_account_id,
    cause_id: withdrawal.cause_id ?? null,
    purpose_note: withdrawal.purpose_note ?? null,
    transaction_id: withdrawal.transaction_id,
    failure_code: payout.failure_code ?? null,
    created_at: payout.created_at.toISOString(),
    updated_at: payout.updated_at.toISOString(),
    succeeded_at: payout.succeeded_at?.toISOString() ?? null,
    finalized_at: payout.finalized_at?.toISOString() ?? null,
    booked_at: payout.booked_at?.toISOString() ?? null,
  };
}

/** The response to a new withdrawal: shown as pending, whatever has happened since. */
export function answerWithdrawal(whole: WholeWithdrawal): StoredAnswer {
  const data: z.input<typeof WithdrawalShape> = {
    ...presentWithdrawal(whole),
    status: 'pending',
    failure_code: null,
    updated_at: whole.payout.created_at.toISOString(),
    succeeded_at: null,
    finalized_at: null,
  };
  return { status: 201, body: JSON.stringify({ status: 'success', message: 'Withdrawal begun', data }) };
}
