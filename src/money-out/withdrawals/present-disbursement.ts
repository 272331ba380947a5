import { z } from 'zod';
import { amount, timestamp, uuid } from '../../platform/http/fields.ts';
import { payoutLaw } from '../payouts/payout.ts';
import type { WholeWithdrawal } from './find-withdrawals.ts';

export const DisbursementShape = z
  .object({
    id: uuid(),
    status: z.enum(payoutLaw.statuses),
    amount: amount(),
    fee: amount(),
    net_amount: amount().meta({ description: 'The amount that reaches the bank.' }),
    purpose_note: z.string(),
    reference: z.string().meta({ description: 'As shown in the bank statement.' }),
    created_at: timestamp(),
    succeeded_at: timestamp().nullable(),
    finalized_at: timestamp().nullable(),
    booked_at: timestamp().nullable().meta({
      description:
        'When a failed or reversed disbursement was booked because the provider had paid it; otherwise null.',
    }),
  })
  .meta({ id: 'Disbursement' });

/** A disbursement as shown to readers of its cause, without the bank account. */
export const presentDisbursement = ({ withdrawal, payout }: WholeWithdrawal): z.input<typeof DisbursementShape> => ({
  id: payout.id,
  status: payout.status,
  amount: payout.amount,
  fee: payout.fee,
  net_amount: payout.net_amount,
  purpose_note: withdrawal.purpose_note ?? '',
  reference: payout.reference,
  created_at: payout.created_at.toISOString(),
  succeeded_at: payout.succeeded_at?.toISOString() ?? null,
  finalized_at: payout.finalized_at?.toISOString() ?? null,
  booked_at: payout.booked_at?.toISOString() ?? null,
});
