import { defineEntity, p } from '@mikro-orm/core';
import type { FeeMode } from '../../partners/partner.ts';
import type { PayoutKind, PayoutStatus, ProviderStatus } from './payout.ts';

const PayoutSchema = defineEntity({
  name: 'Payout',
  tableName: 'payouts',
  properties: {
    id: p.uuid().primary(),
    kind: p.text().$type<PayoutKind>(),
    /** The source of the money; unspent money returns to it. */
    source_account_id: p.uuid(),
    /** The account that holds the money while the payout is pending. */
    reserved_account_id: p.uuid(),
    /** The owner of the money; null for a withdrawal. */
    partner_id: p.uuid().nullable(),
    reference: p.string().length(40),
    external_ref: p.string().length(128).nullable(),
    fee_mode: p.text().$type<FeeMode>(),
    /** As requested; the limits count this. */
    amount: p.decimal().precision(20).scale(4),
    fee: p.decimal().precision(20).scale(4),
    /** The amount that reaches the bank or the wallet; whole rupiah. */
    net_amount: p.decimal().precision(20).scale(4),
    /** The provider's fee; internal. */
    provider_fee: p.decimal().precision(20).scale(4),
    /** The posted part of `provider_fee`: all of it once the transfer has succeeded. */
    provider_cost: p.decimal().precision(20).scale(4).default('0'),
    /** Null for a refund to the wallet that paid. */
    bank_code: p.text().nullable(),
    /** For a refund to the wallet that paid: the provider's id of the payment request. */
    refund_of: p.text().nullable(),
    /** The provider of the bank, or of the refunded payment, at the time of the request; set by a database trigger. */
    provider: p.text().default('xendit'),
    texts_sealed: p.text(),
    /** The batch that the payout is part of. */
    batch_id: p.uuid().nullable(),
    status: p.text().$type<PayoutStatus>(),
    failure_code: p.text().nullable(),
    provider_transfer_id: p.text().nullable(),
    /** SHA-256 of the request as sent, frozen by the first attempt. */
    request_digest: p.text().nullable(),
    /** The provider's last status, and since when. */
    last_word: p.text().$type<ProviderStatus>().nullable(),
    last_word_at: p.datetime().nullable(),
    asked_at: p.datetime().nullable(),
    asks: p.integer().default(0),
    unknown_since: p.datetime().nullable(),
    /** When the delay was reported to the subscribed endpoints; set once, even if there are none. */
    delay_told_at: p.datetime().nullable(),
    /** When the provider first contradicted the final status. */
    contradicted_at: p.datetime().nullable(),
    /** The contradicting provider status that an operator has explained. */
    explained_word: p.text().$type<ProviderStatus>().nullable(),
    /** When two people booked the money, which left although the payout failed or was reversed here. */
    booked_at: p.datetime().nullable(),
    /** When the sweep wakes the workflow if it has not polled by then. */
    look_again_at: p.datetime().nullable(),
    /** Increases with each event of the payout. */
    version: p.integer().default(0),
    request_id: p.text().nullable(),
    /** When the money left; not cleared if the bank returns it. */
    succeeded_at: p.datetime().nullable(),
    finalized_at: p.datetime().nullable(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
  },
});

/**
 * Money on its way to a bank account, or back to the wallet that paid. Its id is the provider's reference and
 * idempotency key.
 */
export class Payout extends PayoutSchema.class {}
PayoutSchema.setClass(Payout);
