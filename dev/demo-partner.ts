import type { EntityManager } from '@mikro-orm/postgresql';
import { createPartner } from '../src/partners/create-partner.ts';
import { issueKey } from '../src/partners/issue-key.ts';
import { outcomeEvents, partnerPermissions } from '../src/partners/partner.ts';
import { setFees } from '../src/partners/set-fees.ts';
import { setPartnerLimits, updatePartner } from '../src/partners/update-partner.ts';
import { setWebhook } from '../src/partners/webhooks/set-webhook.ts';
import type { Sealer } from '../src/platform/encryption/sealer.ts';
import { sha256 } from '../src/shared/digest.ts';
import type { Secrets } from './secrets.ts';

/** The demo partner as `credentials.json` shows it. */
export interface DemoPartner {
  id: string;
  api_key: string;
  signing_secret: string;
  webhook_secret: string;
  /** The key of a second person, who approves batches of payouts. */
  approver_api_key: string;
  approver_signing_secret: string;
}

export interface DemoPartnerOptions {
  secrets: Secrets['partner'];
  organizationId: string;
  /** The id of the platform user who sets up the partner. */
  administrator: string;
  /** The partner's webhook URL; null when the sandbox is replaced. */
  webhookUrl: string | null;
}

const limits = { max_payout_amount: '25000000', max_daily_amount: '100000000', max_hourly_count: 1000 };
const noShare = { channel: null, organization_id: null, provider_fixed: '0', provider_basis_points: 0 };
const fees = [
  { ...noShare, method: 'virtual_account', fixed: '4000', basis_points: 0, provider_fixed: '2500' },
  { ...noShare, method: 'qris', fixed: '0', basis_points: 70, provider_basis_points: 50 },
  { ...noShare, method: 'ewallet', fixed: '0', basis_points: 150 },
  { ...noShare, method: 'payout', fixed: '2500', basis_points: 0 },
] as const;

/**
 * Creates the demo partner if it is missing: active, with a key that has every permission, a key that approves, fees,
 * limits and a webhook. Can be repeated.
 */
export async function ensureDemoPartner(
  em: EntityManager,
  sealer: Sealer,
  { secrets, organizationId, administrator, webhookUrl }: DemoPartnerOptions,
): Promise<DemoPartner> {
  const { apiKey, signingSecret, webhookSecret, approver } = secrets;
  const change = { caller: { userId: administrator }, requestId: 'demo' };
  const [known] = await em.execute<{ partner_id: string }[]>('select partner_id from partner_keys where key_hash = ?', [
    sha256(apiKey),
  ]);
  const partnerId =
    known?.partner_id ??
    (await em.transactional(async (tx) => {
      const { id } = await createPartner(tx, {
        ...change,
        name: 'Toko Contoh',
        organizationId,
        feeMode: 'DEDUCTED',
        settlementDelayHours: 0,
      });
      await issueKey(tx, sealer, {
        ...change,
        partnerId: id,
        permissions: partnerPermissions,
        secrets: { apiKey, signingSecret },
      });
      await issueKey(tx, sealer, {
        ...change,
        partnerId: id,
        permissions: ['approve-payout', 'read-gateway'],
        secrets: approver,
      });
      await setFees(tx, { ...change, partnerId: id, fees: [...fees] });
      await setPartnerLimits(tx, { ...change, partnerId: id, limits });
      await updatePartner(tx, { ...change, partnerId: id, changes: { status: 'active' } });
      return id;
    }));
  if (webhookUrl !== null) {
    const rules = { allowLoopback: true, allowHttp: true };
    const input = { ...change, partnerId, url: webhookUrl, events: outcomeEvents, secret: webhookSecret };
    await setWebhook(em, { sealer, rules }, input);
  }
  return {
    id: partnerId,
    api_key: apiKey,
    signing_secret: signingSecret,
    webhook_secret: webhookSecret,
    approver_api_key: approver.apiKey,
    approver_signing_secret: approver.signingSecret,
  };
}
