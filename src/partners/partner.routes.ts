import { z } from 'zod';
import type { Sealer } from '../platform/encryption/sealer.ts';
import { partner } from '../platform/http/access.ts';
import { amount } from '../platform/http/fields.ts';
import { createRouteGroup } from '../platform/http/route-group.ts';
import { withFieldNames } from '../shared/errors.ts';
import { findOpenChannels } from './find-open-channels.ts';
import { rotateKey } from './issue-key.ts';
import { collectionMethods, feeModes } from './partner.ts';
import { partnerAnswer } from './partner-answer.ts';
import { IssuedKeyShape, presentIssuedKey } from './present-partner.ts';
import { readPartnerBalance } from './read-balance.ts';
import { orderOfChecks } from './reference-texts.ts';

interface Ports {
  sealer: Sealer;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/partners',
  tag: 'Partner API',
  description: `Checks run in this order: ${orderOfChecks} Amounts are decimal strings in IDR. A bare date is the whole day of UTC+7.`,
});

routes.get(
  '/balance',
  {
    summary: 'Read the balance',
    description:
      '`available` plus `pending` is `balance`, read at one instant. Money reserved for payouts and refunds is pending.',
    access: partner('read-gateway'),
    answers: {
      200: partnerAnswer(
        z.object({ balance: amount(), available: amount(), pending: amount(), currency: z.literal('IDR') }),
      ),
    },
  },
  async ({ caller, em }) => ({ ...(await readPartnerBalance(em, caller.partnerId)), currency: 'IDR' }),
);

const priced = { fixed: amount(), basis_points: z.int(), minimum_amount: amount(), maximum_amount: amount() };

routes.get(
  '/channels',
  {
    summary: 'List the channels open to this partner',
    description:
      'Not paged. QRIS has no `channel`. Fees are those without an organization. The same table validates requests ' +
      'and shows which payments can be refunded to the wallet that paid; every other refund is a transfer to a bank ' +
      'account.',
    access: partner('read-gateway'),
    answers: {
      200: partnerAnswer(
        z.object({
          fee_mode: z.enum(feeModes),
          collection: z.array(
            z.object({
              method: z.enum(collectionMethods),
              channel: z.string().optional(),
              ...priced,
              refundable: z.boolean(),
              refundable_in_part: z.boolean(),
              refund_window_days: z.int(),
            }),
          ),
          payout_banks: z.array(
            z.object({
              bank_code: z.string(),
              name: z.string(),
              ...priced,
              account_number_min_length: z.int(),
              account_number_max_length: z.int(),
            }),
          ),
        }),
      ),
    },
  },
  async ({ caller, em }) => {
    const { feeMode, collection, payoutBanks } = await findOpenChannels(em, caller.partnerId);
    return {
      fee_mode: feeMode,
      collection: collection.map(({ channel, ...rest }) => ({ ...rest, ...(channel === null ? {} : { channel }) })),
      payout_banks: payoutBanks,
    };
  },
);

routes.post(
  '/keys/rotate',
  {
    summary: 'Rotate the API key of this call',
    description:
      'Returns its successor with the same permissions, only in this response; the key and signing secret ' +
      'of this call work for another 24 hours. A key can be rotated once: after that, rotate its successor. ' +
      'Accepts no idempotency key: if the response is lost, the operator issues a new key.',
    access: partner('manage-keys'),
    answers: { 200: partnerAnswer(IssuedKeyShape) },
    refusals: [409],
  },
  async ({ caller, em, deps, requestId }) => {
    const { partnerId, keyId } = caller;
    const rotate = () => rotateKey(em, deps.sealer, { caller: null, requestId, partnerId, keyId });
    return presentIssuedKey(await withFieldNames({ key_id: 'Authorization' }, rotate));
  },
);

export const partnerRoutes = routes;
