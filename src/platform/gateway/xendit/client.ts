import { Balance, Configuration, PaymentMethod, PaymentRequest, Payout, Refund, Transaction } from 'xendit-node';
import { BaseAPI } from 'xendit-node/runtime.js';
import { errorCodeOf } from '../../../shared/errors.ts';
import { askingTimeLeft } from '../../database/time-limit.ts';
import { type CallOptions, isProviderUnknown, ProviderUnknown, restAfter } from '../gateway.ts';
import { type Passage, passThrough } from './passage.ts';
import type { ClientSettings } from './settings.ts';

export interface Client {
  paymentRequests: PaymentRequest;
  paymentMethods: PaymentMethod;
  payouts: Payout;
  refunds: Refund;
  balance: Balance;
  transactions: Transaction;
  nameValidator: NameValidator;
}

/** The provider examined the request and declined it: it had no effect. */
export class ProviderRefusal extends Error {
  override readonly name = 'ProviderRefusal';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Returns the provider's refusal as the request's outcome; rethrows every other error. */
export function refusalOf(error: unknown): { outcome: 'refused'; code: string; message: string } {
  if (!(error instanceof ProviderRefusal)) throw error;
  return { outcome: 'refused', code: error.code, message: error.message };
}

/**
 * The SDK supports neither time-outs nor abort signals; its only hook is the configuration, which each API instance
 * reads at every request. So every call gets its own instances, bound to its deadline.
 */
function bound<T extends object>(api: T, configuration: Configuration): T {
  const read: { config: Configuration } = Reflect.get(api as object, 'configuration');
  read.config = configuration;
  return api;
}

/** The client of the provider's Name Validator, which the SDK lacks. */
class NameValidator extends BaseAPI {
  readonly #authorization: string;

  constructor(secretKey: string, configuration: Configuration) {
    super(configuration);
    this.#authorization = `Basic ${Buffer.from(`${secretKey}:`).toString('base64')}`;
  }

  async ask(body: Record<string, string>): Promise<unknown> {
    const headers = { Authorization: this.#authorization, 'Content-Type': 'application/json' };
    const path = '/bank_account_data_requests';
    return (await this.request({ path, method: 'POST', headers, body })).json();
  }
}

function createClient({ secretKey, url }: ClientSettings, fetchApi: ReturnType<typeof passThrough>): Client {
  const configuration = new Configuration({ basePath: url.replace(/\/+$/, ''), fetchApi });
  return {
    paymentRequests: bound(new PaymentRequest({ secretKey }), configuration),
    paymentMethods: bound(new PaymentMethod({ secretKey }), configuration),
    payouts: bound(new Payout({ secretKey }), configuration),
    refunds: bound(new Refund({ secretKey }), configuration),
    balance: bound(new Balance({ secretKey }), configuration),
    transactions: bound(new Transaction({ secretKey }), configuration),
    nameValidator: new NameValidator(secretKey, configuration),
  };
}

/**
 * Statuses below 500 that leave the outcome unknown: 408 (an intermediary timed out), 409 (the key is in use by a call
 * in progress or with another body, so something may exist under it), 425 and 429 (not examined: a later call may be
 * accepted, so the payment is not refused). The provider's own 429 proves that nothing happened, and gives the retry
 * delay.
 */
const indefiniteStatuses = new Set([408, 409, 425, 429]);

/** Codes meaning that something already exists with this key or reference, whatever the status. */
const duplicateCodes = new Set([
  'DUPLICATE_ERROR',
  'DUPLICATE_REFERENCE',
  'DUPLICATE_TRANSACTION_ERROR',
  'IDEMPOTENCY_ERROR',
  'PAYMENT_REQUEST_ALREADY_COMPLETED',
  'PAYMENT_REQUEST_ALREADY_FAILED',
]);

/**
 * Codes of a 403 with which the provider itself declines the request. Any other code may come from an intermediary or
 * concern access that can be granted, so the same request may be accepted later.
 */
export const decliningCodes: ReadonlySet<string> = new Set([
  'ACCOUNT_ACCESS_BLOCKED',
  'CHANNEL_NOT_ACTIVATED',
  'DENIED_PERSON_LIST_MATCHED',
  'FEATURE_NOT_ACTIVATED',
  'OPERATION_NOT_ALLOWED',
]);

/**
 * Codes of a 403 that concern our API key, not the request: nothing was done, and a retry with a corrected key may
 * succeed.
 */
const codesOfOurKey = new Set([
  'INVALID_API_KEY',
  'REQUEST_FORBIDDEN_ERROR',
  'INVALID_IP_ADDRESS',
  'IP_NOT_ALLOWED_ERROR',
]);

const longestMessage = 300;

interface SdkError {
  status: number;
  code: string | null;
  message: string;
}

function sdkErrorOf(error: unknown): SdkError | null {
  if (typeof error !== 'object' || error === null || !('name' in error) || error.name !== 'XenditSdkError') return null;
  const status = 'status' in error ? Number(error.status) : Number.NaN;
  const code = 'errorCode' in error && typeof error.errorCode === 'string' ? error.errorCode : null;
  const message = 'errorMessage' in error && typeof error.errorMessage === 'string' ? error.errorMessage : '';
  return { status, code, message: message.slice(0, longestMessage) };
}

/** Whether the provider itself refused. A 4xx without its code came from an intermediary and proves nothing. */
function isDefinite(error: SdkError): boolean {
  const { status, code } = error;
  if (status < 400 || status >= 500 || code === null || isAboutOurKey(error)) return false;
  if (status === 403) return decliningCodes.has(code);
  return !indefiniteStatuses.has(status) && !duplicateCodes.has(code);
}

const isAboutOurKey = ({ status, code }: SdkError): boolean =>
  code !== null && (status === 401 || (status === 403 && codesOfOurKey.has(code)));

/** Connection failures: not a byte of the request was sent. */
const connectionFailures = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

/** Returns the code of the innermost error: the SDK wraps the error of `fetch`, which wraps the network error. */
function networkCodeOf(error: unknown): string | number | undefined {
  if (!Error.isError(error)) return undefined;
  return networkCodeOf(error.cause) ?? errorCodeOf(error);
}

function describe(error: unknown): string {
  const answered = sdkErrorOf(error);
  if (answered) return `answered ${answered.status} ${answered.code ?? 'without a code'}`;
  if (!Error.isError(error)) return 'failed';
  if (isProviderUnknown(error)) return `was not called: ${error.message}`;
  if (error.name === 'TimeoutError') return 'did not answer in time';
  if (error.name === 'AbortError') return 'was not waited for';
  if (error.name === 'ZodError') return 'answered in an unknown format';
  const code = networkCodeOf(error);
  return code === undefined ? `failed (${error.name})` : `could not be reached (${code})`;
}

/**
 * Calls the provider under one deadline and one signal, counting each request against the call budget. All exchanges of
 * a step share the time it may wait for the provider; none begins after that time. Throws ProviderRefusal for a
 * definite refusal, ProviderUnknown for everything else: no answer, a 5xx, an answer that is not JSON or has another
 * shape. A ProviderUnknown is logged, so its message does not quote the provider, whose answer may name people and
 * accounts.
 */
export async function exchange<T>(
  settings: ClientSettings,
  call: string,
  { signal, ...options }: CallOptions,
  talk: (client: Client) => Promise<T>,
): Promise<T> {
  const left = Math.min(settings.timeoutMs, Math.floor(askingTimeLeft()));
  if (left <= 0 || signal?.aborted) throw new ProviderUnknown(`${call}: no time was left to ask`, { neverSent: true });
  const deadline = AbortSignal.timeout(left);
  const passage: Passage = { sent: 0, restMs: 0 };
  const bounds = { ...options, signal: signal ? AbortSignal.any([signal, deadline]) : deadline };
  try {
    return await talk(createClient(settings, passThrough({ ...settings, timeoutMs: left }, passage, bounds)));
  } catch (error) {
    if (isProviderUnknown(error) && passage.sent > 0 && restAfter(error).restMs === undefined) throw error;
    throw await verdictOf(settings, call, passage, error);
  }
}

async function verdictOf(
  { budget }: ClientSettings,
  call: string,
  { sent, restMs }: Passage,
  error: unknown,
): Promise<ProviderRefusal | ProviderUnknown> {
  const answered = sdkErrorOf(error);
  if (answered && isDefinite(answered))
    return new ProviderRefusal(answered.status, answered.code ?? '', answered.message);
  if (answered?.status === 429 && answered.code !== null) {
    // If this cannot be recorded, the next call gets the same answer.
    await budget.pause(restMs).catch(() => undefined);
    return new ProviderUnknown(`${call}: the provider limits its calls`, { neverSent: sent === 1, restMs });
  }
  const neverConnected = answered === null && connectionFailures.has(String(networkCodeOf(error)));
  return new ProviderUnknown(`${call}: the provider ${describe(error)}`, {
    neverSent: sent === 0 || (sent === 1 && (neverConnected || (answered !== null && isAboutOurKey(answered)))),
    ...restAfter(error),
  });
}

/**
 * Makes a subsequent call within an exchange. If it is refused, throws ProviderUnknown, as the exchange's outcome is
 * unknown.
 */
export async function askFurther<T>(call: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    const answered = sdkErrorOf(error);
    if (answered === null || !isDefinite(answered)) throw error;
    throw new ProviderUnknown(`${call}: the provider ${describe(error)}`);
  }
}

/**
 * Looks something up at the provider; returns null if the provider reports that it does not exist. Throws
 * ProviderUnknown for any other refusal: a rejected API key, for example, proves nothing.
 */
export async function lookUp<T>(
  settings: ClientSettings,
  call: string,
  options: CallOptions,
  talk: (client: Client) => Promise<T | null>,
): Promise<T | null> {
  try {
    return await exchange(settings, call, options, talk);
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error;
    if (error.status === 404 && error.code.includes('NOT_FOUND')) return null;
    throw new ProviderUnknown(`${call}: the provider answered ${error.status} ${error.code}`);
  }
}
