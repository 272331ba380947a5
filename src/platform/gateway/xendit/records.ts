import { z } from 'zod';
import type { Money } from '../../../shared/money.ts';
import { type CallOptions, type ProviderRecord, ProviderUnknown, type UnreadableRecord } from '../gateway.ts';
import { lookUp } from './client.ts';
import type { ClientSettings } from './settings.ts';
import { moneyFromWire } from './wire-amount.ts';

const perPage = 50;

/** Without an entry's id the list cannot continue; any other defect makes only that entry unreadable. */
const transactionAnswer = z.object({
  id: z.string().min(1),
  productId: z.string().min(1).nullish().catch(null),
  type: z.string().nullish().catch(null),
  status: z.string().nullish().catch(null),
  referenceId: z.string().nullish().catch(null),
  amount: z.number().nullish().catch(null),
});

const kinds: Record<string, ProviderRecord['kind']> = {
  PAYMENT: 'payment',
  DISBURSEMENT: 'transfer',
  BATCH_DISBURSEMENT: 'transfer',
  REFUND: 'transfer',
};
const statuses: Record<string, ProviderRecord['status']> = {
  PENDING: 'pending',
  SUCCESS: 'succeeded',
  FAILED: 'failed',
  VOIDED: 'failed',
  REVERSED: 'reversed',
};

function recordOf(answer: z.infer<typeof transactionAnswer>): ProviderRecord | UnreadableRecord {
  const { id: entryId, productId: providerId, referenceId: reference } = answer;
  const kind = kinds[answer.type ?? ''];
  const status = statuses[answer.status ?? ''];
  const amount = amountOf(answer.amount);
  if (kind && status && amount !== null && providerId && typeof reference === 'string') {
    return { entryId, kind, providerId, reference, amount, status };
  }
  const known = { providerId: providerId ?? entryId, reference: reference ?? '' };
  return { entryId, kind: kind ?? 'payment', ...known, amount, status: 'unreadable' };
}

function amountOf(amount: number | null | undefined): Money | null {
  try {
    return typeof amount === 'number' ? moneyFromWire(amount) : null;
  } catch {
    return null;
  }
}

/**
 * Yields the provider's payments, transfers and refunds of a period (`to` exclusive), newest first, after the entry
 * `after`.
 */
export async function* listRecords(
  settings: ClientSettings,
  { from, to, after: begun }: { from: Date; to: Date; after?: string },
  options: CallOptions = {},
): AsyncGenerator<(ProviderRecord | UnreadableRecord)[]> {
  for (let after = begun; ; ) {
    const afterId = after;
    const page = await lookUp(settings, 'list records', options, async (client) => {
      const answer = await client.transactions.getAllTransactions({
        types: ['PAYMENT', 'DISBURSEMENT', 'BATCH_DISBURSEMENT', 'REFUND'],
        created: { gte: from, lte: new Date(to.getTime() - 1) },
        limit: perPage,
        ...(afterId === undefined ? {} : { afterId }),
      });
      return { more: answer.hasMore, entries: z.array(transactionAnswer).parse(answer.data) };
    });
    if (page === null) throw new ProviderUnknown('list records: the provider knows no records');
    yield page.entries.map(recordOf);
    after = page.entries.at(-1)?.id;
    if (!page.more || after === undefined) return;
  }
}
