import type { EntityManager } from '@mikro-orm/postgresql';
import { sealForOrder } from '../../partners/open-for-order.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { createOnce, isVerdict } from '../../platform/openings/open-once.ts';
import { budgets } from '../../shared/budgets.ts';
import { refuse, refuseField } from '../../shared/errors.ts';
import { partnerInstrumentIdFor } from '../../shared/ids.ts';
import { formatMoney, type Money } from '../../shared/money.ts';
import type { KeyedRequest } from '../../shared/opening.ts';
import type { Metadata } from '../../shared/plain-text.ts';
import { refuseMisplacedChannel, refuseUnknownChannel } from '../collections/price-request.ts';
import { findInstrument, type InstrumentWithChannel } from './find-partner-instruments.ts';
import {
  type InstrumentMethod,
  type InstrumentTexts,
  instrumentPath,
  instrumentTextsPlace,
  type PartnerInstrumentOpening,
  type PartnerInstrumentWorkflows,
} from './partner-instrument.ts';
import { priceReceived } from './price-received.ts';

export interface PartnerInstrumentRequest {
  method: InstrumentMethod;
  channel?: string | undefined;
  /** The exact amount of each payment; any amount if absent. */
  amount?: Money | undefined;
  external_ref?: string | undefined;
  customer_name?: string | undefined;
  metadata?: Metadata | undefined;
}

interface Creation {
  partnerId: string;
  body: PartnerInstrumentRequest;
  idempotency: KeyedRequest;
  requestId: string;
}

/**
 * Creates an instrument and waits for its code. Throws PROVIDER_REFUSED if the provider refused it,
 * PROVIDER_INDETERMINATE (with the URL to poll) while the outcome is unknown, SERVICE_UNAVAILABLE if the workflow could
 * not be started.
 */
export async function createPartnerInstrument(
  em: EntityManager,
  { sealer, workflows }: { sealer: Sealer; workflows: Pick<PartnerInstrumentWorkflows, 'startPartnerInstrument'> },
  creation: Creation,
): Promise<InstrumentWithChannel> {
  const { partnerId, idempotency } = creation;
  const id = partnerInstrumentIdFor(partnerId, idempotency.key);
  const waitMs = budgets.requests.partnerPayment;
  const find = (place: EntityManager) => findInstrument(place, { id, partnerId });
  const earlier = idempotency.resourceId === null ? null : await find(em);
  if (earlier?.instrument.status === 'active' && !earlier.instrument.payment_code) {
    // The row exists, so a refusal that arrives through Temporal is not trusted.
    await workflows
      .startPartnerInstrument(id, null, waitMs)
      .catch((error: unknown) => (isVerdict(error) ? null : Promise.reject(error)));
  }
  const found =
    (earlier && (await find(em.fork()))) ??
    (await createOnce(
      em,
      {
        resourceId: id,
        kind: 'partner_instrument',
        claim: { ...idempotency, partnerId },
        stamp: idempotency.stamp,
        unavailable: 'The instrument could not be started; try again',
      },
      {
        find,
        prepare: () => prepare(em, sealer, id, creation),
        start: (opening) => workflows.startPartnerInstrument(id, opening, waitMs),
      },
    ));
  const { status, payment_code: code, failure_code: failureCode } = found.instrument;
  if (status === 'closed' && !code && failureCode) {
    refuse('PROVIDER_REFUSED', `The provider refused the instrument: ${failureCode}`, {
      details: { instrument_id: id, failure_code: failureCode },
    });
  }
  if (!code) {
    refuse('PROVIDER_INDETERMINATE', 'The provider has not answered yet: poll, or retry under the same key', {
      details: { instrument_id: id, status_url: instrumentPath(id) },
    });
  }
  return found;
}

async function prepare(
  em: EntityManager,
  sealer: Sealer,
  id: string,
  { partnerId, body, idempotency, requestId }: Creation,
): Promise<Omit<PartnerInstrumentOpening, 'stamp'>> {
  const { method, channel, amount } = body;
  refuseMisplacedChannel(body);
  const [row] = await em.execute<{ id: number }[]>(
    'select id from payment_channels where method = ? and channel_code = ? and active',
    [method, method === 'qris' ? 'QRIS' : channel],
  );
  if (row === undefined) return refuseUnknownChannel(em, body);
  const fixed = amount === undefined ? null : formatMoney(amount);
  if (fixed !== null) {
    const priced = await priceReceived(em, { partnerId, channelId: row.id, gross: fixed });
    if ('complaint' in priced) refuseField('amount', priced.complaint);
  }
  const texts: InstrumentTexts = { customer_name: body.customer_name ?? null, metadata: body.metadata ?? null };
  const isSaid = texts.customer_name !== null || texts.metadata !== null;
  return {
    partnerId,
    channelId: row.id,
    amount: fixed,
    externalRef: body.external_ref ?? null,
    textsSealed: isSaid ? await sealForOrder(sealer, instrumentTextsPlace(id), id, texts) : null,
    requestId,
    idempotency: { keyHash: idempotency.keyHash, fingerprint: idempotency.fingerprint },
  };
}
