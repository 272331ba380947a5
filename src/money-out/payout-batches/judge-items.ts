import type { EntityManager } from '@mikro-orm/postgresql';
import type { z } from 'zod';
import { complainOfUnknownBanks } from '../../people/bank-accounts/payout-bank.ts';
import { type FieldComplaint, judge } from '../../platform/http/validate.ts';
import { refuse } from '../../shared/errors.ts';
import type { PayoutRequest } from '../payouts/prepare-payout.ts';
import { judgePayout, type PricedPayout, readPriceContexts } from '../payouts/price-payout.ts';

export interface BatchItemRequest extends PayoutRequest {
  external_ref: string;
}

export interface JudgedItem {
  request: BatchItemRequest;
  price: PricedPayout;
}

/**
 * Judges each item as the body of a payout would be, and refuses them all together, with every complaint about each:
 * fields, bank, account number and amount, and a reference that an earlier item has. Throws REQUEST_INVALID_PAYLOAD.
 */
export async function judgeItems(
  em: EntityManager,
  schema: z.ZodType<BatchItemRequest>,
  { partnerId, items }: { partnerId: string; items: readonly unknown[] },
): Promise<JudgedItem[]> {
  const complaints: FieldComplaint[] = [];
  const complain = (field: string, complaint: string) => complaints.push({ field, message: `${field}: ${complaint}` });
  const read = items.map((item, place) => {
    const result = judge(schema, item, ['items', place]);
    if ('data' in result) return result.data;
    complaints.push(...result.complaints);
    return null;
  });
  const bankCodes = [...new Set(read.flatMap((item) => (item === null ? [] : [item.bank_code])))];
  const contexts = await readPriceContexts(em, { partnerId, bankCodes });
  const ofUnknownBank = await complainOfUnknownBanks(
    em,
    bankCodes.filter((code) => !contexts.has(code)),
  );
  const places = new Map<unknown, number>();
  const judged: JudgedItem[] = [];
  for (const [place, request] of read.entries()) {
    // As sent: one that is refused for something else has its reference all the same.
    const { external_ref: reference } = (items[place] ?? {}) as { external_ref?: unknown };
    const earlier = typeof reference === 'string' ? places.get(reference) : undefined;
    if (earlier !== undefined) complain(`items.${place}.external_ref`, `is that of items.${earlier}, too`);
    places.set(reference, earlier ?? place);
    if (request === null) continue;
    const { bank_code: bankCode, bank_account_number: accountNumber, amount } = request;
    const context = contexts.get(bankCode);
    if (context === undefined) {
      complain(`items.${place}.bank_code`, ofUnknownBank(bankCode));
      continue;
    }
    const { complaints: found, price } = judgePayout(context, { bankCode, accountNumber, amount });
    for (const { field, complaint } of found) complain(`items.${place}.${field}`, complaint);
    if (found.length === 0 && price !== null) judged.push({ request, price });
  }
  const [first] = complaints;
  if (first === undefined) return judged;
  complaints.sort((left, right) => placeOf(left) - placeOf(right));
  return refuse('REQUEST_INVALID_PAYLOAD', complaints[0]?.message ?? first.message, { details: complaints });
}

const placeOf = ({ field }: FieldComplaint): number => Number(field.split('.')[1]);
