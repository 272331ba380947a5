import { z } from 'zod';
import { bookDay } from '../../ledger/seals/day-seal.ts';
import { partnerAnswer } from '../../partners/partner-answer.ts';
import { partner } from '../../platform/http/access.ts';
import { amount, bomFlag, isoDate, timestamp, uuid } from '../../platform/http/fields.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { jsonOrCsv, sendDocument } from '../../platform/http/stream-document.ts';
import { aboutField, refuseField } from '../../shared/errors.ts';
import { readSettlement } from './read-settlement.ts';
import { settlementColumns, settlementGroups } from './settlement.ts';

const routes = createRouteGroup({ prefix: '/v1/partners', tag: 'Partner API' });

const Balance = z.object({ balance: amount(), available: amount(), pending: amount() });
const moved = {
  amount: amount().meta({ description: 'The amount paid, moved or sent, unsigned; for a payout without its fee.' }),
  fee: amount(),
  available: amount().meta({ description: 'The change of `available`, signed.' }),
  pending: amount().meta({ description: 'The change of `pending`, signed.' }),
};
const Total = z.object({ count: z.int(), ...moved });

routes.get(
  '/settlements/:day',
  {
    summary: 'Read the settlement of a day',
    description:
      'The changes of this partner’s balance on a day (UTC+7; not a future one), streamed: opening and closing ' +
      'balance, totals by group, a line for each journal. `paid`: customers paid, the net is pending; `settled`: it ' +
      'became available; `reserved`, then `payouts` or `refunds` (sent) or `returned` (failed); `reversed`: the bank ' +
      'returned it. `opening` plus the `available` and `pending` of all groups is `closing`. Once the day is sealed ' +
      '(01:00 UTC+7 of the next) it never changes. With `Accept: text/csv` the lines are CSV under a header line.',
    access: partner('read-gateway'),
    params: z.object({
      // Not validated here, because an invalid path parameter would be answered 404 instead of 400.
      day: z.string().meta({ override: { type: 'string', format: 'date' }, description: 'A day in UTC+7.' }),
    }),
    query: z.object({ bom: bomFlag() }),
    formats: jsonOrCsv,
    answers: {
      200: partnerAnswer(
        z.object({
          day: isoDate(),
          currency: z.literal('IDR'),
          sealed: z.boolean().meta({ description: 'Whether it can no longer change.' }),
          opening: Balance,
          closing: Balance,
          totals: z.object({
            paid: Total,
            settled: Total,
            payouts: Total,
            refunds: Total,
            reserved: Total,
            returned: Total,
            reversed: Total,
            other: Total,
          }),
          lines: z.array(
            z.object({
              created_at: timestamp(),
              group: z.enum(settlementGroups),
              kind: z.string(),
              resource_id: uuid().nullable().meta({ description: 'The payment, payout or refund.' }),
              external_ref: z.string().nullable(),
              ...moved,
              journal_id: uuid(),
            }),
          ),
        }),
      ),
    },
  },
  async ({ em, caller, params, query: { bom }, ctx, requestId }) => {
    const day = readDay(params.day);
    const form = { envelope: { request_id: requestId }, list: 'lines', columns: settlementColumns, bom };
    const { partnerId } = caller;
    const file = { reader: { id: partnerId, signedUp: false }, name: `settlement-${params.day}` };
    return sendDocument(ctx, file, form, () => readSettlement(em, partnerId, day));
  },
);

function readDay(text: string) {
  const day = isoDate().safeParse(text);
  if (!day.success) return refuseField('day', 'must be a date (YYYY-MM-DD)');
  return aboutField('day', () => bookDay(day.data));
}

export const settlementsRoutes = routes;
