import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../../ledger/accounts/account.entity.ts';
import { mayUseAccount } from '../../ledger/may-use-account.ts';
import type { SentAnswer } from '../../platform/openings/idempotency-keys.ts';
import { refuse, withFieldNames } from '../../shared/errors.ts';
import { formatMoney, type Money } from '../../shared/money.ts';
import { presentPaid } from './balance-payment.ts';
import type { HandlingPorts } from './handler.ts';
import { type GatheredKind, moveTogether, type PayTogether, payAndWake } from './pay-from-balance.ts';
import { type Asking, payUnderKey } from './pay-under-key.ts';
import type { ReferenceType } from './payment-order.ts';
import { getHandler } from './prepare-gateway-payment.ts';

/** What requests ask to be paid from a balance: a target of a handler, or a pocket of one's own. */

export interface BalancePaymentRequest {
  reference_type: ReferenceType;
  reference_id: string;
  source_account_id: string;
  /** IDR, as the request wrote it. */
  amount: Money;
}

/**
 * Pays from a balance: looks up the stored answer of the key, then checks handler, rail and permission, then pays, then
 * wakes the workflow that waits for the payment. Returns the body as it is sent, byte for byte.
 */
export async function payAsAsked(
  em: EntityManager,
  ports: HandlingPorts & { payTogether: PayTogether },
  body: BalancePaymentRequest,
  asking: Asking,
): Promise<SentAnswer> {
  const { reference_type, reference_id, source_account_id: sourceAccountId } = body;
  const amount = formatMoney(body.amount);
  const answer = presentPaid('Payment completed', { reference_type, reference_id });
  return payUnderKey(em, asking, { path: '/v1/payments/balance', body: { ...body, amount }, answer }, (payment) => {
    const handler = getHandler(ports, asking.caller, { referenceType: reference_type, rail: 'balance' });
    return payAndWake(em, ports, handler, { ...payment, referenceId: reference_id, sourceAccountId, amount });
  });
}

export interface TransferRequest {
  sourceAccountId: string;
  destinationAccountId: string;
  /** IDR. */
  amount: Money;
}

/** The accounts at both ends are the caller's own, for good, and take any amount: nothing is judged but the balance. */
const pocketTransfer: GatheredKind = {
  movement: {
    kind: 'pocket-transfer',
    referenceType: 'account_top_up',
    purpose: 'pocket_transfer',
  },
  together: {
    targets: (payments) => ({
      call: 'targets_at(?::uuid[])',
      params: [payments.map(({ referenceId }) => referenceId)],
    }),
    effect: () => 'null',
  },
};

/**
 * Moves money between two of the caller's own accounts: a payment like any other, of purpose `pocket_transfer`
 * (docs/contract.md 2). Throws 404 for a missing account, 403 for another's, 400 when both are the same or the balance
 * is too low.
 */
export async function transferBetweenPockets(
  { em, payTogether }: { em: EntityManager; payTogether?: PayTogether },
  transfer: TransferRequest,
  asking: Asking,
): Promise<SentAnswer> {
  const { sourceAccountId, destinationAccountId: referenceId } = transfer;
  const amount = formatMoney(transfer.amount);
  const { referenceType: reference_type } = pocketTransfer.movement;
  const request = {
    path: `/v1/accounts/${sourceAccountId}/transfers`,
    body: { destination_account_id: referenceId, amount },
    answer: presentPaid('Transfer completed', { reference_type, reference_id: referenceId }),
  };
  return payUnderKey(em, asking, request, async (payment) => {
    const accounts = await em.find(Account, { id: { $in: [sourceAccountId, referenceId] } });
    for (const [field, accountId] of [
      ['account_id', sourceAccountId],
      ['destination_account_id', referenceId],
    ]) {
      const account = accounts.find(({ id }) => id === accountId);
      if (account === undefined) refuse('NOT_FOUND', 'the account was not found', { field });
      if (!mayUseAccount(asking.caller, account)) refuse('FORBIDDEN', 'the account is not yours', { field });
    }
    return withFieldNames({ source_account_id: 'account_id' }, () =>
      moveTogether(em, pocketTransfer, { ...payment, referenceId, sourceAccountId, amount }, payTogether),
    );
  });
}
