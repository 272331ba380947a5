import type { EntityManager } from '@mikro-orm/postgresql';
import { type Gateway, isProviderUnknown, type TransferState } from '../../platform/gateway/gateway.ts';
import { budgets } from '../../shared/budgets.ts';
import { refuse } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { compareMoney, type Money } from '../../shared/money.ts';
import type { Decision } from '../decisions/decision.entity.ts';
import { endDecision, lockDecision, recordDecisionEnded, whyPowerless } from '../decisions/end-decision.ts';
import type { DecisionHandling, Look } from '../decisions/handling.ts';
import { hearProvider } from '../payouts/ask-transfer.ts';
import { Payout } from '../payouts/payout.entity.ts';

/** Books money that left by a transfer which failed here, or which nobody here asked for: needs two people. */
export const bookingTransfer: DecisionHandling<'book_transfer'> = {
  look: (em, gateway, { payout_id, provider_reference }) =>
    payout_id === undefined ? lookBeyond(em, gateway, provider_reference ?? '') : lookAtPayout(em, gateway, payout_id),
  carryOut: (em, _, { id }) => em.transactional((tx) => book(tx, id)),
  whyMoved: async () => null,
};

async function lookAtPayout(em: EntityManager, gateway: Gateway, payoutId: string): Promise<Look> {
  const field = 'payout_id';
  const payout =
    (await em.findOne(Payout, { id: payoutId })) ?? refuse('NOT_FOUND', 'the payout was not found', { field });
  const { status, net_amount, last_word, booked_at, source_account_id, provider_transfer_id } = payout;
  if (status !== 'failed') refuse('REQUEST_INVALID', `the payout is ${status}, not failed`, { field });
  if (booked_at) refuse('REQUEST_INVALID', 'the transfer is booked already', { field });
  const { said: says } = await hearProvider(gateway, payout, AbortSignal.timeout(budgets.provider.call));
  if (says !== 'succeeded' || last_word !== 'succeeded') {
    refuse('REQUEST_INVALID', `the provider does not say that the transfer succeeded; it says: ${says}`, { field });
  }
  const [source] = await em.execute<{ balance: Money }[]>(
    'select account_balance(?)::numeric(20, 4)::text as balance',
    [source_account_id],
  );
  return {
    evidence: {
      provider: { says, transfer_id: provider_transfer_id ?? null, amount: net_amount },
      books: { status, net_amount, source_balance: source?.balance },
    },
    isProven: false,
  };
}

interface Beyond {
  id: string;
  kind: string;
  subject: string;
  reference: string;
  amount: Money;
  refund_of: string | null;
}

/** A transfer that nobody knows, or that is the second of its reference. */
async function lookBeyond(em: EntityManager, gateway: Gateway, named: string): Promise<Look> {
  const field = 'provider_reference';
  const [transfer, another] = await em.execute<Beyond[]>(
    `select t.id, t.kind, t.subject, t.reference, t.theirs ->> 'amount' as amount, p.refund_of
     from transfers_beyond_ours(?) t left join payouts p on p.id = t.resource_id order by t.id limit 2`,
    [named],
  );
  if (transfer === undefined) return refuse('NOT_FOUND', 'the transfer that is not booked was not found', { field });
  if (another !== undefined) refuse('REQUEST_INVALID', 'names several transfers: give the provider’s id', { field });
  const found = await find(gateway, transfer);
  if (found?.status !== 'succeeded' || compareMoney(found.amount, transfer.amount) !== 0) {
    const says = found === undefined ? 'nothing of it' : `${found.status}, IDR ${found.amount}`;
    refuse('REQUEST_INVALID', `the provider does not say that the transfer succeeded; it says: ${says}`, { field });
  }
  return {
    evidence: {
      provider: { says: found.status, transfer_id: transfer.subject, amount: found.amount },
      books: { kind: transfer.kind, reference: transfer.reference, reconciliation_id: transfer.id },
    },
    isProven: false,
  };
}

/** Throws SERVICE_UNAVAILABLE when the provider does not answer. */
async function find(gateway: Gateway, { reference, refund_of, subject }: Beyond): Promise<TransferState | undefined> {
  const signal = AbortSignal.timeout(budgets.provider.call);
  try {
    const found = await gateway.findTransfer(reference, { refundOf: refund_of, signal });
    return found === null
      ? undefined
      : [found, ...found.further].find(({ providerTransferId }) => providerTransferId === subject);
  } catch (cause) {
    if (!isProviderUnknown(cause)) throw cause;
    return refuse('SERVICE_UNAVAILABLE', 'The provider does not answer; try again', { cause, retryAfterSeconds: 5 });
  }
}

async function book(tx: EntityManager, decisionId: string): Promise<void> {
  const decision: Decision = await lockDecision(tx, decisionId);
  if (decision.status !== 'pending') return;
  const why = await whyPowerless(tx, decision);
  if (why !== null) return endDecision(tx, decision, { status: 'lapsed', reason: why });
  if (!decision.approved_by) return;
  const [row] = await tx.execute<{ booked: boolean }[]>('select book_transfer(?, ?) as booked', [newId(), decisionId]);
  if (!row?.booked) {
    return endDecision(tx, decision, { status: 'refused', reason: 'there is no such transfer that is not booked' });
  }
  await tx.refresh(decision);
  await recordDecisionEnded(tx, decision, { actorId: decision.approved_by });
}
