import type { EntityManager } from '@mikro-orm/postgresql';
import type { WakingPort } from '../money-in/payments/handler.ts';
import { type Answer, type Asking, payUnderKey } from '../money-in/payments/pay-as-asked.ts';
import { type GatewayPorts, payByGateway } from '../money-in/payments/pay-by-gateway.ts';
import { payAndWake } from '../money-in/payments/pay-from-balance.ts';
import { refuseReused, type SentAnswer } from '../platform/openings/idempotency-keys.ts';
import { refuse, withFieldNames } from '../shared/errors.ts';
import { formatMoney } from '../shared/money.ts';
import { CircleContribution } from './circle-contribution.entity.ts';
import type { ContributionRequest } from './circle-shape.ts';
import { getPayableCircle } from './find-payable-circle.ts';
import { presentContribution } from './present-circle.ts';
import { savingCircleContribution } from './saving-circle-contribution.ts';

export type ContributionPorts = GatewayPorts & { workflows: WakingPort };
type Contributing = Asking & { request: ContributionRequest };

/** This request's names for the fields of a payment. */
const fieldNames = { id: 'saving_circle_id', reference_id: 'saving_circle_id', amount: 'contribution_amount' };

/**
 * Contributes to a circle's open round on the requested rail. Returns the response body, or the first one under the
 * idempotency key. Throws as `getPayableCircle`, as the rail does, and IDEMPOTENCY_KEY_REUSED.
 */
export async function contribute(
  em: EntityManager,
  ports: ContributionPorts,
  { request, ...asking }: Contributing,
): Promise<SentAnswer> {
  const { saving_circle_id: circleId, payment_id, source_account_id, on_behalf_of, contribution_amount } = request;
  if (payment_id !== undefined && source_account_id !== undefined) {
    refuse('REQUEST_INVALID', 'send either this or payment_id', { field: 'source_account_id' });
  }
  const { userId } = asking.caller;
  const amount = formatMoney(contribution_amount);
  const sent = { path: '/v1/saving-circles/contribute', body: { ...request, contribution_amount: amount } };
  const fromBalance = () => {
    const answer: Answer = async (place, { transactionId: transaction_id }) => {
      const made = { saving_circle_id: circleId, user_id: userId, transaction_id };
      return JSON.stringify(present(await place.findOneOrFail(CircleContribution, made)));
    };
    return payUnderKey(em, asking, { ...sent, answer, changes: true }, async (payment) => {
      const onBehalfOf = on_behalf_of ?? null;
      const { payerAccountId } = await getPayableCircle(em, { circleId, userId, onBehalfOf, amount });
      const sourceAccountId = source_account_id ?? payerAccountId;
      const contribution = { ...payment, referenceId: circleId, sourceAccountId, amount, onBehalfOf };
      return payAndWake(em, ports, savingCircleContribution, contribution);
    });
  };
  const byGateway = (paymentId: number) => {
    const { referenceType: reference_type } = savingCircleContribution;
    const target = { reference_type, reference_id: circleId, payment_id: paymentId, on_behalf_of };
    const payment = { ...target, amount: contribution_amount };
    return payByGateway(em, ports, asking, { ...sent, payment }, async (order) => {
      const made = await em.fork().findOne(CircleContribution, { payment_order_id: order.payment_order_id });
      // An order without a contribution belongs to a concurrent request with the same key.
      return { ...present(made ?? refuseReused({ userId })), payment: order };
    });
  };
  return withFieldNames(fieldNames, () => (payment_id === undefined ? fromBalance() : byGateway(payment_id)));
}

const present = (contribution: CircleContribution) => ({
  message: 'Contribution made',
  ...presentContribution(contribution),
});
