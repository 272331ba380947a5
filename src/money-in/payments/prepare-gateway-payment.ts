import type { EntityManager } from '@mikro-orm/postgresql';
import { unlessErased } from '../../platform/encryption/personal-keys.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { type Caller, requirePermission } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { formatMoney, type Money } from '../../shared/money.ts';
import { getChannelFor } from './find-channels.ts';
import type { HandlingPorts, PaymentHandler, PaymentKinds, Rail } from './handler.ts';
import { adminFee } from './payment-channel.ts';
import type { PaymentOpening } from './payment-contract.ts';
import type { ReferenceType } from './payment-order.ts';

export interface GatewayPaymentRequest {
  reference_type: ReferenceType;
  reference_id: string;
  payment_id: number;
  /** IDR, as the request wrote it. */
  amount: Money;
  transaction_name?: string | undefined;
  transaction_desc?: string | undefined;
  /** The member of a shared target that it is for, if not the caller. */
  on_behalf_of?: string | undefined;
}

export interface PaymentTexts {
  transaction_name: string;
  transaction_desc: string;
}

/** The handler of a payment on a rail. Throws 400 when this rail has none, 403 when the permission is missing. */
export function getHandler(
  { paymentKinds }: Pick<HandlingPorts, 'paymentKinds'>,
  caller: Caller,
  { referenceType, rail }: { referenceType: ReferenceType; rail: Rail },
): PaymentHandler {
  const handler = paymentKinds[referenceType];
  if (!handler.rails.includes(rail)) {
    refuse('REQUEST_INVALID', `${referenceType} cannot be paid by ${rail}`, { field: 'reference_type' });
  }
  requirePermission(caller, handler.permission);
  return handler;
}

/**
 * Checks everything that can be refused before a payment exists: handler, permission, channel and amount, target.
 * Returns the input of its workflow.
 */
export async function prepareGatewayPayment(
  em: EntityManager,
  ports: { sealer: Sealer; paymentKinds: PaymentKinds },
  input: {
    orderId: string;
    caller: Caller;
    body: GatewayPaymentRequest;
    claim: PaymentOpening['claim'];
    requestId: string;
  },
): Promise<Omit<PaymentOpening, 'stamp'>> {
  const { orderId, caller, body, claim, requestId } = input;
  const handler = getHandler(ports, caller, { referenceType: body.reference_type, rail: 'gateway' });
  await getChannelFor(em, body.payment_id, body.amount);
  const onBehalfOf = body.on_behalf_of ?? null;
  const target = await handler.findTarget(em, {
    referenceId: body.reference_id,
    amount: formatMoney(body.amount),
    rail: 'gateway',
    caller,
    onBehalfOf,
  });
  const nominal = target.amount ?? formatMoney(body.amount);
  const channel = await getChannelFor(em, body.payment_id, nominal);
  const order = {
    user_id: caller.userId,
    organization_id: caller.organizationId,
    reference_type: body.reference_type,
    reference_id: body.reference_id,
    on_behalf_of: onBehalfOf,
    target_account_id: target.accountId,
    payment_id: channel.id,
    nominal,
    admin_fee: adminFee(nominal, channel),
    texts_sealed: await sealTexts(ports.sealer, { orderId, caller }, handler, body),
    request_id: requestId,
  };
  return { order, claim };
}

const placeOfTexts = (orderId: string) => ({ table: 'payment_orders', column: 'texts_sealed', row: orderId });

/** The payer's texts, sealed, an individual's under their own key; an empty name gets a default (docs/contract.md 3). */
function sealTexts(
  sealer: Sealer,
  { orderId, caller }: { orderId: string; caller: Caller },
  { referenceType }: PaymentHandler,
  { transaction_name, transaction_desc }: GatewayPaymentRequest,
): Promise<string> {
  const texts: PaymentTexts = {
    transaction_name: transaction_name || referenceType.replaceAll('_', ' '),
    transaction_desc: transaction_desc ?? '',
  };
  const person = caller.userType === 'individual' ? { id: caller.userId } : null;
  return sealer.seal({ ...placeOfTexts(orderId), person }, JSON.stringify(texts));
}

/** The texts of an order, decrypted; empty once its payer was erased. */
export async function openTexts(
  sealer: Sealer,
  orderId: string,
  sealed: string | null | undefined,
): Promise<PaymentTexts> {
  const none = { transaction_name: '', transaction_desc: '' };
  if (sealed === null || sealed === undefined) return none;
  return JSON.parse((await unlessErased(sealer.open(placeOfTexts(orderId), sealed))) ?? JSON.stringify(none));
}
