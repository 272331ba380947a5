import { z } from 'zod';
import { amount, uuid } from '../../platform/http/fields.ts';

/** The answer to a balance payment and to a transfer (docs/contract.md 3). */
export const PaidShape = z
  .object({
    status: z.literal('success'),
    statusCode: z.literal(201),
    message: z.string(),
    data: z.object({
      transaction_id: uuid(),
      amount: amount(),
      new_balance: amount().meta({ description: 'After the debit.' }),
      reference_type: z.string(),
      reference_id: uuid(),
    }),
  })
  .meta({ id: 'BalancePayment' });
