import { type Asked, NoAnswerError, PartnerApiError } from './errors.ts';
import type { Operations } from './generated.ts';
import { type HmacKey, hexDigest, hexHmac, importHmacKey, utf8 } from './hmac.ts';

type Name = keyof Operations;
type Body<N extends Name> = Operations[N]['body'];
type Query<N extends Name> = Operations[N]['query'];
export type Answer<N extends Name> = Operations[N]['answer'];

export interface PartnerClientOptions {
  /** Base URL of the API, e.g. `https://pay.example.org`. */
  baseUrl: string;
  apiKey: string;
  signingSecret: string;
  /** The maximum number of attempts of a call that may safely be repeated; 5 by default. */
  attempts?: number;
  /** The time-out of one attempt, in milliseconds; 30,000 by default, because a creation itself waits up to 20 s. */
  timeoutMs?: number;
  fetch?: typeof fetch;
}

export interface CallOptions {
  /**
   * Aborts the call with NoAnswerError, during or between attempts. A request already sent may have been carried out.
   */
  signal?: AbortSignal;
}

export interface PayoutOptions extends CallOptions {
  /**
   * 8 to 128 characters, one key for each resource to create. Store it with your own order before you call: the same
   * key always requests the same resource, even after your own process crashes; another key requests another one.
   */
  idempotencyKey: string;
}

/**
 * Without a key, one is generated for this call. A payment created twice is only a second payment code; no money moves.
 */
export type CreateOptions = Partial<PayoutOptions>;

interface Answered<N extends Name> {
  data: Answer<N>;
}

interface Call<N extends Name> extends CreateOptions {
  params?: Operations[N]['params'];
  query?: Query<N>;
  body?: Body<N>;
  /** Whether it must never be retried automatically. */
  once?: boolean;
}

const standardAttempts = 5;
const standardTimeoutMs = 30_000;
const firstWaitMs = 250;
const longestWaitMs = 8000;
/** If the API asks for a longer wait, the call fails instead, and the caller decides what to do. */
const longestRetryAfterMs = 60_000;
/** Nothing was decided, or the outcome is not known yet: retry the same request under the same key. */
const repeatable = new Set([408, 429, 500, 503, 504]);

/**
 * A client of the partner API: signs every call, sends an idempotency key with every creation, and retries only what is
 * safe to retry, always under the same key. Throws TypeError for unusable options.
 */
export function createPartnerClient(options: PartnerClientOptions) {
  const { apiKey, signingSecret, attempts = standardAttempts, timeoutMs = standardTimeoutMs } = options;
  const base = readBaseUrl(options.baseUrl);
  for (const [name, value] of Object.entries({ apiKey, signingSecret })) {
    if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value)) {
      throw new TypeError(`${name} is missing or has invalid characters`);
    }
  }
  const send = options.fetch ?? fetch;
  let signingKey: Promise<HmacKey> | undefined;
  const nextTime = createTimes();

  async function attempt<N extends Name>(
    method: string,
    url: URL,
    raw: string,
    asked: Asked & CallOptions,
  ): Promise<Answered<N> | PartnerApiError> {
    const { idempotencyKey, signal } = asked;
    signingKey ??= importHmacKey(utf8(signingSecret));
    const key = await signingKey;
    const timeout = AbortSignal.timeout(timeoutMs);
    const answer = await send(url, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        'x-partner-signature': await hexHmac(key, utf8(raw)),
        'x-partner-signature-v2': await signRequest(key, nextTime, { method, url, raw, idempotencyKey }),
        ...(raw === '' ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'x-idempotency-key': idempotencyKey }),
      },
      ...(raw === '' ? {} : { body: raw }),
      redirect: 'manual',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    const text = await answer.text();
    if (!answer.ok) return PartnerApiError.of(answer, text, asked);
    const read = JSON.parse(text);
    if (read?.data === undefined) throw new TypeError('the answer is not from the API: is baseUrl right?');
    return read;
  }

  async function call<N extends Name>(name: N, asked: Call<N> = {}): Promise<Answer<N>> {
    const { params = {}, query = {}, body, idempotencyKey, signal, once = false } = asked;
    const [method = '', template = ''] = name.split(' ');
    const url = new URL(base.pathname.replace(/\/+$/, '') + fillPath(template, params), base);
    for (const [field, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(field, String(value));
    }
    // The signed bytes are the bytes sent, in every attempt.
    const raw = body === undefined ? '' : JSON.stringify(body);
    let mayBeDone = false;
    for (let tried = 1; ; tried += 1) {
      const noAnswer = (cause: unknown) => new NoAnswerError(name, { attempts: tried, idempotencyKey, cause });
      const outcome: Answered<N> | PartnerApiError | NoAnswerError = await attempt<N>(method, url, raw, {
        idempotencyKey,
        mayBeDone,
        ...(signal && { signal }),
      }).catch(noAnswer);
      if ('data' in outcome) return outcome.data;
      mayBeDone = outcome instanceof NoAnswerError || outcome.isIndeterminate;
      const waitMs = waitBefore(tried + 1, outcome);
      if (signal?.aborted || tried >= (once ? 1 : attempts) || waitMs === null) throw outcome;
      await sleep(waitMs, signal);
      if (signal?.aborted) throw noAnswer(signal.reason);
    }
  }

  return {
    payments: {
      /** Creates a payment; the customer pays it with its `payment_code`. */
      create: async (body: Body<'POST /v1/partners/payments'>, create: CreateOptions = {}) => {
        const { idempotencyKey = crypto.randomUUID() } = create;
        return call('POST /v1/partners/payments', { body, ...keyed({ ...create, idempotencyKey }) });
      },
      get: (id: string, options?: CallOptions) =>
        call('GET /v1/partners/payments/{id}', { params: { id }, ...options }),
      /** One page of the matching payments, newest first. */
      list: (query: Query<'GET /v1/partners/payments'> = {}, options?: CallOptions) =>
        call('GET /v1/partners/payments', { query, ...options }),
      /** Every matching payment, newest first, page after page. */
      all: (query: Omit<Query<'GET /v1/partners/payments'>, 'page'> = {}, options?: CallOptions) =>
        readOn((after) => call('GET /v1/partners/payments', { query: { limit: 100, ...query, ...after }, ...options })),
      /** What happened to a payment, in plain words, and what happens next. */
      timeline: (id: string, options?: CallOptions) =>
        call('GET /v1/partners/payments/{id}/timeline', { params: { id }, ...options }),
      /** Cancels an open payment: it becomes expired. Throws PAYMENT_ALREADY_PAID if it was paid first. */
      cancel: (id: string, options?: CallOptions) =>
        call('POST /v1/partners/payments/{id}/cancel', { params: { id }, ...options }),
      /** What a payment would cost; creates nothing. */
      quote: (body: Body<'POST /v1/partners/quotes'>, options?: CallOptions) =>
        call('POST /v1/partners/quotes', { body, ...options }),
      /**
       * Refunds a payment, in full or in part. The money is reserved when this returns; the outcome arrives by webhook
       * or by polling. You must provide the key, as for a payout.
       */
      refund: async (id: string, body: Body<'POST /v1/partners/payments/{id}/refunds'>, create: PayoutOptions) =>
        call('POST /v1/partners/payments/{id}/refunds', { params: { id }, body, ...keyed(create) }),
      getRefund: (id: string, refund_id: string, options?: CallOptions) =>
        call('GET /v1/partners/payments/{id}/refunds/{refund_id}', { params: { id, refund_id }, ...options }),
      /** One page of the refunds of a payment, newest first. */
      listRefunds: (id: string, query: Query<'GET /v1/partners/payments/{id}/refunds'> = {}, options?: CallOptions) =>
        call('GET /v1/partners/payments/{id}/refunds', { params: { id }, query, ...options }),
      /** What happened to a refund, in plain words, and what happens next. */
      refundTimeline: (id: string, refund_id: string, options?: CallOptions) =>
        call('GET /v1/partners/payments/{id}/refunds/{refund_id}/timeline', { params: { id, refund_id }, ...options }),
    },
    payouts: {
      /**
       * Creates a payout. The money is reserved when this returns; the outcome arrives by webhook or by polling. You
       * must provide the key: a key generated here would differ when your own code repeats the call, and would pay
       * twice.
       */
      create: async (body: Body<'POST /v1/partners/payouts'>, create: PayoutOptions) =>
        call('POST /v1/partners/payouts', { body, ...keyed(create) }),
      /** What a payout to this bank, or to the bank of an account check, would cost; reserves nothing. */
      quote: (
        body: Pick<Body<'POST /v1/partners/quotes'>, 'amount' | 'bank_code' | 'bank_account_check_id'>,
        options?: CallOptions,
      ) => call('POST /v1/partners/quotes', { body: { ...body, method: 'payout' }, ...options }),
      get: (id: string, options?: CallOptions) => call('GET /v1/partners/payouts/{id}', { params: { id }, ...options }),
      /** One page of the matching payouts, newest first. */
      list: (query: Query<'GET /v1/partners/payouts'> = {}, options?: CallOptions) =>
        call('GET /v1/partners/payouts', { query, ...options }),
      /** Every matching payout, newest first, page after page. */
      all: (query: Omit<Query<'GET /v1/partners/payouts'>, 'page'> = {}, options?: CallOptions) =>
        readOn((after) => call('GET /v1/partners/payouts', { query: { limit: 100, ...query, ...after }, ...options })),
      /** What happened to a payout, in plain words, and what happens next. */
      timeline: (id: string, options?: CallOptions) =>
        call('GET /v1/partners/payouts/{id}/timeline', { params: { id }, ...options }),
    },
    instruments: {
      /** Creates an account number or QR code that a customer keeps and can pay any number of times. */
      create: async (body: Body<'POST /v1/partners/instruments'>, create: PayoutOptions) =>
        call('POST /v1/partners/instruments', { body, ...keyed(create) }),
      get: (id: string, options?: CallOptions) =>
        call('GET /v1/partners/instruments/{id}', { params: { id }, ...options }),
      /** One page of the matching instruments, newest first; their payments are `payments.list({ instrument_id })`. */
      list: (query: Query<'GET /v1/partners/instruments'> = {}, options?: CallOptions) =>
        call('GET /v1/partners/instruments', { query, ...options }),
      /** Closes it at the provider; money paid before still becomes payments. */
      close: (id: string, options?: CallOptions) =>
        call('POST /v1/partners/instruments/{id}/close', { params: { id }, ...options }),
    },
    payoutBatches: {
      /**
       * Creates a batch of up to 1,000 payouts, which another key must approve; reserves nothing yet. You must provide
       * the key, as for a payout.
       */
      create: async (body: Body<'POST /v1/partners/payout-batches'>, create: PayoutOptions) =>
        call('POST /v1/partners/payout-batches', { body, ...keyed(create) }),
      get: (id: string, options?: CallOptions) =>
        call('GET /v1/partners/payout-batches/{id}', { params: { id }, ...options }),
      /** One page of the matching batches, newest first. */
      list: (query: Query<'GET /v1/partners/payout-batches'> = {}, options?: CallOptions) =>
        call('GET /v1/partners/payout-batches', { query, ...options }),
      /** One page of the items of a batch, in the order you sent them. */
      listItems: (id: string, query: Query<'GET /v1/partners/payout-batches/{id}/items'> = {}, options?: CallOptions) =>
        call('GET /v1/partners/payout-batches/{id}/items', { params: { id }, query, ...options }),
      /**
       * Reserves the money of all its items, or of none, and sends them. Requires another key than the one that created
       * it.
       */
      approve: (id: string, options?: CallOptions) =>
        call('POST /v1/partners/payout-batches/{id}/approve', { params: { id }, ...options, once: true }),
      /** Rejects it unpaid. Requires another key than the one that created it. */
      reject: (id: string, options?: CallOptions) =>
        call('POST /v1/partners/payout-batches/{id}/reject', { params: { id }, ...options, once: true }),
    },
    /** Whether a bank account exists, and whether its holder is the expected one. Moves no money. */
    checkBankAccount: (body: Body<'POST /v1/partners/bank-account-checks'>, options?: CallOptions) =>
      call('POST /v1/partners/bank-account-checks', { body, ...options }),
    /** The balance owed to you, and how much of it can be paid out now. */
    balance: (options?: CallOptions) => call('GET /v1/partners/balance', options),
    /** The channels, banks, fees and limits of this partner. */
    channels: (options?: CallOptions) => call('GET /v1/partners/channels', options),
    keys: {
      /**
       * Replaces this client's key and returns its successor, once. The old key works for another 24 hours. Not
       * repeated automatically: if the answer is lost, so is the successor, and the operator must issue another key.
       */
      rotate: (options?: CallOptions) => call('POST /v1/partners/keys/rotate', { ...options, once: true }),
    },
    webhookDeliveries: {
      /** One page of the matching webhooks, newest first, with the outcome of each. */
      list: (query: Query<'GET /v1/partners/webhook-deliveries'> = {}, options?: CallOptions) =>
        call('GET /v1/partners/webhook-deliveries', { query, ...options }),
      /** Every matching webhook, newest first, page after page. */
      all: (query: Omit<Query<'GET /v1/partners/webhook-deliveries'>, 'page'> = {}, options?: CallOptions) =>
        readOn((after) =>
          call('GET /v1/partners/webhook-deliveries', { query: { limit: 100, ...query, ...after }, ...options }),
        ),
      /** The outcome of one webhook; in development the API adds the `body` that it sends. */
      get: (id: string, options?: CallOptions) =>
        call('GET /v1/partners/webhook-deliveries/{id}', { params: { id }, ...options }),
      /** Sends a webhook again at once, whatever its outcome. */
      redeliver: (id: string, options?: CallOptions) =>
        call('POST /v1/partners/webhook-deliveries/{id}/redeliver', { params: { id }, ...options }),
      /**
       * Sends every webhook of a period again, delivered ones too; returns how many, or with `dry_run` how many it
       * would send. Not repeated automatically: each call sends them all.
       */
      replay: (body: Body<'POST /v1/partners/webhook-deliveries/replay'>, options?: CallOptions) =>
        call('POST /v1/partners/webhook-deliveries/replay', { body, ...options, once: true }),
    },
    webhookEndpoints: {
      /**
       * Adds an endpoint, at most ten; only this answer contains its secret. Not repeated automatically: if the answer
       * is lost, look at `list`, and delete the endpoint or call `rotateSecret`.
       */
      create: (body: Body<'POST /v1/partners/webhook-endpoints'>, options?: CallOptions) =>
        call('POST /v1/partners/webhook-endpoints', { body, ...options, once: true }),
      /** The endpoints, newest first. */
      list: (query: Query<'GET /v1/partners/webhook-endpoints'> = {}, options?: CallOptions) =>
        call('GET /v1/partners/webhook-endpoints', { query, ...options }),
      /** Changes its URL or events, or disables or enables it. */
      update: (id: string, body: Body<'PATCH /v1/partners/webhook-endpoints/{id}'>, options?: CallOptions) =>
        call('PATCH /v1/partners/webhook-endpoints/{id}', { params: { id }, body, ...options }),
      delete: (id: string, options?: CallOptions) =>
        call('DELETE /v1/partners/webhook-endpoints/{id}', { params: { id }, ...options }),
      /** Returns a new secret, once; the old one also signs for 24 hours. Not repeated automatically. */
      rotateSecret: (id: string, options?: CallOptions) =>
        call('POST /v1/partners/webhook-endpoints/{id}/rotate-secret', { params: { id }, ...options, once: true }),
      /** Sends `endpoint.test` to the endpoint; returns the delivery. */
      test: (id: string, options?: CallOptions) =>
        call('POST /v1/partners/webhook-endpoints/{id}/test', { params: { id }, ...options, once: true }),
    },
    /** The statement of one day of UTC+7, as `2026-01-31`. */
    settlement: (day: string, options?: CallOptions) =>
      call('GET /v1/partners/settlements/{day}', { params: { day }, ...options }),
    /** The payout limits and how much of them is used. */
    limits: (options?: CallOptions) => call('GET /v1/partners/limits', options),
  };
}

export type PartnerClient = ReturnType<typeof createPartnerClient>;

interface Signed {
  method: string;
  url: URL;
  raw: string;
  idempotencyKey: string | undefined;
}

/** The signature over the whole request: five lines, with its time, method, path with query, key and body. */
async function signRequest(key: HmacKey, nextTime: (whole: string) => number, request: Signed): Promise<string> {
  const { method, url, raw, idempotencyKey } = request;
  const whole = [method, url.pathname + url.search, idempotencyKey ?? '', await hexDigest(utf8(raw))].join('\n');
  const isTakenOnce = method !== 'GET' && idempotencyKey === undefined;
  const at = isTakenOnce ? nextTime(whole) : secondsNow();
  return `t=${at},v1=${await hexHmac(key, utf8(`${at}\n${whole}`))}`;
}

const secondsNow = (): number => Math.floor(Date.now() / 1000);

/** The time of a call whose signature is accepted once: now, or the second after that of the last identical call. */
function createTimes(): (whole: string) => number {
  const last = new Map<string, number>();
  return (whole) => {
    const now = secondsNow();
    const at = Math.max(now, (last.get(whole) ?? 0) + 1);
    for (const [known, time] of last) if (time < now) last.delete(known);
    last.set(whole, at);
    return at;
  };
}

function readBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new TypeError(`baseUrl is the address of the API, like https://pay.example.org, not ${text}`);
  }
  return url;
}

/** Refuses here what the API would refuse: a request that is never sent has no unknown outcome. */
function keyed(create: PayoutOptions): PayoutOptions {
  const { idempotencyKey } = create ?? {};
  if (typeof idempotencyKey !== 'string' || !/^[\x21-\x7e][\x20-\x7e]{6,126}[\x21-\x7e]$/.test(idempotencyKey)) {
    throw new TypeError('idempotencyKey must be 8 to 128 printable ASCII characters, stored with your own order');
  }
  return create;
}

function fillPath(template: string, params: Record<string, string>): string {
  return template.replace(/\{(\w+)\}/g, (_, field: string) => {
    const value = params[field];
    // An empty id would read the list instead of the row.
    if (typeof value !== 'string' || /^\.*$/.test(value)) throw new TypeError(`${field} is missing`);
    return encodeURIComponent(value);
  });
}

/** How long to wait before the attempt with this number, with jitter; null if it must not be made. */
function waitBefore(attempt: number, outcome: PartnerApiError | NoAnswerError): number | null {
  const growing = Math.min(firstWaitMs * 2 ** (attempt - 2), longestWaitMs) * (0.5 + Math.random() / 2);
  if (outcome instanceof NoAnswerError) return growing;
  const { status, code, retryAfterSeconds = 0 } = outcome;
  // The API's own 502 is the provider's refusal; a proxy's 502 means that the API is down.
  const isRepeatable = repeatable.has(status) || (status === 502 && code === 'UNREADABLE');
  const waitMs = Math.max(growing, retryAfterSeconds * 1000);
  return isRepeatable && waitMs <= longestRetryAfterMs ? waitMs : null;
}

/** Returns early when the signal is aborted. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal?.addEventListener('abort', wake);
  });
}

/** Continues from the position that each page returns, so that new rows neither repeat nor hide a row. */
async function* readOn<T>(
  read: (after: { after?: string }) => Promise<{ items: T[]; next?: string }>,
): AsyncGenerator<T, void, undefined> {
  for (let after: { after?: string } = {}; ; ) {
    const { items, next } = await read(after);
    yield* items;
    if (next === undefined) return;
    after = { after: next };
  }
}
