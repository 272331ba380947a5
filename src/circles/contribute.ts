import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import type { Caller } from '../identity/caller.ts';
import type { OrderWithChannel } from '../payments/find-orders.ts';
import { savingCircleContribution } from '../payments/handlers/saving-circle-contribution.ts';
import { payByGateway } from '../payments/pay-by-gateway.ts';
import { payFromBalance } from '../payments/pay-from-balance.ts';
import { assert } from '../shared/assert.ts';
import { refuse, withFieldNames } from '../shared/errors.ts';
import { balancePaymentIdFor } from '../shared/ids.ts';
import { formatMoney, type Money } from '../shared/money.ts';
import type { TemporalDoor } from '../temporal/door.ts';
import { CircleContribution } from './circle-contribution.entity.ts';
import { getPayableCircle } from './find-payable-circle.ts';

export interface ContributionRequest {
  saving_circle_id: string;
  /** IDR. */
  contribution_amount: Money;
  /** A channel: the gateway rail. */
  payment_id?: number | undefined;
  /** An account of the caller's: the balance rail. Without either, the account that the member joined with. */
  source_account_id?: string | undefined;
}

export interface MadeContribution {
  contribution: CircleContribution;
  /** The order, on the gateway rail. */
  payment: OrderWithChannel | null;
}

type Ports = { sealer: Sealer; temporal: Pick<TemporalDoor, 'startGatewayPayment'> };
type Asking = { caller: Caller; request: ContributionRequest; requestId: string };

/** What this request calls the fields of a payment. */
const fieldNames = { id: 'saving_circle_id', reference_id: 'saving_circle_id', amount: 'contribution_amount' };

/**
 * Contributes to the open round of a circle on the rail that the request chooses, through the same dispatcher as every
 * payment. Refuses as `getPayableCircle` and as the rail does.
 */
export async function contribute(em: EntityManager, ports: Ports, asking: Asking): Promise<MadeContribution> {
  const { saving_circle_id: circleId, contribution_amount, payment_id, source_account_id } = asking.request;
  if (payment_id !== undefined && source_account_id !== undefined) {
    refuse('REQUEST_INVALID', 'source_account_id: give either this or payment_id');
  }
  const amount = formatMoney(contribution_amount);
  return withFieldNames(fieldNames, async () => {
    const { memberAccountId } = await getPayableCircle(em, { circleId, userId: asking.caller.userId, amount });
    return payment_id === undefined
      ? contributeFromBalance(em, asking, source_account_id ?? memberAccountId)
      : contributeByGateway(em, ports, asking, payment_id);
  });
}

async function contributeByGateway(
  em: EntityManager,
  ports: Ports,
  { caller, request, requestId }: Asking,
  paymentId: number,
): Promise<MadeContribution> {
  const body = {
    reference_type: savingCircleContribution.referenceType,
    reference_id: request.saving_circle_id,
    payment_id: paymentId,
    amount: request.contribution_amount,
  };
  const outcome = await payByGateway(em, ports, { caller, body, key: undefined, requestId });
  assert('found' in outcome, 'a contribution without a key is not a replay');
  const contribution = await em.fork().findOneOrFail(CircleContribution, { payment_order_id: outcome.found.order.id });
  return { contribution, payment: outcome.found };
}

async function contributeFromBalance(
  em: EntityManager,
  { caller, request, requestId }: Asking,
  sourceAccountId: string,
): Promise<MadeContribution> {
  const { saving_circle_id: circleId, contribution_amount } = request;
  const { userId } = caller;
  const transactionId = balancePaymentIdFor(userId, undefined);
  await payFromBalance(em, savingCircleContribution, {
    payer: caller,
    transactionId,
    referenceId: circleId,
    sourceAccountId,
    amount: formatMoney(contribution_amount),
    requestId,
  });
  const contribution = await em.fork().findOneOrFail(CircleContribution, {
    saving_circle_id: circleId,
    user_id: userId,
    transaction_id: transactionId,
  });
  return { contribution, payment: null };
}
