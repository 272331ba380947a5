import { createHash, createHmac } from 'node:crypto';
import { type PartnerPermission, partnerPermissions } from '../../src/partners/partner.ts';
import { type BuildPlace, type BuiltUser, buildOrganization, buildSuperAdmin } from './build.ts';
import type { Http, HttpAnswer } from './http.ts';

export interface PartnerOptions {
  status?: 'pending' | 'active' | 'suspended';
  feeMode?: 'DEDUCTED' | 'ADDED';
  settlementDelayHours?: number;
  permissions?: PartnerPermission[];
  fees?: object[];
  limits?: { max_payout_amount: string; max_daily_amount: string; max_hourly_count: number };
  webhook?: { url: string; events?: string[] };
}

export interface BuiltPartner {
  id: string;
  organizationId: string;
  admin: BuiltUser;
  apiKey: string;
  signingSecret: string;
  keyId: string;
  webhookSecret: string;
  account: { available: string; pending: string; reserved: string };
  /** Sends a signed GET. */
  get(path: string, headers?: Record<string, string>): Promise<HttpAnswer>;
  /** Sends a signed POST with a fresh idempotency key unless one is given; null sends none. */
  post(path: string, body: object, key?: string | null, headers?: Record<string, string>): Promise<HttpAnswer>;
  /** Sends a signed call by any method, without an idempotency key. */
  send(method: 'post' | 'patch' | 'delete', path: string, body?: object): Promise<HttpAnswer>;
  /** Calls the partner's administration routes as a platform admin; `path` is relative to the account. */
  administer(method: 'get' | 'post' | 'put' | 'patch' | 'delete', path: string, body?: object): Promise<HttpAnswer>;
}

export const signature = (secret: string, body: string | Uint8Array = ''): string =>
  createHmac('sha256', secret).update(body).digest('hex');

/** Routes for which a signature over the body suffices. */
const bodySuffices = new Set(['/v1/partners/payments', '/v1/partners/payouts', '/v1/partners/quotes']);
/** The last second signed for each request without a key: a signature is accepted once. */
const lastSeconds = new Map<string, number>();

/**
 * The signature headers of a call to a path with its query: over the body and, where required, the whole request.
 */
export function signatures(
  secret: string,
  { method, path, raw = '', key = '' }: { method: string; path: string; raw?: string; key?: string },
): Record<string, string> {
  const first = { 'x-partner-signature': signature(secret, raw) };
  const verb = method.toUpperCase();
  if (verb === 'GET' || bodySuffices.has(path)) return first;
  const digest = createHash('sha256').update(raw).digest('hex');
  const whole = [verb, path, key, digest].join('\n');
  const at = Math.max(Math.floor(Date.now() / 1000), (lastSeconds.get(secret + whole) ?? 0) + 1);
  lastSeconds.set(secret + whole, at);
  return { ...first, 'x-partner-signature-v2': `t=${at},v1=${signature(secret, `${at}\n${whole}`)}` };
}

export const everyEvent = [
  'payment.succeeded',
  'payment.failed',
  'payment.expired',
  'payout.succeeded',
  'payout.failed',
  'payout.reversed',
];

let keys = 0;
export const freshKey = (): string => {
  keys += 1;
  return `key-${process.pid}-${Date.now()}-${keys}`;
};

/** Creates a partner through the administration's routes, active and with every permission by default. */
export async function buildPartner(stack: BuildPlace & Http, options: PartnerOptions = {}): Promise<BuiltPartner> {
  const admin = await buildSuperAdmin(stack);
  const organizationId = await buildOrganization(stack);
  const call = async (method: 'get' | 'post' | 'put' | 'patch' | 'delete', path: string, body?: object) => {
    const { token } = admin;
    return method === 'get'
      ? stack.get(`/v1/partner-accounts${path}`, { token })
      : stack[method](`/v1/partner-accounts${path}`, body, { token });
  };
  const made = async (answer: Promise<HttpAnswer>) => {
    const { status, body } = await answer;
    if (status > 201) throw new Error(`building a partner: ${status} ${JSON.stringify(body)}`);
    return body.data;
  };
  const partner = await made(
    call('post', '', {
      name: 'Partner',
      organization_id: organizationId,
      fee_mode: options.feeMode ?? 'DEDUCTED',
      settlement_delay_hours: options.settlementDelayHours ?? 0,
    }),
  );
  const administer: BuiltPartner['administer'] = (method, path, body) => call(method, `/${partner.id}${path}`, body);
  const permissions = options.permissions ?? partnerPermissions;
  const key = await made(administer('post', '/keys', { permissions }));
  if (options.fees) await made(administer('put', '/fees', { fees: options.fees }));
  if (options.limits) await made(administer('put', '/limits', options.limits));
  const webhook = options.webhook
    ? await made(administer('put', '/webhook', { events: everyEvent, ...options.webhook }))
    : { secret: '' };
  if (options.status !== 'pending') {
    await made(administer('patch', '', { status: 'active' }));
    if (options.status === 'suspended') await made(administer('patch', '', { status: 'suspended' }));
  }
  const { api_key: apiKey, signing_secret: signingSecret } = key;
  return {
    id: partner.id,
    organizationId,
    admin,
    apiKey,
    signingSecret,
    keyId: key.id,
    webhookSecret: webhook.secret,
    account: {
      available: partner.available_account_id,
      pending: partner.pending_account_id,
      reserved: partner.reserved_account_id,
    },
    administer,
    send: (method, path, body) => {
      const raw = body === undefined ? '' : JSON.stringify(body);
      return stack[method](`/v1/partners${path}`, undefined, {
        token: apiKey,
        ...(raw !== '' && { raw }),
        headers: {
          'content-type': 'application/json',
          ...signatures(signingSecret, { method, path: `/v1/partners${path}`, raw }),
        },
      });
    },
    get: (path, headers = {}) =>
      stack.get(`/v1/partners${path}`, {
        token: apiKey,
        headers: { 'x-partner-signature': signature(signingSecret), ...headers },
      }),
    post: (path, body, idempotencyKey = freshKey(), headers = {}) => {
      const raw = JSON.stringify(body);
      return stack.post(`/v1/partners${path}`, undefined, {
        token: apiKey,
        raw,
        headers: {
          'content-type': 'application/json',
          ...signatures(signingSecret, {
            method: 'post',
            path: `/v1/partners${path}`,
            raw,
            ...(idempotencyKey !== null && { key: idempotencyKey }),
          }),
          ...(idempotencyKey === null ? {} : { 'x-idempotency-key': idempotencyKey }),
          ...headers,
        },
      });
    },
  };
}
