import { z } from 'zod';
import type { Sealer } from '../platform/encryption/sealer.ts';
import { allow } from '../platform/http/access.ts';
import { created } from '../platform/http/answer.ts';
import { moneyString, moneyStringOrZero, text, uuid } from '../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../platform/http/paging.ts';
import { createRouteGroup } from '../platform/http/route-group.ts';
import { compareMoney, formatMoney, isMoney } from '../shared/money.ts';
import { createPartner } from './create-partner.ts';
import { describePartner, findPartners, getPartner } from './find-partner.ts';
import { issueKey, revokeKey, rotateKey, updateKey } from './issue-key.ts';
import { linkOrganization, unlinkOrganization } from './link-organization.ts';
import { feeMethods, feeModes, longestSettlementDelayHours, partnerLaw, partnerPermissions } from './partner.ts';
import {
  FeeShape,
  IssuedKeyShape,
  KeyShape,
  LimitsShape,
  PartnerDetailShape,
  PartnerShape,
  presentIssuedKey,
  presentKey,
  presentLimits,
  presentPartner,
  presentPartnerDetail,
} from './present-partner.ts';
import { findFees, setFees } from './set-fees.ts';
import { setPartnerLimits, updatePartner } from './update-partner.ts';

interface Ports {
  sealer: Sealer;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/partner-accounts',
  tag: 'Partner accounts',
  description: 'Administration of partners: keys, fees, limits, linked organizations, webhooks.',
});

/** Platform users who may manage partners. */
export const managesPartners = allow('manage-partner', { userTypes: ['platform'], scope: 'all' });
const message = z.string();
const partnerId = z.object({ id: uuid() });
const answerOf = <T extends z.ZodType>(data: T) => z.object({ message, data });

routes.post(
  '/',
  {
    summary: 'Create a partner account',
    description: 'The account starts `pending`, with three ledger accounts: available, pending, reserved.',
    access: managesPartners,
    body: z.strictObject({
      name: text(200),
      organization_id: uuid(),
      fee_mode: z.enum(feeModes).default('DEDUCTED'),
      settlement_delay_hours: z.int().min(0).max(longestSettlementDelayHours).default(0),
    }),
    answers: { 201: answerOf(PartnerShape) },
  },
  async ({ body, caller, em, requestId }) => {
    const { name, organization_id: organizationId, fee_mode: feeMode } = body;
    const settlementDelayHours = body.settlement_delay_hours;
    const partner = await createPartner(em, { caller, requestId, name, organizationId, feeMode, settlementDelayHours });
    return created({ message: 'Partner account created', data: presentPartner(partner) });
  },
);

routes.get(
  '/',
  {
    summary: 'List partner accounts',
    access: managesPartners,
    query: listQuery(),
    answers: { 200: answerOf(z.object({ items: z.array(PartnerShape), ...pageFields })) },
  },
  async ({ query, em }) => {
    const { items, ...listed } = await findPartners(em, query);
    return {
      message: 'Partner accounts found',
      data: { items: items.map(presentPartner), ...presentPage(query, listed) },
    };
  },
);

routes.get(
  '/:id',
  {
    summary: 'Read a partner account',
    access: managesPartners,
    params: partnerId,
    answers: { 200: answerOf(PartnerDetailShape) },
  },
  async ({ params, em }) => {
    const partner = await getPartner(em, params.id);
    const around = await describePartner(em, partner);
    const data = presentPartnerDetail(partner, around, await findFees(em, partner.id));
    return { message: 'Partner account found', data };
  },
);

routes.patch(
  '/:id',
  {
    summary: 'Change a partner account',
    description: 'Activation needs an `active` organization.',
    access: managesPartners,
    params: partnerId,
    body: z.strictObject({
      name: text(200).optional(),
      status: z.enum(partnerLaw.statuses).optional(),
      payouts_enabled: z.boolean().optional(),
      fee_mode: z.enum(feeModes).optional(),
      settlement_delay_hours: z.int().min(0).max(longestSettlementDelayHours).optional(),
    }),
    answers: { 200: answerOf(PartnerShape) },
  },
  async ({ params, body, caller, em, requestId }) => {
    const partner = await updatePartner(em, { caller, requestId, partnerId: params.id, changes: body });
    return { message: 'Partner account updated', data: presentPartner(partner) };
  },
);

const requireSignatureV2 = () =>
  z.boolean().meta({ description: 'Whether requests without `x-partner-signature-v2` are refused.' });

routes.post(
  '/:id/keys',
  {
    summary: 'Issue an API key',
    description: 'Only this response shows the key and its signing secret.',
    access: managesPartners,
    params: partnerId,
    body: z.strictObject({
      permissions: z.array(z.enum(partnerPermissions)).min(1).max(partnerPermissions.length),
      require_signature_v2: requireSignatureV2().default(false),
    }),
    answers: { 201: answerOf(IssuedKeyShape) },
  },
  async ({ params, body, caller, em, deps, requestId }) => {
    const { permissions, require_signature_v2: requireSignatureV2 } = body;
    const input = { caller, requestId, partnerId: params.id, permissions, requireSignatureV2 };
    return created({ message: 'API key issued', data: presentIssuedKey(await issueKey(em, deps.sealer, input)) });
  },
);

const keyParams = partnerId.extend({ key_id: uuid() });

routes.patch(
  '/:id/keys/:key_id',
  {
    summary: 'Change the signature that an API key requires',
    access: managesPartners,
    params: keyParams,
    body: z.strictObject({ require_signature_v2: requireSignatureV2().optional() }),
    answers: { 200: answerOf(KeyShape) },
  },
  async ({ params, body, caller, em, requestId }) => {
    const key = await updateKey(em, {
      caller,
      requestId,
      partnerId: params.id,
      keyId: params.key_id,
      changes: body,
    });
    return { message: 'API key changed', data: presentKey(key) };
  },
);

routes.delete(
  '/:id/keys/:key_id',
  { summary: 'Revoke an API key', access: managesPartners, params: keyParams, answers: { 200: answerOf(KeyShape) } },
  async ({ params, caller, em, requestId }) => {
    const key = await revokeKey(em, { caller, requestId, partnerId: params.id, keyId: params.key_id });
    return { message: 'API key revoked', data: presentKey(key) };
  },
);

routes.post(
  '/:id/keys/:key_id/rotate',
  {
    summary: 'Rotate an API key',
    description: 'Returns its successor; the old key and its secret work for another 24 hours.',
    access: managesPartners,
    params: keyParams,
    answers: { 201: answerOf(IssuedKeyShape) },
    refusals: [404, 409],
  },
  async ({ params, caller, em, deps, requestId }) => {
    const input = { caller, requestId, partnerId: params.id, keyId: params.key_id };
    return created({ message: 'API key rotated', data: presentIssuedKey(await rotateKey(em, deps.sealer, input)) });
  },
);

routes.put(
  '/:id/limits',
  {
    summary: 'Set the payout limits',
    access: managesPartners,
    params: partnerId,
    body: z.strictObject({
      max_payout_amount: moneyString(),
      max_daily_amount: moneyString(),
      max_hourly_count: z.int().min(1).max(1_000_000),
    }),
    answers: { 200: answerOf(LimitsShape) },
  },
  async ({ params, body, caller, em, requestId }) => {
    const limits = {
      max_payout_amount: formatMoney(body.max_payout_amount),
      max_daily_amount: formatMoney(body.max_daily_amount),
      max_hourly_count: body.max_hourly_count,
    };
    const partner = await setPartnerLimits(em, { caller, requestId, partnerId: params.id, limits });
    return { message: 'Payout limits set', data: presentLimits(partner) };
  },
);

/** IDR. Far above any real fee; keeps every sum within its column's range. */
const highestFixedFee = '1000000000000';
const feeAmount = () =>
  moneyStringOrZero().refine(
    (value) => !isMoney(value) || compareMoney(value, highestFixedFee) <= 0,
    `must be at most ${highestFixedFee}`,
  );
const basisPoints = () => z.int().min(0).max(10_000);

const FeeRule = z.strictObject({
  method: z.enum(feeMethods),
  channel: text(64).nullable().default(null).meta({ description: 'A channel, or the bank code of a payout.' }),
  organization_id: uuid().nullable().default(null),
  fixed: feeAmount(),
  basis_points: basisPoints(),
  provider_fixed: feeAmount().default('0'),
  provider_basis_points: basisPoints().default(0),
});

routes.put(
  '/:id/fees',
  {
    summary: 'Replace the fee table',
    description:
      'A fee is `fixed` plus `basis_points` of the amount. The most specific rule wins: organization before channel ' +
      "before method; without a rule the fee is 0. The provider's share is internal. " +
      'A rule that no permitted amount of its method could satisfy is refused.',
    access: managesPartners,
    params: partnerId,
    body: z.strictObject({ fees: z.array(FeeRule).max(1000) }),
    answers: { 200: answerOf(z.object({ fees: z.array(FeeShape) })) },
  },
  async ({ params, body, caller, em, requestId }) => {
    const fees = await setFees(em, { caller, requestId, partnerId: params.id, fees: body.fees });
    return { message: 'Fees set', data: { fees } };
  },
);

const LinkShape = z.object({ partner_id: uuid(), organization_id: uuid() });

routes.post(
  '/:id/organizations',
  {
    summary: 'Link an organization',
    access: managesPartners,
    params: partnerId,
    body: z.strictObject({ organization_id: uuid() }),
    answers: { 201: answerOf(LinkShape) },
  },
  async ({ params, body, caller, em, requestId }) => {
    const { organization_id } = body;
    await linkOrganization(em, { caller, requestId, partnerId: params.id, organizationId: organization_id });
    return created({ message: 'Organization linked', data: { partner_id: params.id, organization_id } });
  },
);

routes.delete(
  '/:id/organizations/:organization_id',
  {
    summary: 'Revoke the link of an organization',
    description:
      "Deletes the organization's fee rules; the event lists them, and linking the organization again does " +
      'not restore them.',
    access: managesPartners,
    params: partnerId.extend({ organization_id: uuid() }),
    answers: { 200: answerOf(LinkShape) },
  },
  async ({ params, caller, em, requestId }) => {
    const { id, organization_id } = params;
    await unlinkOrganization(em, { caller, requestId, partnerId: id, organizationId: organization_id });
    return { message: 'Organization unlinked', data: { partner_id: id, organization_id } };
  },
);

export const partnerAccountsRoutes = routes;
