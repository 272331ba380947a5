import { z } from 'zod';
import { amount, timestamp, uuid } from '../platform/http/fields.ts';
import type { describePartner } from './find-partner.ts';
import type { IssuedKey } from './issue-key.ts';
import type { Partner } from './partner.entity.ts';
import { askableEvents, feeMethods, feeModes, partnerLaw, partnerPermissions } from './partner.ts';
import type { PartnerKey } from './partner-key.entity.ts';
import { EndpointShape, presentEndpoint } from './present-endpoint.ts';
import type { WebhookEndpoint } from './webhook-endpoint.entity.ts';

export const presentLimits = (partner: Partner) =>
  partner.max_payout_amount && partner.max_daily_amount && partner.max_hourly_count
    ? {
        max_payout_amount: partner.max_payout_amount,
        max_daily_amount: partner.max_daily_amount,
        max_hourly_count: partner.max_hourly_count,
      }
    : null;

/** A partner account as shown to platform users. */
export const presentPartner = (partner: Partner) => ({
  id: partner.id,
  name: partner.name,
  organization_id: partner.organization_id,
  status: partner.status,
  fee_mode: partner.fee_mode,
  settlement_delay_hours: partner.settlement_delay_hours,
  payouts_enabled: partner.payouts_enabled,
  limits: presentLimits(partner),
  available_account_id: partner.available_account_id,
  pending_account_id: partner.pending_account_id,
  reserved_account_id: partner.reserved_account_id,
  created_at: partner.created_at.toISOString(),
  updated_at: partner.updated_at.toISOString(),
});

/** A key without its secrets, which are shown once. */
export const presentKey = (key: PartnerKey) => ({
  id: key.id,
  prefix: key.prefix,
  permissions: key.permissions,
  require_signature_v2: key.require_signature_v2,
  created_at: key.created_at.toISOString(),
  valid_until: key.valid_until?.toISOString() ?? null,
  revoked_at: key.revoked_at?.toISOString() ?? null,
});

/** A new key with its secrets, for the only response that shows them. */
export const presentIssuedKey = ({ key, apiKey, signingSecret }: IssuedKey) => ({
  ...presentKey(key),
  api_key: apiKey,
  signing_secret: signingSecret,
});

/** A partner account with its keys, fees, links, endpoints and accounts. */
export const presentPartnerDetail = (
  partner: Partner,
  { keys, organizationIds, endpoints }: Awaited<ReturnType<typeof describePartner>>,
  fees: object[],
) => ({
  ...presentPartner(partner),
  keys: keys.map(presentKey),
  organization_ids: organizationIds,
  fees,
  webhook: presentOperators(endpoints.find(({ set_by_operator }) => set_by_operator)),
  webhook_endpoints: endpoints.map(presentEndpoint),
});

const presentOperators = (endpoint: WebhookEndpoint | undefined) =>
  endpoint === undefined ? null : { url: endpoint.url, events: endpoint.events };

export const LimitsShape = z.object({
  max_payout_amount: amount(),
  max_daily_amount: amount(),
  max_hourly_count: z.int(),
});

export const PartnerShape = z
  .object({
    id: uuid(),
    name: z.string(),
    organization_id: uuid(),
    status: z.enum(partnerLaw.statuses),
    fee_mode: z.enum(feeModes),
    settlement_delay_hours: z.int(),
    payouts_enabled: z.boolean(),
    limits: LimitsShape.nullable(),
    available_account_id: uuid(),
    pending_account_id: uuid(),
    reserved_account_id: uuid(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'PartnerAccount' });

export const KeyShape = z.object({
  id: uuid(),
  prefix: z.string(),
  permissions: z.array(z.enum(partnerPermissions)),
  require_signature_v2: z.boolean(),
  created_at: timestamp(),
  valid_until: timestamp().nullable(),
  revoked_at: timestamp().nullable(),
});

export const IssuedKeyShape = KeyShape.extend({ api_key: z.string(), signing_secret: z.string() });

export const FeeShape = z.object({
  method: z.enum(feeMethods),
  channel: z.string().nullable(),
  organization_id: uuid().nullable(),
  fixed: amount(),
  basis_points: z.int(),
  provider_fixed: amount(),
  provider_basis_points: z.int(),
});

export const PartnerDetailShape = PartnerShape.extend({
  keys: z.array(KeyShape),
  organization_ids: z.array(uuid()),
  fees: z.array(FeeShape),
  webhook: z
    .object({ url: z.string(), events: z.array(z.enum(askableEvents)) })
    .nullable()
    .meta({
      description: 'The endpoint set by operators.',
    }),
  webhook_endpoints: z
    .array(EndpointShape)
    .meta({ description: "All of the partner's endpoints, including the operators'." }),
}).meta({ id: 'PartnerAccountDetail' });
