import type { EntityManager } from '@mikro-orm/postgresql';
import type { z } from 'zod';
import { complainOfUnknownBanks } from '../../people/bank-accounts/payout-bank.ts';
import { type FieldComplaint, judge } from '../../platform/http/validate.ts';
import type { PayoutRequest } from '../payouts/prepare-payout.ts';
import { judgePayout, type PricedPayout, readPriceContexts } from '../payouts/price-payout.ts';

export interface BatchItemRequest extends PayoutRequest {
  external_ref: string;
}

export interface JudgedItem {
  request: BatchItemRequest;
  price: PricedPayout;
}

/** One item as it was sent, and what its complaints call it. */
export interface SentItem {
  name: string;
  item: unknown;
}

/**
 * Judges each item as the body of a payout would be: fields, bank, account number and amount, and a reference that an
 * earlier item has. Returns every complaint about each, in the order of the items, or all with their prices.
 */
export async function judgeItems(
  em: EntityManager,
  schema: z.ZodType<BatchItemRequest>,
  { partnerId, items }: { partnerId: string; items: readonly SentItem[] },
): Promise<{ judged: JudgedItem[]; complaints: FieldComplaint[] }> {
  const complaints: FieldComplaint[][] = items.map(() => []);
  const complain = (place: number, field: string, complaint: string) => {
    const named = `${items[place]?.name}.${field}`;
    complaints[place]?.push({ field: named, message: `${named}: ${complaint}` });
  };
  const read = items.map(({ name, item }, place) => {
    const result = judge(schema, item, [name]);
    if ('data' in result) return result.data;
    complaints[place]?.push(...result.complaints);
    return null;
  });
  const bankCodes = [...new Set(read.flatMap((item) => (item === null ? [] : [item.bank_code])))];
  const contexts = await readPriceContexts(em, { partnerId, bankCodes });
  const ofUnknownBank = await complainOfUnknownBanks(
    em,
    bankCodes.filter((code) => !contexts.has(code)),
  );
  const places = new Map<string, string>();
  const judged: JudgedItem[] = [];
  for (const [place, request] of read.entries()) {
    const { name = '', item } = items[place] ?? {};
    // As sent: one that is refused for something else has its reference all the same.
    const { external_ref: reference } = (item ?? {}) as { external_ref?: unknown };
    if (typeof reference === 'string') {
      const earlier = places.get(reference);
      if (earlier !== undefined) complain(place, 'external_ref', `is that of ${earlier}, too`);
      places.set(reference, earlier ?? name);
    }
    if (request === null) continue;
    const { bank_code: bankCode, bank_account_number: accountNumber, amount } = request;
    const context = contexts.get(bankCode);
    if (context === undefined) {
      complain(place, 'bank_code', ofUnknownBank(bankCode));
      continue;
    }
    const { complaints: found, price } = judgePayout(context, { bankCode, accountNumber, amount });
    for (const { field, complaint } of found) complain(place, field, complaint);
    if (price !== null) judged.push({ request, price });
  }
  return { judged, complaints: complaints.flat() };
}
