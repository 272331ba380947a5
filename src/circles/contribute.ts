import type { EntityManager } from '@mikro-orm/postgresql';
import { answerOnce, withTexts } from '../money-in/payments/answer-once.ts';
import type { WakingPort } from '../money-in/payments/handler.ts';
import { type GatewayPorts, payByGateway } from '../money-in/payments/pay-by-gateway.ts';
import { payAndWake } from '../money-in/payments/pay-from-balance.ts';
import { deadlineOf, payUnderKey } from '../money-in/payments/pay-under-key.ts';
import { openTexts } from '../money-in/payments/prepare-gateway-payment.ts';
import { presentOrder } from '../money-in/payments/present-order.ts';
import { findFirstAnswer, fingerprintOf, type StoredAnswer } from '../platform/idempotency/idempotency.ts';
import { hashKey } from '../platform/openings/idempotency-keys.ts';
import { must } from '../shared/assert.ts';
import type { Caller } from '../shared/caller.ts';
import { refuse, withFieldNames } from '../shared/errors.ts';
import { balancePaymentIdFor } from '../shared/ids.ts';
import { formatMoney, type Money } from '../shared/money.ts';
import { CircleContribution } from './circle-contribution.entity.ts';
import { getPayableCircle } from './find-payable-circle.ts';
import { presentContribution } from './present-circle.ts';
import { savingCircleContribution } from './saving-circle-contribution.ts';

export interface ContributionRequest {
  saving_circle_id: string;
  /** IDR. */
  contribution_amount: Money;
  /** A payment channel: the gateway rail. */
  payment_id?: number | undefined;
  /** An account of the caller's: the balance rail. With neither, the account that the payer joined with. */
  source_account_id?: string | undefined;
  /** The member to contribute for, if not the caller. */
  on_behalf_of?: string | undefined;
}

/** What a contribution needs in addition to the database. */
export type ContributionPorts = GatewayPorts & { workflows: WakingPort };
type Contributing = { caller: Caller; key: string | undefined; request: ContributionRequest; requestId: string };
type SentAnswer = StoredAnswer & { replayed: boolean };

/** This request's names for the fields of a payment. */
const fieldNames = { id: 'saving_circle_id', reference_id: 'saving_circle_id', amount: 'contribution_amount' };

/**
 * Contributes to the open round of a circle on the rail that the request chooses, through the same dispatcher as every
 * payment. Returns the body to send: under an idempotency key the first request's answer, byte for byte. Throws as
 * `getPayableCircle` and as the rail does, and IDEMPOTENCY_KEY_REUSED for the key of another request.
 */
export async function contribute(
  em: EntityManager,
  ports: ContributionPorts,
  asking: Contributing,
): Promise<SentAnswer> {
  const { payment_id: paymentId, source_account_id } = asking.request;
  if (paymentId !== undefined && source_account_id !== undefined) {
    refuse('REQUEST_INVALID', 'give either this or payment_id', { field: 'source_account_id' });
  }
  return withFieldNames(fieldNames, () =>
    paymentId === undefined
      ? contributeFromBalance(em, ports, asking)
      : contributeByGateway(em, ports, asking, paymentId),
  );
}

const present = (contribution: CircleContribution) => ({
  message: 'Contribution made',
  ...presentContribution(contribution),
});

/** The fingerprint of the request without its idempotency key. */
const fingerprintOfRequest = (request: ContributionRequest): string =>
  fingerprintOf('POST', '/v1/saving-circles/contribute', {
    ...request,
    contribution_amount: formatMoney(request.contribution_amount),
  });

async function contributeByGateway(
  em: EntityManager,
  ports: ContributionPorts,
  { caller, key, request, requestId }: Contributing,
  paymentId: number,
): Promise<SentAnswer> {
  const body = {
    reference_type: savingCircleContribution.referenceType,
    reference_id: request.saving_circle_id,
    payment_id: paymentId,
    amount: request.contribution_amount,
    on_behalf_of: request.on_behalf_of,
  };
  const idempotency = key === undefined ? null : { keyHash: hashKey(key), fingerprint: fingerprintOfRequest(request) };
  const outcome = await payByGateway(em, ports, { caller, body, key, idempotency, requestId });
  if ('replay' in outcome) return { ...(await withTexts(em, ports.sealer, outcome.replay)), replayed: true };
  const { id, texts_sealed } = outcome.found.order;
  const made = await em.fork().findOne(CircleContribution, { payment_order_id: id });
  // An order without a contribution belongs to another request that took the key at the same time: this throws then.
  if (made === null && idempotency) await findFirstAnswer(em.fork(), { userId: caller.userId, ...idempotency });
  const contribution = must(made, 'the order of a contribution has one');
  const payment = presentOrder(outcome.found, await openTexts(ports.sealer, id, texts_sealed));
  const answer = { ...present(contribution), payment };
  return answerOnce(em.fork(), ports.sealer, { userId: caller.userId, idempotency }, answer);
}

function contributeFromBalance(
  em: EntityManager,
  { workflows }: ContributionPorts,
  { caller, key, request, requestId }: Contributing,
): Promise<SentAnswer> {
  const { saving_circle_id: circleId, contribution_amount, source_account_id } = request;
  const onBehalfOf = request.on_behalf_of ?? null;
  const { userId } = caller;
  const amount = formatMoney(contribution_amount);
  const transactionId = balancePaymentIdFor(userId, key);
  const asking = { caller, key, requestId };
  const answer = async (tx: EntityManager) => {
    const made = { saving_circle_id: circleId, user_id: userId, transaction_id: transactionId };
    return JSON.stringify(present(await tx.findOneOrFail(CircleContribution, made)));
  };
  const fingerprint = fingerprintOfRequest(request);
  return payUnderKey(em, asking, { fingerprint, transactionId, answer }, async (idempotency) => {
    const { payerAccountId } = await getPayableCircle(em, { circleId, userId, onBehalfOf, amount });
    return payAndWake(em, { workflows }, savingCircleContribution, {
      payer: caller,
      transactionId,
      referenceId: circleId,
      sourceAccountId: source_account_id ?? payerAccountId,
      amount,
      onBehalfOf,
      requestId,
      deadline: deadlineOf(caller),
      idempotency,
      answer,
    });
  });
}
