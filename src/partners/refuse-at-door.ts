import type { EntityManager } from '@mikro-orm/postgresql';
import { hashKey } from '../platform/openings/idempotency-keys.ts';
import { refuseOnce } from '../platform/openings/open-once.ts';
import type { OpeningPlace } from '../platform/openings/opening.ts';
import { type DomainError, isDomainError } from '../shared/errors.ts';
import { partnerPaymentIdFor, payoutIdFor, refundIdFor } from '../shared/ids.ts';
import type { PartnerPermission } from './partner.ts';

interface Made {
  kind: OpeningPlace['kind'];
  table: string;
  idFor: (partnerId: string, key: string) => string;
}

/** What a route with an idempotency key creates, by the permission that it needs. */
const makes: Partial<Record<PartnerPermission, Made>> = {
  'request-payout': { kind: 'payout', table: 'payouts', idFor: payoutIdFor },
  'refund-payment': { kind: 'payment_refund', table: 'payment_refunds', idFor: refundIdFor },
  'collect-payment': { kind: 'partner_payment', table: 'partner_payments', idFor: partnerPaymentIdFor },
};

/**
 * Records that an authenticated partner's request was refused under its idempotency key, before the refusal is sent: an
 * earlier request under that key may still be under way, and creates nothing after this. Returns whether it has created
 * something before.
 */
export async function keepRefusalAtDoor(
  em: EntityManager,
  { partnerId, permission, key }: { partnerId: string; permission: PartnerPermission; key: string },
  refusal: DomainError,
): Promise<boolean> {
  const made = makes[permission];
  if (made === undefined) return false;
  const resourceId = made.idFor(partnerId, key);
  // Whatever the body.
  const claim = { partnerId, keyHash: hashKey(key), fingerprint: '' };
  const find = async (tx: EntityManager): Promise<true | null> => {
    const rows = await tx.execute<unknown[]>(`select 1 from ${made.table} where id = ?`, [resourceId]);
    return rows.length > 0 ? true : null;
  };
  try {
    return await refuseOnce(em, { resourceId, kind: made.kind, claim, number: null }, find, refusal);
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return false;
  }
}
