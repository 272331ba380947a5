import type { EntityManager } from '@mikro-orm/postgresql';
import { type Gateway, isProviderUnknown } from '../gateway/gateway.ts';
import { failpoint } from '../shared/failpoint.ts';
import { compareMoney, type Money } from '../shared/money.ts';
import { lockPayout, noteWord } from './note-word.ts';
import { Payout } from './payout.entity.ts';
import type { TransferWord } from './payout.ts';

/** The provider's word on a payout's transfer, asked by reference; silence is a word too. Writes nothing down. */
export async function hearProvider(
  gateway: Gateway,
  { payoutId, amount, signal }: { payoutId: string; amount: Money; signal: AbortSignal },
): Promise<TransferWord> {
  try {
    const transfer = await gateway.findTransfer(payoutId, { signal });
    if (transfer === null) return { said: 'not known' };
    const { status, providerTransferId, failureCode } = transfer;
    return compareMoney(transfer.amount, amount) === 0
      ? { said: status, providerTransferId, failureCode }
      : { said: 'another amount', providerTransferId };
  } catch (error) {
    if (!isProviderUnknown(error)) throw error;
    return { said: 'silent' };
  }
}

/** Asks the provider what became of a payout, and writes down what it said. `at` (ISO 8601) is the workflow's clock. */
export async function askTransfer(
  em: EntityManager,
  gateway: Gateway,
  { payoutId, at, signal }: { payoutId: string; at: string; signal: AbortSignal },
): Promise<TransferWord> {
  const { net_amount: amount } = await em.findOneOrFail(Payout, { id: payoutId });
  const word = await hearProvider(gateway, { payoutId, amount, signal });
  await em.fork().transactional(async (tx) => noteWord(tx, await lockPayout(tx, payoutId), word, new Date(at)));
  await failpoint('ask-transfer.after');
  return word;
}
