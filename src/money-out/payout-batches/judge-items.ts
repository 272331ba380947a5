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

/** An item as submitted, and what errors call it. */
export interface SentItem {
  name: string;
  item: unknown;
  /** Errors found before the item's fields were read. */
  complaint?: string;
}

/** The schema of an item, field by field. */
export type BatchItemSchema = z.ZodType<BatchItemRequest> & Pick<z.ZodObject, 'shape'>;

/** The fields of an item that the bank's rules apply to. */
type ForBank = Partial<Pick<BatchItemRequest, 'amount' | 'bank_code' | 'bank_account_number'>>;
const fieldsForBank = ['amount', 'bank_code', 'bank_account_number'] as const;

/**
 * Checks each item like the body of a payout (fields, bank, account number, amount), and that no earlier item has its
 * reference. Returns all errors in the order of the items, or all items with their prices.
 */
export async function judgeItems(
  em: EntityManager,
  schema: BatchItemSchema,
  { partnerId, items }: { partnerId: string; items: readonly SentItem[] },
): Promise<{ judged: JudgedItem[]; complaints: FieldComplaint[] }> {
  const complaints: FieldComplaint[][] = items.map(({ name, complaint }) =>
    complaint ? [{ field: name, message: `${name} ${complaint}` }] : [],
  );
  const complain = (place: number, field: string, complaint: string) => {
    const named = `${items[place]?.name}.${field}`;
    complaints[place]?.push({ field: named, message: `${named}: ${complaint}` });
  };
  const read = items.map(({ name, item }, place) => {
    const result = judge(schema, item, [name]);
    if ('data' in result) return { request: result.data, sent: result.data };
    complaints[place]?.push(...result.complaints);
    return { request: null, sent: readFields(schema, item) };
  });
  const bankCodes = [...new Set(read.flatMap(({ sent }) => sent.bank_code ?? []))];
  const contexts = await readPriceContexts(em, { partnerId, bankCodes });
  const ofUnknownBank = await complainOfUnknownBanks(
    em,
    bankCodes.filter((code) => !contexts.has(code)),
  );
  const places = new Map<string, string>();
  const judged: JudgedItem[] = [];
  for (const [place, { request, sent }] of read.entries()) {
    const { name = '', item } = items[place] ?? {};
    // Use the submitted reference: an item refused for another reason still counts.
    const { external_ref: reference } = (item ?? {}) as { external_ref?: unknown };
    if (typeof reference === 'string') {
      const earlier = places.get(reference);
      if (earlier !== undefined) complain(place, 'external_ref', `is already the reference of ${earlier}`);
      places.set(reference, earlier ?? name);
    }
    const { bank_code: bankCode, bank_account_number: accountNumber, amount } = sent;
    if (bankCode === undefined) continue;
    const context = contexts.get(bankCode);
    if (context === undefined) {
      complain(place, 'bank_code', ofUnknownBank(bankCode));
      continue;
    }
    const { complaints: found, price } = judgePayout(context, { bankCode, accountNumber, amount });
    for (const { field, complaint } of found) complain(place, field, complaint);
    if (request !== null && price !== null) judged.push({ request, price });
  }
  return { judged, complaints: complaints.flat() };
}

/** The valid fields of an item. */
function readFields({ shape }: BatchItemSchema, item: unknown): ForBank {
  const sent = (typeof item === 'object' ? item : null) ?? {};
  return Object.fromEntries(
    fieldsForBank.flatMap((name) => {
      const read = shape[name]?.safeParse((sent as ForBank)[name]);
      return read?.success ? [[name, read.data]] : [];
    }),
  );
}
