export interface HttpAnswer {
  status: number;
  headers: Headers;
  /** Parsed if it is JSON, otherwise the text; null if there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are read by tests, which state what they expect
  body: any;
}

export interface HttpOptions {
  /** A bearer token. */
  token?: string;
  headers?: Record<string, string>;
  /** Sent as it is, without a JSON content type. */
  raw?: string | Uint8Array<ArrayBuffer>;
  signal?: AbortSignal;
}

/** A small HTTP client for one base URL: JSON in, JSON out; no status throws. */
export interface Http {
  get(path: string, options?: HttpOptions): Promise<HttpAnswer>;
  post(path: string, body?: unknown, options?: HttpOptions): Promise<HttpAnswer>;
  put(path: string, body?: unknown, options?: HttpOptions): Promise<HttpAnswer>;
  patch(path: string, body?: unknown, options?: HttpOptions): Promise<HttpAnswer>;
  delete(path: string, body?: unknown, options?: HttpOptions): Promise<HttpAnswer>;
}

/** Retries on these statuses, after the time in the answer; makes at most `most` attempts. */
export async function askAgain(
  ask: () => Promise<HttpAnswer>,
  { on, most = Number.POSITIVE_INFINITY }: { on: readonly number[]; most?: number },
): Promise<HttpAnswer> {
  for (let asked = 1; ; asked += 1) {
    const answer = await ask();
    if (!on.includes(answer.status) || asked >= most) return answer;
    await new Promise((resolve) => setTimeout(resolve, Number(answer.headers.get('retry-after')) * 1000));
  }
}

/** How many attempts a patient client makes before it returns the 503. */
const mostTries = 15;

/**
 * Creates a client of `baseUrl`. If `isPatient`, it retries a 503 after the time in the answer, because an overloaded
 * machine must not fail unrelated tests, and logs each retry.
 */
export function createHttp(baseUrl: string, { isPatient = false } = {}): Http {
  const askOnce = async (method: string, path: string, content: unknown, options: HttpOptions): Promise<HttpAnswer> => {
    const headers = new Headers(options.headers);
    if (options.token !== undefined) headers.set('authorization', `Bearer ${options.token}`);
    if (content !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json');
    const answer = await fetch(new URL(path, baseUrl), {
      method,
      headers,
      body: options.raw ?? (content === undefined ? null : JSON.stringify(content)),
      redirect: 'manual',
      ...(options.signal && { signal: options.signal }),
    });
    const text = await answer.text();
    const isJson = /json/.test(answer.headers.get('content-type') ?? '');
    return {
      status: answer.status,
      headers: answer.headers,
      body: text === '' ? null : isJson ? JSON.parse(text) : text,
    };
  };
  const call = async (method: string, path: string, content: unknown, options: HttpOptions = {}) => {
    let isFirst = true;
    const ask = () => {
      if (!isFirst) process.stderr.write(`${method} ${path} got a 503 and is retried\n`);
      isFirst = false;
      return askOnce(method, path, content, options);
    };
    return isPatient ? askAgain(ask, { on: [503], most: mostTries }) : ask();
  };
  return {
    get: (path, options) => call('GET', path, undefined, options),
    post: (path, body, options) => call('POST', path, body, options),
    put: (path, body, options) => call('PUT', path, body, options),
    patch: (path, body, options) => call('PATCH', path, body, options),
    delete: (path, body, options) => call('DELETE', path, body, options),
  };
}
