import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../../ledger/accounts/account.entity.ts';
import type { AccountKind } from '../../ledger/accounts/account.ts';
import { findErasedOwner } from '../../ledger/find-accounts.ts';
import { carryOutAbout } from '../../money-out/decisions/carry-out.ts';
import { type DecisionHandling, type DecisionPorts, refused } from '../../money-out/decisions/handling.ts';
import {
  getTransferBeyond,
  type Heard as HeardTransfer,
  hearBeyond,
} from '../../money-out/payouts/booking-transfer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import { type Gateways, isProviderUnknown, type ProviderPayment } from '../../platform/gateway/gateway.ts';
import { must } from '../../shared/assert.ts';
import { budgets } from '../../shared/budgets.ts';
import { westernIndonesiaDay } from '../../shared/clock.ts';
import { refuse } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { newId } from '../../shared/ids.ts';
import { compareMoney } from '../../shared/money.ts';
import { strayOfReceipt } from './confirm-payment.ts';
import { Receipt } from './receipt.entity.ts';
import type { ReceiptSettlement, ReceiptState } from './receipt.ts';

/**
 * Account kinds whose owner can move money on by a payment, transfer or payout. Products pay nothing out, saving goals
 * are released as a whole, the open pool only pays out donations, circles only pay out contributions, and a partner's
 * pending and reserved money belongs to its payments and payouts. Late money for these goes to an account of its payer.
 */
const creditableKinds: readonly AccountKind[] = ['user', 'organization', 'partner_available'];

/**
 * Carries out a decision about a suspended receipt; returns its state. Throws REQUEST_INVALID for any other decision.
 */
export async function settleReceipt(
  em: EntityManager,
  ports: DecisionPorts,
  { receiptId, settlement }: { receiptId: string; settlement: ReceiptSettlement },
): Promise<ReceiptState> {
  await carryOutAbout(em, ports, { id: settlement.decision_id, kind: 'settle_receipt', receipt_id: receiptId });
  return (await em.fork().findOneOrFail(Receipt, { id: receiptId })).state;
}

/** Whether the provider reports that the money did not arrive or was returned. */
const isTakenBack = (says: string): boolean => says === 'failed' || says === 'voided';

/** The provider's status, if it is final. */
const forGood = (says: string | undefined): string | undefined =>
  says !== undefined && ['succeeded', 'failed', 'voided'].includes(says) ? says : undefined;

/** Throws REQUEST_INVALID for an account that may not be credited from suspense. */
async function requireCreditable(em: EntityManager, accountId: string): Promise<void> {
  const field = 'account_id';
  const account = await em.findOne(Account, { id: accountId });
  if (account === null) return refuse('REQUEST_INVALID', 'the account was not found', { field });
  if ((await findErasedOwner(em, accountId)) !== null) {
    refuse('REQUEST_INVALID', 'is the account of an erased person, who could not move the money', { field });
  }
  if (creditableKinds.includes(account.kind)) return;
  const possible = creditableKinds.join(', ');
  refuse(
    'REQUEST_INVALID',
    `is an account of kind ${account.kind}, whose owner could not move the money; possible kinds are ${possible}`,
    { field },
  );
}

const noSuchTransfer = 'no unbooked transfer of this amount was found';

/**
 * The provider's id of the unknown transfer that refunded a receipt; undefined if none did. Throws REQUEST_INVALID if
 * the named one has another amount, or if none is named while one may have refunded the receipt: the money would be
 * booked twice. Otherwise throws as `getTransferBeyond` does.
 */
async function requireTransfer(
  em: EntityManager,
  gateways: Gateways,
  { amount, received_at }: Receipt,
  named: string | undefined,
): Promise<string | undefined> {
  const field = 'provider_reference';
  if (named !== undefined) {
    const transfer = await getTransferBeyond(em, gateways, named);
    if (compareMoney(transfer.amount, amount) !== 0) refuse('REQUEST_INVALID', noSuchTransfer, { field });
    return transfer.subject;
  }
  const [unknown] = await em.execute<{ subject: string }[]>(
    `select subject from reconciliations where kind = 'UNKNOWN_TRANSFER' and state = 'open'
       and theirs ->> 'status' = 'succeeded' and (theirs ->> 'amount')::numeric = ?
       and day >= ? and not is_transfer_known(subject) limit 1`,
    [amount, westernIndonesiaDay(received_at)],
  );
  if (unknown === undefined) return undefined;
  const advice = 'name it if it refunded the money, otherwise book it first (book_transfer)';
  return refuse('REQUEST_INVALID', `is required: the transfer ${unknown.subject} has this amount; ${advice}`, {
    field,
  });
}

/** The provider's current status of a receipt's payment, `not known`, or `silent` if the provider does not answer. */
async function hearPayment(
  gateways: Gateways,
  { provider, provider_payment_method_id: method, provider_payment_id: id }: Receipt,
): Promise<ProviderPayment['status'] | 'not known' | 'silent'> {
  const signal = AbortSignal.timeout(budgets.provider.call);
  try {
    return (await gateways.of(provider).findPayment(method, id, { signal }))?.status ?? 'not known';
  } catch (error) {
    if (!isProviderUnknown(error)) throw error;
    return 'silent';
  }
}

/** The provider's current status of the payment, and of the transfer that refunded it, if the decision names one. */
interface Heard {
  says: string;
  transfer: HeardTransfer | null;
}

/** Credits money in suspense to an account, or records that the provider refunded it; needs two people. */
export const settlingReceipt: DecisionHandling<'settle_receipt'> = {
  async look(em, gateways, { receipt_id: id, action, account_id, provider_reference: named }) {
    const receipt =
      (await em.findOne(Receipt, { id })) ?? refuse('NOT_FOUND', 'the receipt was not found', { field: 'receipt_id' });
    const { state, amount, reason, reference, received_at } = receipt;
    if (state !== 'suspended')
      refuse('REQUEST_INVALID', `the receipt is ${state}, not suspended`, { field: 'receipt_id' });
    if (action === 'credit') await requireCreditable(em, must(account_id, 'a credit names its account'));
    const transfer_id = action === 'refund' ? await requireTransfer(em, gateways, receipt, named) : undefined;
    const says = await hearPayment(gateways, receipt);
    if (action === 'credit' && isTakenBack(says)) {
      refuse('REQUEST_INVALID', `the provider reports the payment as ${says}: there is no money to credit`, {
        field: 'action',
      });
    }
    return {
      evidence: {
        provider: { says, payment_id: receipt.provider_payment_id },
        books: {
          ...{ status: state, amount, reason: reason ?? null, reference, received_at: received_at.toISOString() },
          ...(transfer_id && { transfer_id }),
        },
      },
      isProven: false,
    };
  },
  hear: async (em, gateways, { receipt_id, provider_reference: named }): Promise<Heard> => ({
    says: await hearPayment(gateways, await em.findOneOrFail(Receipt, { id: receipt_id ?? '' })),
    transfer: named ? await hearBeyond(em, gateways, named) : null,
  }),
  /** Why the decision no longer applies: the receipt, the account or the provider's status has changed. */
  async whyMoved(tx, decision, heard?: Heard) {
    const says = heard?.says;
    const { state } = await tx.findOneOrFail(Receipt, { id: decision.receipt_id ?? '' }, { refresh: true });
    if (state !== 'suspended') return `the receipt is now ${state}`;
    if (decision.account_id && (await findErasedOwner(tx, decision.account_id)) !== null) {
      return 'the person whose account would be credited has been erased';
    }
    // Suspended money was confirmed once: silence or absence from the list, now or at the proposal, does not revoke
    // that.
    const said = forGood((decision.evidence.provider as { says?: string } | null)?.says) ?? 'succeeded';
    const now = forGood(says);
    const isNew = now !== undefined && now !== said;
    const isGone = decision.action === 'credit' && isTakenBack(says ?? '');
    return isNew || isGone ? `the provider has since reported the payment as ${says}` : null;
  },
  async act(tx, _, decision, { transfer }: Heard) {
    await transfer?.write(tx);
    if (transfer?.why) return refused(transfer.why);
    const { id: decision_id, receipt_id, note, action, account_id } = decision;
    const receipt = await tx.findOneOrFail(Receipt, { id: receipt_id ?? '' });
    const { id, amount } = receipt;
    const journal_id = newId();
    const sql = 'select settle_receipt(?, ?) as settled';
    const [{ settled }] = await tx.execute<[{ settled: boolean }]>(sql, [journal_id, decision_id]);
    if (!settled) {
      // Another decision about it, or about the transfer, has been carried out by now.
      await tx.refresh(receipt);
      if (receipt.state === 'suspended') return refused(noSuchTransfer);
      return { status: 'lapsed', reason: `the receipt is now ${receipt.state}` };
    }
    const by = { actorId: decision.approved_by ?? null, requestId: null };
    const data = { action, account_id: account_id ?? null, note, amount, journal_id, decision_id };
    await recordAction(tx, by, ['RESOURCE_UPDATED', 'HIGH'], ['receipt', id], data);
    return undefined;
  },
  async tell(em, workflows, { receipt_id }) {
    await failpoint('settle-receipt.after');
    await workflows.openUnmatchedReceipt(strayOfReceipt(await em.findOneOrFail(Receipt, { id: receipt_id ?? '' })));
  },
};
