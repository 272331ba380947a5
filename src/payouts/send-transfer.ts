import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import { type Gateway, isNeverSent, isProviderUnknown, type TransferRequest } from '../gateway/gateway.ts';
import { failpoint } from '../shared/failpoint.ts';
import { compareMoney } from '../shared/money.ts';
import { askTransfer, hearProvider } from './ask-transfer.ts';
import { lockPayout, noteWord } from './note-word.ts';
import { Payout } from './payout.entity.ts';
import { isFinalPayout, type PayoutTexts, payoutTextsPlace, type TransferWord } from './payout.ts';

/**
 * Sends a payout's transfer, once in its life: the attempt is written down and committed before the request leaves, and
 * whoever finds an attempt there does not send but asks. The payout's own id is reference and idempotency key. Only
 * when no connection could be made, so that the provider cannot have it, may the same request be made again.
 */
export async function sendTransfer(
  em: EntityManager,
  { gateway, sealer }: { gateway: Gateway; sealer: Sealer },
  { payoutId, at, signal }: { payoutId: string; at: string; signal: AbortSignal },
): Promise<TransferWord> {
  await failpoint('send-transfer.before');
  const earlier = await hearOfEarlier(em.fork(), gateway, { payoutId, signal });
  if (earlier !== null) return keepEarlier(em.fork(), payoutId, earlier, new Date(at));
  const begun = await em.transactional((tx) => beginAttempt(tx, payoutId));
  if (begun === null) return askTransfer(em.fork(), gateway, { payoutId, at, signal });
  await failpoint('send-transfer.attempt-written');
  const word = await request(gateway, await requestFor(sealer, begun.payout), signal);
  await failpoint('send-transfer.after');
  await em.fork().transactional(async (tx) => {
    await tx.execute(
      'update payout_attempts set outcome = ?, answered_at = clock_timestamp() where payout_id = ? and number = ?',
      [outcomeOf(word), payoutId, begun.number],
    );
    await noteWord(tx, await lockPayout(tx, payoutId), word, new Date(at));
  });
  await failpoint('send-transfer.noted');
  return word;
}

/** A payout that is sent this long after its reservation may have been sent before, by rows that a restore took away. */
const lateAfterMs = 60_000;

/**
 * What the provider knows of a payout that is about to be sent late: its word, or `unsent` when it does not answer, for
 * then nothing may be sent; null when it knows no such transfer, and for a payout that is sent in time or was sent.
 */
async function hearOfEarlier(
  em: EntityManager,
  gateway: Gateway,
  { payoutId, signal }: { payoutId: string; signal: AbortSignal },
): Promise<TransferWord | null> {
  const payout = await em.findOneOrFail(Payout, { id: payoutId });
  const [row] = await em.execute<{ late: boolean; sent: boolean }[]>(
    `select p.created_at < clock_timestamp() - make_interval(secs => ?) as late, exists (select from payout_attempts a
       where a.payout_id = p.id and a.outcome is distinct from 'unsent') as sent from payouts p where p.id = ?`,
    [lateAfterMs / 1000, payoutId],
  );
  if (isFinalPayout(payout.status) || row?.late !== true || row.sent) return null;
  const word = await hearProvider(gateway, { payoutId, amount: payout.net_amount, signal });
  if (word.said === 'not known') return null;
  return word.said === 'silent' ? { said: 'unsent' } : word;
}

/** Writes down what was heard in place of sending, and the attempt that it proves. */
function keepEarlier(em: EntityManager, payoutId: string, word: TransferWord, at: Date): Promise<TransferWord> {
  return em.transactional(async (tx) => {
    const payout = await lockPayout(tx, payoutId);
    if (word.said !== 'unsent') {
      await tx.execute(
        `insert into payout_attempts (payout_id, number, outcome, answered_at)
         select ?, count(*) + 1, 'accepted', clock_timestamp() from payout_attempts where payout_id = ?`,
        [payoutId, payoutId],
      );
    }
    await noteWord(tx, payout, word, at);
    return word;
  });
}

/** Writes the attempt down; null when one is there that may have reached the provider, or the payout is final. */
async function beginAttempt(tx: EntityManager, payoutId: string): Promise<{ payout: Payout; number: number } | null> {
  const payout = await lockPayout(tx, payoutId);
  if (isFinalPayout(payout.status)) return null;
  const attempts = await tx.execute<{ outcome: string | null }[]>(
    'select outcome from payout_attempts where payout_id = ?',
    [payoutId],
  );
  if (attempts.some(({ outcome }) => outcome !== 'unsent')) return null;
  const number = attempts.length + 1;
  await tx.execute('insert into payout_attempts (payout_id, number) values (?, ?)', [payoutId, number]);
  return { payout, number };
}

async function requestFor(sealer: Sealer, payout: Payout): Promise<TransferRequest> {
  const texts: PayoutTexts = JSON.parse(await sealer.open(payoutTextsPlace(payout.id), payout.texts_sealed));
  return {
    reference: payout.id,
    bankCode: payout.bank_code,
    accountNumber: texts.bank_account_number,
    accountHolder: texts.beneficiary_name ?? '',
    amount: payout.net_amount,
    description: payout.reference,
  };
}

async function request(gateway: Gateway, transfer: TransferRequest, signal: AbortSignal): Promise<TransferWord> {
  try {
    const answer = await gateway.requestTransfer(transfer, { signal });
    if (answer.outcome === 'refused') return { said: 'refused', failureCode: answer.code };
    const { status, providerTransferId, failureCode, amount } = answer.transfer;
    return compareMoney(amount, transfer.amount) === 0
      ? { said: status, providerTransferId, failureCode }
      : { said: 'another amount', providerTransferId };
  } catch (error) {
    if (!isProviderUnknown(error)) throw error;
    return { said: isNeverSent(error) ? 'unsent' : 'silent' };
  }
}

function outcomeOf({ said }: TransferWord): 'accepted' | 'refused' | 'unknown' | 'unsent' {
  if (said === 'refused' || said === 'unsent') return said;
  return said === 'silent' || said === 'another amount' ? 'unknown' : 'accepted';
}
