import type { EntityManager } from '@mikro-orm/postgresql';
import { refuse } from '../../shared/errors.ts';
import { addMoney, compareMoney, feeOf, formatMoney, isWholeRupiah, type Money } from '../../shared/money.ts';
import { PaymentChannel } from './payment-channel.entity.ts';

/** Channels that a signed-in payer may use; channels that need a phone are for partners. */
export function findChannels(em: EntityManager): Promise<PaymentChannel[]> {
  return em.find(PaymentChannel, { active: true, needs_phone: false }, { orderBy: { id: 'asc' } });
}

/**
 * The channel of a `payment_id`, checked for this nominal (IDR). Throws REQUEST_INVALID for an unknown channel, a
 * fraction of a rupiah, or a charge (nominal plus fee) outside the channel's limits.
 */
export async function getChannelFor(em: EntityManager, paymentId: number, nominal: Money): Promise<PaymentChannel> {
  const channel = await em.findOne(PaymentChannel, { id: paymentId, active: true, needs_phone: false });
  if (channel === null) refuse('REQUEST_INVALID', 'the channel was not found', { field: 'payment_id' });
  if (!isWholeRupiah(nominal)) refuse('REQUEST_INVALID', 'must be a whole rupiah amount', { field: 'amount' });
  const { minimum_amount: minimum, maximum_amount: maximum } = channel;
  const charged = addMoney(formatMoney(nominal), adminFee(formatMoney(nominal), channel));
  if (compareMoney(charged, minimum) < 0 || compareMoney(charged, maximum) > 0) {
    const range = `${formatMoney(minimum)} to ${formatMoney(maximum)}`;
    refuse('REQUEST_INVALID', `${channel.name} accepts IDR ${range}; with its fee this is ${charged}`, {
      field: 'amount',
    });
  }
  return channel;
}

/** The payer's fee on `nominal` (IDR, scale 4), rounded up, as transfers are whole rupiah. */
export function adminFee(nominal: Money, { fee_fixed, fee_basis_points }: PaymentChannel): Money {
  const fee = feeOf(nominal, fee_fixed, fee_basis_points);
  if (isWholeRupiah(fee)) return fee;
  return addMoney(fee.slice(0, fee.indexOf('.')), '1');
}
