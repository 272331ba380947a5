import type { EntityManager } from '@mikro-orm/postgresql';
import { hashKey } from '../platform/openings/idempotency-keys.ts';
import { refuseOnce } from '../platform/openings/open-once.ts';
import { type DomainError, isDomainError } from '../shared/errors.ts';
import {
  partnerInstrumentIdFor,
  partnerPaymentIdFor,
  payoutBatchIdFor,
  payoutIdFor,
  refundIdFor,
} from '../shared/ids.ts';
import type { OpeningPlace } from '../shared/opening.ts';
import type { PartnerPermission } from './partner.ts';

interface Made {
  kind: OpeningPlace['kind'];
  table: string;
  idFor: (partnerId: string, key: string) => string;
}

/** The resources that routes with an idempotency key create, by the route's permission. */
const makes: Partial<Record<PartnerPermission, readonly [Made, ...Made[]]>> = {
  'request-payout': [
    { kind: 'payout', table: 'payouts', idFor: payoutIdFor },
    { kind: 'payout_batch', table: 'payout_batches', idFor: payoutBatchIdFor },
  ],
  'refund-payment': [{ kind: 'payment_refund', table: 'payment_refunds', idFor: refundIdFor }],
  'collect-payment': [
    { kind: 'partner_payment', table: 'partner_payments', idFor: partnerPaymentIdFor },
    { kind: 'partner_instrument', table: 'partner_instruments', idFor: partnerInstrumentIdFor },
  ],
};

/**
 * Records, before the refusal is sent, that an authenticated partner's request was refused under its idempotency key:
 * an earlier request under the key may still be running and then creates nothing. Returns whether an earlier request
 * had already created something.
 */
export async function keepRefusalAtDoor(
  em: EntityManager,
  { partnerId, permission, key }: { partnerId: string; permission: PartnerPermission; key: string },
  refusal: DomainError,
): Promise<boolean> {
  const kinds = makes[permission];
  if (kinds === undefined) return false;
  const idOf = ({ idFor }: Made) => idFor(partnerId, key);
  const findOne = async (tx: EntityManager): Promise<Made | null> => {
    for (const made of kinds) {
      const rows = await tx.execute<unknown[]>(`select 1 from ${made.table} where id = ?`, [idOf(made)]);
      if (rows.length > 0) return made;
    }
    return null;
  };
  const asked = (await findOne(em.fork())) ?? kinds[0];
  // An empty fingerprint matches any body.
  const claim = { partnerId, keyHash: hashKey(key), fingerprint: '' };
  try {
    await refuseOnce(em, { resourceId: idOf(asked), kind: asked.kind, claim, number: null }, findOne, refusal);
    return true;
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return false;
  }
}
