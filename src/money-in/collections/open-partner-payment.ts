import type { EntityManager } from '@mikro-orm/postgresql';
import { refuseClosedOrganization, refuseInactivePartner, refuseUnlinked } from '../../partners/inactive.ts';
import { openForOrder } from '../../partners/open-for-order.ts';
import { executePrepared } from '../../platform/database/prepared-statements.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { openOnce } from '../../platform/openings/open-once.ts';
import { must } from '../../shared/assert.ts';
import { budgets } from '../../shared/budgets.ts';
import { refuse } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { isUniqueViolation } from '../../shared/postgres.ts';
import { isPaidUnknown } from '../payments/find-receipts.ts';
import { deadlineOf } from '../payments/payment-order.ts';
import { PartnerPayment } from './partner-payment.entity.ts';
import {
  isFinalPayment,
  type OpenedPartnerPayment,
  type PartnerPaymentOpening,
  type PartnerTexts,
  partnerTextsPlace,
} from './partner-payment.ts';

/**
 * The first step of a partner's payment: writes its row `PENDING` and the idempotency key, in one transaction; its
 * lifetime begins at `at` (ISO 8601), the workflow's clock. Returns an existing payment unchanged. Refuses a key used
 * for another request, an inactive partner, an organization that is inactive, suspended or no longer linked, and what
 * `openOnce` refuses. After a refusal no attempt at this opening has any effect.
 */
export async function openPartnerPayment(
  em: EntityManager,
  sealer: Sealer,
  { paymentId, opening, at }: { paymentId: string; opening: PartnerPaymentOpening | null; at: string },
): Promise<OpenedPartnerPayment> {
  const find = (tx: EntityManager) => tx.findOne(PartnerPayment, { id: paymentId });
  const opened = opening === null ? await find(em) : await open(em, sealer, { paymentId, opening, at }, find);
  if (opened === null) refuse('NOT_FOUND', 'The payment was not found');
  await failpoint('open-partner-payment.after');
  const isPaid = opening !== null && (await isPaidUnknown(em, { reference: paymentId, amount: opening.gross }));
  return {
    status: opened.status,
    deadline: deadlineOf(opened).toISOString(),
    final: isFinalPayment(opened.status),
    availableAt: opened.released_at ? null : (opened.available_at?.toISOString() ?? null),
    ...(isPaid && { isPaid }),
  };
}

/** The payment's row as passed to the workflow. */
type Standing = Pick<PartnerPayment, 'status' | 'expires_at'> &
  Partial<Pick<PartnerPayment, 'cancelled_at' | 'released_at' | 'available_at'>>;

async function open(
  em: EntityManager,
  sealer: Sealer,
  { paymentId, opening, at }: { paymentId: string; opening: PartnerPaymentOpening; at: string },
  find: (tx: EntityManager) => Promise<PartnerPayment | null>,
): Promise<Standing | null> {
  const texts = await openForOrder<PartnerTexts>(sealer, partnerTextsPlace(paymentId), opening.textsSealed);
  const insert = () => paymentInsert(opening, texts.read(), new Date(at));
  if (texts.isOpen) {
    const payment = insert();
    if (await openAtOnce(em, { paymentId, opening, payment }))
      return { status: 'PENDING', expires_at: payment.expiresAt };
  }
  const { partnerId, idempotency, stamp } = opening;
  const make = async (tx: EntityManager) => {
    const payment = insert();
    await refuseInactivePartner(tx, partnerId);
    if (opening.organizationId) {
      await refuseClosedOrganization(tx, opening.organizationId);
      await refuseUnlinked(tx, { partnerId, organizationId: opening.organizationId });
    }
    await tx.execute(`with claim as (select ?::uuid as resource_id), ${payment.sql}`, [paymentId, ...payment.params]);
    return must(await find(tx), 'the inserted payment exists');
  };
  const claim = { ...idempotency, partnerId };
  const place = { resourceId: paymentId, kind: 'partner_payment', claim, stamp } as const;
  return openOnce(em, place, { find, make });
}

interface Insert {
  sql: string;
  params: unknown[];
  expiresAt: Date;
}

/**
 * Writes verdict, key, row and event in one statement, in one round trip: all of them, or none if a verdict exists or
 * is being written, the key is taken, the partner or its organization is not active, the payment names another
 * organization, or the request is too old. Unique indexes, not the statement's snapshot, decide whether the inserts
 * succeed. The partner's and organization's rows are locked, so this waits for a suspension in progress, and later
 * suspensions wait for it. Returns whether it wrote them; if not, `openOnce` finds out why.
 */
async function openAtOnce(
  em: EntityManager,
  { paymentId, opening, payment }: { paymentId: string; opening: PartnerPaymentOpening; payment: Insert },
): Promise<boolean> {
  const { partnerId, idempotency, stamp } = opening;
  // Only the partner's lock shows whether the named organization is linked.
  if (opening.organizationId !== null) return false;
  const sql = `with claim as (
       insert into requests (owner_id, key_hash, fingerprint, resource_id, kind, made)
       select p.id, ?, ?, ?::uuid, 'partner_payment', ?::bigint
       from partners p join organizations o on o.id = p.organization_id
       where clock_timestamp() - ?::timestamptz <= make_interval(secs => ?)
         and p.id = ? and p.status = 'active' and o.status not in ('inactive', 'suspended')
       for key share of p, o
       on conflict do nothing returning resource_id
     ), ${payment.sql}`;
  const { keyHash, fingerprint } = idempotency;
  const { number, askedAt } = stamp;
  const lives = budgets.opening.lives / 1000;
  const opened = [keyHash, fingerprint, paymentId, number, askedAt, lives, partnerId];
  try {
    return (await executePrepared(em, sql, [...opened, ...payment.params])).length > 0;
  } catch (error) {
    if (isUniqueViolation(error)) return false;
    throw error;
  }
}

/** Inserts the row and event of the payment whose id is the `resource_id` of `claim`. */
function paymentInsert(opening: PartnerPaymentOpening, texts: PartnerTexts, openedAt: Date): Insert {
  const { partnerId, requestId } = opening;
  const expiresAt = new Date(openedAt.getTime() + opening.lifetimeMinutes * 60_000);
  const sql = `payment as (
       insert into partner_payments (id, partner_id, organization_id, external_ref, channel_id, fee_mode, amount, fee,
         net_amount, provider_fee, status, customer_sealed, metadata_sealed, request_id, expires_at, created_at,
         updated_at)
       select resource_id, ?::uuid, ?::uuid, ?, ?::integer, ?, ?::numeric, ?::numeric, ?::numeric, ?::numeric,
         'PENDING', ?, ?, ?, ?::timestamptz, ?::timestamptz, ?::timestamptz from claim returning id
     )
     insert into events (event, impact, resource_type, resource_id, request_id, data)
     select 'RESOURCE_CREATED', 'MEDIUM', 'partner_payment', id::text, ?, ?::jsonb from payment returning 1`;
  const params = [
    partnerId,
    opening.organizationId,
    texts.external_ref,
    opening.channelId,
    opening.feeMode,
    opening.gross,
    opening.fee,
    opening.net,
    opening.providerFee,
    opening.textsSealed,
    opening.metadataSealed,
    requestId,
    expiresAt,
    openedAt,
    openedAt,
    requestId,
    JSON.stringify({ partner_id: partnerId }),
  ];
  return { sql, params, expiresAt };
}
