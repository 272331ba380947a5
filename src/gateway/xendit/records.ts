import { z } from 'zod';
import { type CallOptions, type ProviderRecord, ProviderUnknown } from '../gateway.ts';
import { type ClientSettings, lookUp } from './client.ts';
import { moneyFromWire } from './wire-amount.ts';

const perPage = 50;

const transactionAnswer = z.object({
  id: z.string().min(1),
  productId: z.string().min(1),
  type: z.string(),
  status: z.string(),
  referenceId: z.string(),
  amount: z.number(),
});

const kinds: Record<string, ProviderRecord['kind']> = {
  PAYMENT: 'payment',
  DISBURSEMENT: 'transfer',
  BATCH_DISBURSEMENT: 'transfer',
};
const statuses: Record<string, ProviderRecord['status']> = {
  PENDING: 'pending',
  SUCCESS: 'succeeded',
  FAILED: 'failed',
  VOIDED: 'failed',
  REVERSED: 'reversed',
};

function recordOf(answer: z.infer<typeof transactionAnswer>): ProviderRecord {
  const { id: entryId, type, status, productId, referenceId, amount } = answer;
  const kind = kinds[type];
  const known = statuses[status];
  if (!kind || !known) throw new ProviderUnknown(`list records: the provider answered ${type} ${status}`);
  return { entryId, kind, providerId: productId, reference: referenceId, amount: moneyFromWire(amount), status: known };
}

/** The provider's payments and transfers of a period (`to` is the first instant after it), newest first, after an entry. */
export async function* listRecords(
  settings: ClientSettings,
  { from, to, after: begun }: { from: Date; to: Date; after?: string },
  options: CallOptions = {},
): AsyncGenerator<ProviderRecord[]> {
  for (let after = begun; ; ) {
    const afterId = after;
    const page = await lookUp(settings, 'list records', options, async (client) => {
      const answer = await client.transactions.getAllTransactions({
        types: ['PAYMENT', 'DISBURSEMENT', 'BATCH_DISBURSEMENT'],
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
