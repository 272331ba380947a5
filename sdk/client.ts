import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { NoAnswerError, PartnerApiError } from './errors.ts';
import type { Operations } from './generated.ts';

type Name = keyof Operations;
type Body<N extends Name> = Operations[N]['body'];
type Query<N extends Name> = Operations[N]['query'];
export type Answer<N extends Name> = Operations[N]['answer'];

export interface PartnerClientOptions {
  /** Of the API, e.g. `https://pay.example.org`. */
  baseUrl: string;
  apiKey: string;
  signingSecret: string;
  /** How often a call that may safely be repeated is made at most; 5 unless said otherwise. */
  attempts?: number;
  /** How long one attempt may take, in milliseconds; longer than the 20 s that a creation waits for the provider. */
  timeoutMs?: number;
  fetch?: typeof fetch;
}

export interface CreateOptions {
  /**
   * 8 to 128 characters, one for each thing that is to be made once. Keep it with your own order before you call: the same
   * key asks for the same thing, also after a crash of yours. Without it, one is made for this call.
   */
  idempotencyKey?: string;
}

interface Call<N extends Name> {
  params?: Operations[N]['params'];
  query?: Query<N>;
  body?: Body<N>;
  idempotencyKey?: string;
}

const standardAttempts = 5;
const standardTimeoutMs = 30_000;
const firstWaitMs = 250;
const longestWaitMs = 8000;
/** Nothing was decided, or the outcome is not known yet: the same request under the same key is the right next step. */
const repeatable = new Set([408, 429, 500, 503, 504]);

/**
 * A client of the partner API: signs every call, sends an idempotency key with every creation, and repeats only what is
 * safe to repeat, always under the same key.
 */
export function createPartnerClient(options: PartnerClientOptions) {
  const { baseUrl, apiKey, signingSecret } = options;
  const attempts = options.attempts ?? standardAttempts;
  const timeoutMs = options.timeoutMs ?? standardTimeoutMs;
  const send = options.fetch ?? fetch;

  async function attempt(method: string, url: URL, raw: string, idempotencyKey: string | undefined) {
    const answer = await send(url, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        'x-partner-signature': createHmac('sha256', signingSecret).update(raw).digest('hex'),
        ...(raw === '' ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'x-idempotency-key': idempotencyKey }),
      },
      ...(raw === '' ? {} : { body: raw }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { answer, text: await answer.text() };
  }

  async function call<N extends Name>(name: N, asked: Call<N> = {}): Promise<Answer<N>> {
    const [method = '', template = ''] = name.split(' ');
    const url = new URL(fillPath(template, asked.params ?? {}), baseUrl);
    for (const [field, value] of Object.entries(asked.query ?? {})) {
      if (value !== undefined) url.searchParams.set(field, String(value));
    }
    // The bytes that are signed are the bytes that are sent, at every attempt.
    const raw = asked.body === undefined ? '' : JSON.stringify(asked.body);
    for (let tried = 1; ; tried += 1) {
      let waitMs = Math.min(firstWaitMs * 2 ** (tried - 1), longestWaitMs) * (0.5 + Math.random() / 2);
      try {
        const { answer, text } = await attempt(method, url, raw, asked.idempotencyKey);
        if (answer.ok) return JSON.parse(text).data;
        const error = PartnerApiError.of(answer.status, text, asked.idempotencyKey);
        if (tried >= attempts || !repeatable.has(answer.status)) throw error;
        waitMs = Math.max(waitMs, Number(answer.headers.get('retry-after') ?? 0) * 1000);
      } catch (error) {
        if (error instanceof PartnerApiError) throw error;
        if (tried >= attempts) throw new NoAnswerError(name, asked.idempotencyKey, error);
      }
      await sleep(waitMs);
    }
  }

  const keyed = ({ idempotencyKey = randomUUID() }: CreateOptions = {}) => ({ idempotencyKey });

  return {
    payments: {
      /** Makes a payment; the customer pays by its `payment_code`. */
      create: (body: Body<'POST /v1/partners/payments'>, create?: CreateOptions) =>
        call('POST /v1/partners/payments', { body, ...keyed(create) }),
      get: (id: string) => call('GET /v1/partners/payments/{id}', { params: { id } }),
      list: (query?: Query<'GET /v1/partners/payments'>) => call('GET /v1/partners/payments', { query: query ?? {} }),
      /** Every payment that matches, newest first, page after page. */
      all: (query?: Query<'GET /v1/partners/payments'>) =>
        readOn((after) => call('GET /v1/partners/payments', { query: { limit: 100, ...query, ...after } })),
      timeline: (id: string) => call('GET /v1/partners/payments/{id}/timeline', { params: { id } }),
      /** What a payment would cost; makes nothing. */
      quote: (body: Body<'POST /v1/partners/quotes'>) => call('POST /v1/partners/quotes', { body }),
    },
    payouts: {
      /** Pays out; the money is reserved when this answers, and the outcome comes by webhook or by asking. */
      create: (body: Body<'POST /v1/partners/payouts'>, create?: CreateOptions) =>
        call('POST /v1/partners/payouts', { body, ...keyed(create) }),
      get: (id: string) => call('GET /v1/partners/payouts/{id}', { params: { id } }),
      list: (query?: Query<'GET /v1/partners/payouts'>) => call('GET /v1/partners/payouts', { query: query ?? {} }),
      /** Every payout that matches, newest first, page after page. */
      all: (query?: Query<'GET /v1/partners/payouts'>) =>
        readOn((after) => call('GET /v1/partners/payouts', { query: { limit: 100, ...query, ...after } })),
      timeline: (id: string) => call('GET /v1/partners/payouts/{id}/timeline', { params: { id } }),
    },
    /** What is owed, and what of it can be paid out now. */
    balance: () => call('GET /v1/partners/balance'),
    /** The channels, banks, fees and bounds that are open to this partner. */
    channels: () => call('GET /v1/partners/channels'),
    /** The payout limits and what is used of them. */
    limits: () => call('GET /v1/partners/limits'),
  };
}

export type PartnerClient = ReturnType<typeof createPartnerClient>;

function fillPath(template: string, params: Record<string, string>): string {
  return template.replace(/\{(\w+)\}/g, (_, field: string) => encodeURIComponent(params[field] ?? ''));
}

/** Reads by keyset, so that what is made meanwhile neither repeats nor hides a row. */
async function* readOn<T extends { id: string }>(
  read: (after: { after?: string }) => Promise<{ items: T[] }>,
): AsyncGenerator<T, void, undefined> {
  for (let after: { after?: string } = {}; ; ) {
    const { items } = await read(after);
    yield* items;
    const last = items.at(-1);
    if (last === undefined) return;
    after = { after: last.id };
  }
}
