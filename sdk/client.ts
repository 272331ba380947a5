import { type Asked, NoAnswerError, PartnerApiError } from './errors.ts';
import type { Operations } from './generated.ts';
import { type HmacKey, hexDigest, hexHmac, importHmacKey, utf8 } from './hmac.ts';

type Name = keyof Operations;
type Body<N extends Name> = Operations[N]['body'];
type Query<N extends Name> = Operations[N]['query'];
export type Answer<N extends Name> = Operations[N]['answer'];

export interface PartnerClientOptions {
  /** Of the API, e.g. `https://pay.example.org`. */
  baseUrl: string;
  apiKey: string;
  signingSecret: string;
  /** How often a call is made at most while it may safely be repeated; 5 unless said otherwise. */
  attempts?: number;
  /** How long one attempt may take, in milliseconds; 30,000 unless said otherwise, a creation waits up to 20 s itself. */
  timeoutMs?: number;
  /**
   * Whether calls carry the signature over time, method, path, key and body besides the one over the body; they do unless
   * this is false. It is refused where a proxy changes the path, or this machine's clock is five minutes wrong.
   */
  signWholeRequest?: boolean;
  fetch?: typeof fetch;
}

export interface CallOptions {
  /** Ends the call with NoAnswerError, between and within its attempts. What was sent may have been done. */
  signal?: AbortSignal;
}

export interface PayoutOptions extends CallOptions {
  /**
   * 8 to 128 characters, one for each thing that is to be made once. Keep it with your own order before you call: the same
   * key asks for the same thing, also after a crash of yours; another key asks for another one.
   */
  idempotencyKey: string;
}

/** Without a key, one is made for this call; a payment made twice is a second code to pay by, and takes no money. */
export type CreateOptions = Partial<PayoutOptions>;

interface Answered<N extends Name> {
  data: Answer<N>;
}

interface Call<N extends Name> extends CreateOptions {
  params?: Operations[N]['params'];
  query?: Query<N>;
  body?: Body<N>;
  /** Whether it must not be repeated, whatever comes of it. */
  once?: boolean;
}

const standardAttempts = 5;
const standardTimeoutMs = 30_000;
const firstWaitMs = 250;
const longestWaitMs = 8000;
/** Asked to wait longer, the call ends instead: whoever makes it knows better what to do meanwhile. */
const longestRetryAfterMs = 60_000;
/** Nothing was decided, or the outcome is not known yet: the same request under the same key is the right next step. */
const repeatable = new Set([408, 429, 500, 503, 504]);

/**
 * A client of the partner API: signs every call, sends an idempotency key with every creation, and repeats only what is
 * safe to repeat, always under the same key. Throws TypeError at once for options it could not work with.
 */
export function createPartnerClient(options: PartnerClientOptions) {
  const { apiKey, signingSecret, attempts = standardAttempts, timeoutMs = standardTimeoutMs } = options;
  const { signWholeRequest = true } = options;
  const base = readBaseUrl(options.baseUrl);
  for (const [name, value] of Object.entries({ apiKey, signingSecret })) {
    if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value)) {
      throw new TypeError(`${name} is missing, or has characters that no ${name} has`);
    }
  }
  const send = options.fetch ?? fetch;
  let signingKey: Promise<HmacKey> | undefined;

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
        ...(signWholeRequest && {
          'x-partner-signature-v2': await signRequest(key, method, url, raw, idempotencyKey),
        }),
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
    if (read?.data === undefined) throw new TypeError('what answered is not the API: is baseUrl right?');
    return read;
  }

  async function call<N extends Name>(name: N, asked: Call<N> = {}): Promise<Answer<N>> {
    const { params = {}, query = {}, body, idempotencyKey, signal, once = false } = asked;
    const [method = '', template = ''] = name.split(' ');
    const url = new URL(base.pathname.replace(/\/+$/, '') + fillPath(template, params), base);
    for (const [field, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(field, String(value));
    }
    // The bytes that are signed are the bytes that are sent, at every attempt.
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
      /** Makes a payment; the customer pays by its `payment_code`. */
      create: async (body: Body<'POST /v1/partners/payments'>, create: CreateOptions = {}) => {
        const { idempotencyKey = crypto.randomUUID() } = create;
        return call('POST /v1/partners/payments', { body, ...keyed({ ...create, idempotencyKey }) });
      },
      get: (id: string, options?: CallOptions) =>
        call('GET /v1/partners/payments/{id}', { params: { id }, ...options }),
      /** One page of the payments that match, newest first. */
      list: (query: Query<'GET /v1/partners/payments'> = {}, options?: CallOptions) =>
        call('GET /v1/partners/payments', { query, ...options }),
      /** Every payment that matches, newest first, page after page. */
      all: (query: Omit<Query<'GET /v1/partners/payments'>, 'page'> = {}, options?: CallOptions) =>
        readOn((after) => call('GET /v1/partners/payments', { query: { limit: 100, ...query, ...after }, ...options })),
      /** What happened to a payment in plain words, and what happens next. */
      timeline: (id: string, options?: CallOptions) =>
        call('GET /v1/partners/payments/{id}/timeline', { params: { id }, ...options }),
      /** Ends one that is open: it is answered expired. Throws PAYMENT_ALREADY_PAID when it was paid first. */
      cancel: (id: string, options?: CallOptions) =>
        call('POST /v1/partners/payments/{id}/cancel', { params: { id }, ...options }),
      /** What a payment would cost; makes nothing. */
      quote: (body: Body<'POST /v1/partners/quotes'>, options?: CallOptions) =>
        call('POST /v1/partners/quotes', { body, ...options }),
    },
    payouts: {
      /**
       * Pays out; the money is reserved when this answers, and the outcome comes by webhook or by asking. The key is
       * yours to give: a key made here would be another one when your own code repeats the call, and pay twice.
       */
      create: async (body: Body<'POST /v1/partners/payouts'>, create: PayoutOptions) =>
        call('POST /v1/partners/payouts', { body, ...keyed(create) }),
      /** What a payout to this bank would cost; reserves nothing. */
      quote: (body: { amount: string; bank_code: string }, options?: CallOptions) =>
        call('POST /v1/partners/quotes', { body: { ...body, method: 'payout' }, ...options }),
      get: (id: string, options?: CallOptions) => call('GET /v1/partners/payouts/{id}', { params: { id }, ...options }),
      /** One page of the payouts that match, newest first. */
      list: (query: Query<'GET /v1/partners/payouts'> = {}, options?: CallOptions) =>
        call('GET /v1/partners/payouts', { query, ...options }),
      /** Every payout that matches, newest first, page after page. */
      all: (query: Omit<Query<'GET /v1/partners/payouts'>, 'page'> = {}, options?: CallOptions) =>
        readOn((after) => call('GET /v1/partners/payouts', { query: { limit: 100, ...query, ...after }, ...options })),
      /** What happened to a payout in plain words, and what happens next. */
      timeline: (id: string, options?: CallOptions) =>
        call('GET /v1/partners/payouts/{id}/timeline', { params: { id }, ...options }),
    },
    /** What is owed, and what of it can be paid out now. */
    balance: (options?: CallOptions) => call('GET /v1/partners/balance', options),
    /** The channels, banks, fees and bounds that are open to this partner. */
    channels: (options?: CallOptions) => call('GET /v1/partners/channels', options),
    keys: {
      /**
       * Replaces the key of this client: answers its successor, once. This client's own key works for 24 hours more. It is
       * not repeated by itself: without an answer nobody knows the successor, and the operator issues another one.
       */
      rotate: (options?: CallOptions) => call('POST /v1/partners/keys/rotate', { ...options, once: true }),
    },
    webhookDeliveries: {
      /** One page of the webhooks that match, newest first: what became of each. */
      list: (query: Query<'GET /v1/partners/webhook-deliveries'> = {}, options?: CallOptions) =>
        call('GET /v1/partners/webhook-deliveries', { query, ...options }),
      /** Every webhook that matches, newest first, page after page. */
      all: (query: Omit<Query<'GET /v1/partners/webhook-deliveries'>, 'page'> = {}, options?: CallOptions) =>
        readOn((after) =>
          call('GET /v1/partners/webhook-deliveries', { query: { limit: 100, ...query, ...after }, ...options }),
        ),
      /** What became of one; from an API in development with the `body` that is sent. */
      get: (id: string, options?: CallOptions) =>
        call('GET /v1/partners/webhook-deliveries/{id}', { params: { id }, ...options }),
      /** Has a webhook sent again, at once, whatever became of it. */
      redeliver: (id: string, options?: CallOptions) =>
        call('POST /v1/partners/webhook-deliveries/{id}/redeliver', { params: { id }, ...options }),
      /**
       * Has every webhook of a period sent again, delivered ones too; answers how many, with `dry_run` before it happens.
       * Not repeated by itself: each time sends them all.
       */
      replay: (body: Body<'POST /v1/partners/webhook-deliveries/replay'>, options?: CallOptions) =>
        call('POST /v1/partners/webhook-deliveries/replay', { body, ...options, once: true }),
    },
    webhookEndpoints: {
      /**
       * Adds an endpoint, at most ten; its secret is in this answer only. Not repeated by itself: without an answer look
       * into `list`, and delete or `rotateSecret` what you find.
       */
      create: (body: Body<'POST /v1/partners/webhook-endpoints'>, options?: CallOptions) =>
        call('POST /v1/partners/webhook-endpoints', { body, ...options, once: true }),
      /** The endpoints, newest first. */
      list: (query: Query<'GET /v1/partners/webhook-endpoints'> = {}, options?: CallOptions) =>
        call('GET /v1/partners/webhook-endpoints', { query, ...options }),
      /** Moves it, changes what it is told, or disables and enables it. */
      update: (id: string, body: Body<'PATCH /v1/partners/webhook-endpoints/{id}'>, options?: CallOptions) =>
        call('PATCH /v1/partners/webhook-endpoints/{id}', { params: { id }, body, ...options }),
      delete: (id: string, options?: CallOptions) =>
        call('DELETE /v1/partners/webhook-endpoints/{id}', { params: { id }, ...options }),
      /** A new secret, in this answer only; both sign for 24 hours. Not repeated by itself. */
      rotateSecret: (id: string, options?: CallOptions) =>
        call('POST /v1/partners/webhook-endpoints/{id}/rotate-secret', { params: { id }, ...options, once: true }),
      /** Has `endpoint.test` sent there; answers its delivery. */
      test: (id: string, options?: CallOptions) =>
        call('POST /v1/partners/webhook-endpoints/{id}/test', { params: { id }, ...options, once: true }),
    },
    /** The payout limits and what is used of them. */
    limits: (options?: CallOptions) => call('GET /v1/partners/limits', options),
  };
}

export type PartnerClient = ReturnType<typeof createPartnerClient>;

/** The signature over the whole request, of this second. */
async function signRequest(key: HmacKey, method: string, url: URL, raw: string, idempotencyKey = ''): Promise<string> {
  const at = Math.floor(Date.now() / 1000);
  const digest = await hexDigest(utf8(raw));
  const signed = `${at}.${method} ${url.pathname}${url.search}.${idempotencyKey}.${digest}`;
  return `t=${at},v1=${await hexHmac(key, utf8(signed))}`;
}

function readBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new TypeError(`baseUrl is the address of the API, like https://pay.example.org, not ${text}`);
  }
  return url;
}

/** Refuses here what the API would: a request that is never sent needs no second look at its outcome. */
function keyed(create: PayoutOptions): PayoutOptions {
  const { idempotencyKey } = create ?? {};
  if (typeof idempotencyKey !== 'string' || !/^[\x21-\x7e][\x20-\x7e]{6,126}[\x21-\x7e]$/.test(idempotencyKey)) {
    throw new TypeError('idempotencyKey has 8 to 128 printable ASCII characters, kept with your own order');
  }
  return create;
}

function fillPath(template: string, params: Record<string, string>): string {
  return template.replace(/\{(\w+)\}/g, (_, field: string) => {
    const value = params[field];
    // An empty one would read the list in place of the row.
    if (typeof value !== 'string' || /^\.*$/.test(value)) throw new TypeError(`${field} is missing`);
    return encodeURIComponent(value);
  });
}

/** How long to wait before the attempt of this number, with jitter; null when there is to be none. */
function waitBefore(attempt: number, outcome: PartnerApiError | NoAnswerError): number | null {
  const growing = Math.min(firstWaitMs * 2 ** (attempt - 2), longestWaitMs) * (0.5 + Math.random() / 2);
  if (outcome instanceof NoAnswerError) return growing;
  const { status, code, retryAfterSeconds = 0 } = outcome;
  // A 502 of the API is the provider's refusal; one of a proxy says that the API is away.
  const isRepeatable = repeatable.has(status) || (status === 502 && code === 'UNREADABLE');
  const waitMs = Math.max(growing, retryAfterSeconds * 1000);
  return isRepeatable && waitMs <= longestRetryAfterMs ? waitMs : null;
}

/** Ends early when the signal is aborted. */
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

/** Reads by keyset, so that what is made meanwhile neither repeats nor hides a row. */
async function* readOn<T extends { id: string }>(
  read: (after: { after?: string }) => Promise<{ items: T[]; limit: number }>,
): AsyncGenerator<T, void, undefined> {
  for (let after: { after?: string } = {}; ; ) {
    const { items, limit } = await read(after);
    yield* items;
    const last = items.at(-1);
    if (last === undefined || items.length < limit) return;
    after = { after: last.id };
  }
}
