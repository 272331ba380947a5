import type { EntityManager } from '@mikro-orm/postgresql';
import { type Gateways, isProviderUnknown, type TransferState } from '../../platform/gateway/gateway.ts';
import { budgets } from '../../shared/budgets.ts';
import { refuse } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { compareMoney, type Money } from '../../shared/money.ts';
import type { Evidence } from '../decisions/decision.ts';
import { type DecisionHandling, type Look, refused } from '../decisions/handling.ts';
import { amountMade, hearProvider } from '../payouts/ask-transfer.ts';
import { noteGone } from '../payouts/beyond-ours.ts';
import { Payout } from '../payouts/payout.entity.ts';
import { lockPayout, recordProviderStatus } from '../payouts/record-provider-status.ts';

/**
 * Books the money of a transfer that failed here, was returned, or was never requested here. Needs two people. The
 * provider is asked at the proposal and again when it is carried out.
 */
export const bookingTransfer: DecisionHandling<'book_transfer'> = {
  look: (em, gateways, { payout_id, provider_reference }) =>
    payout_id === undefined
      ? lookBeyond(em, gateways, provider_reference ?? '')
      : lookAtPayout(em, gateways, payout_id),
  hear: (em, gateways, { payout_id, provider_reference, evidence }) =>
    payout_id ? hearOfPayout(em, gateways, payout_id, evidence) : hearBeyond(em, gateways, provider_reference ?? ''),
  whyMoved: async () => null,
  async act(tx, _, { id }, { why, write }: Heard) {
    await write(tx);
    if (why !== null) return refused(why);
    const [row] = await tx.execute<{ booked: boolean }[]>('select book_transfer(?, ?) as booked', [newId(), id]);
    return row?.booked ? undefined : refused(noSuchTransfer);
  },
};

const signalOfCall = () => AbortSignal.timeout(budgets.provider.call);
const unanswered = (cause?: unknown): never =>
  refuse('SERVICE_UNAVAILABLE', 'The provider does not answer; try again', { cause, retryAfterSeconds: 5 });
const whyNotMade = (says: string): string =>
  `the provider does not report that the transfer succeeded; it says: ${says}`;
const noSuchTransfer = 'no unbooked transfer was found';

async function lookAtPayout(em: EntityManager, gateways: Gateways, payoutId: string): Promise<Look> {
  const field = 'payout_id';
  const payout =
    (await em.findOne(Payout, { id: payoutId })) ?? refuse('NOT_FOUND', 'the payout was not found', { field });
  const { status, net_amount, last_word, booked_at, source_account_id, provider_transfer_id } = payout;
  if (status !== 'failed' && status !== 'reversed') {
    refuse('REQUEST_INVALID', `the payout is ${status}, neither failed nor reversed`, { field });
  }
  if (booked_at) refuse('REQUEST_INVALID', 'the transfer is booked already', { field });
  const report = await hearProvider(em, gateways, payout, signalOfCall());
  const { said: says } = report;
  const amount = amountMade(report, net_amount);
  if (amount === null || last_word !== says) refuse('REQUEST_INVALID', whyNotMade(says), { field });
  const [source] = await em.execute<{ balance: Money }[]>(
    'select account_balance(?)::numeric(20, 4)::text as balance',
    [source_account_id],
  );
  return {
    evidence: {
      provider: { says, transfer_id: provider_transfer_id ?? null, amount },
      books: { status, net_amount, source_balance: source?.balance },
    },
    isProven: false,
  };
}

interface Beyond {
  id: string;
  provider: string;
  kind: string;
  subject: string;
  reference: string;
  amount: Money;
  refund_of: string | null;
}

/** Up to two matching transfers, each with its latest difference. */
const findBeyond = (em: EntityManager, named: string): Promise<Beyond[]> =>
  em.execute<Beyond[]>(
    `select distinct on (t.subject) t.id, t.provider, t.kind, t.subject, t.reference, t.theirs ->> 'amount' as amount, p.refund_of
     from transfers_beyond_ours(?) t left join payouts p on p.id = t.resource_id order by t.subject, t.day desc limit 2`,
    [named],
  );

/**
 * The unknown transfer, or the second one under a reference, that is named by our reference or the provider's id.
 * Throws NOT_FOUND, and REQUEST_INVALID if several match or the provider does not report that it succeeded.
 */
export async function getTransferBeyond(em: EntityManager, gateways: Gateways, named: string): Promise<Beyond> {
  const field = 'provider_reference';
  const [transfer, another] = await findBeyond(em, named);
  if (transfer === undefined) return refuse('NOT_FOUND', noSuchTransfer, { field });
  if (another !== undefined) refuse('REQUEST_INVALID', 'matches several transfers: send the provider’s id', { field });
  const why = whyNotAsListed(transfer, await find(gateways, transfer));
  return why === null ? transfer : refuse('REQUEST_INVALID', why, { field });
}

async function lookBeyond(em: EntityManager, gateways: Gateways, named: string): Promise<Look> {
  const transfer = await getTransferBeyond(em, gateways, named);
  return {
    evidence: {
      provider: { says: 'succeeded', transfer_id: transfer.subject, amount: transfer.amount },
      books: {
        ...{ kind: transfer.kind, reference: transfer.reference, reconciliation_id: transfer.id },
        // If this transfer refunded one of them, booking it would count the money twice: explain the difference.
        refunded_receipts: await findRefunded(em, transfer.amount),
      },
    },
    isProven: false,
  };
}

/** Up to five receipts of this amount, the latest first, refunded in 90 days without naming a transfer. */
async function findRefunded(em: EntityManager, amount: Money): Promise<string[]> {
  const found = await em.execute<{ id: string }[]>(
    `select receipt_id as id from decisions d where d.kind = 'settle_receipt' and d.action = 'refund'
       and d.status = 'carried_out' and d.provider_reference is null and d.created_at > now() - interval '90 days'
       and exists (select from receipts r where r.id = d.receipt_id and r.amount = ?) order by d.id desc limit 5`,
    [amount],
  );
  return found.map(({ id }) => id);
}

function whyNotAsListed(transfer: Beyond, found: TransferState | undefined): string | null {
  if (found?.status === 'succeeded' && compareMoney(found.amount, transfer.amount) === 0) return null;
  return whyNotMade(found === undefined ? 'no such transfer' : `${found.status}, IDR ${found.amount}`);
}

/** Throws SERVICE_UNAVAILABLE if the provider does not answer. */
async function find(
  gateways: Gateways,
  { provider, reference, refund_of, subject }: Beyond,
): Promise<TransferState | undefined> {
  try {
    const found = await gateways.of(provider).findTransfer(reference, {
      refundOf: refund_of,
      known: subject,
      signal: signalOfCall(),
    });
    return found === null
      ? undefined
      : [found, ...found.further].find(({ providerTransferId }) => providerTransferId === subject);
  } catch (cause) {
    if (!isProviderUnknown(cause)) throw cause;
    return unanswered(cause);
  }
}

/** The provider's current answer: why the transfer cannot be booked (null if it can), and the status to record. */
export interface Heard {
  why: string | null;
  write(tx: EntityManager): Promise<void>;
}

async function hearOfPayout(
  em: EntityManager,
  gateways: Gateways,
  payoutId: string,
  { provider }: Evidence,
): Promise<Heard> {
  const payout = await em.findOneOrFail(Payout, { id: payoutId });
  const report = await hearProvider(em, gateways, payout, signalOfCall());
  if (report.said === 'silent') return unanswered();
  const amount = amountMade(report, payout.net_amount);
  const { amount: decided } = (provider ?? {}) as { amount?: Money };
  return {
    why: amount !== null && amount === decided ? null : whyNotMade(report.said),
    write: async (tx) => recordProviderStatus(tx, await lockPayout(tx, payoutId), report, new Date()),
  };
}

export async function hearBeyond(em: EntityManager, gateways: Gateways, named: string): Promise<Heard> {
  const [transfer] = await findBeyond(em, named);
  const found = transfer && (await find(gateways, transfer));
  return {
    why: transfer === undefined ? noSuchTransfer : whyNotAsListed(transfer, found),
    write: async (tx) => {
      if (found) await noteGone(tx, { providerId: found.providerTransferId, status: found.status });
    },
  };
}
