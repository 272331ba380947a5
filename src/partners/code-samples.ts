import { languages, type Prepared, type Proof } from './sample-languages.ts';

/** A call with concrete values. */
export interface SampledCall {
  proof: Proof;
  method: string;
  /** The path with its query, as it is sent. */
  target: string;
  body?: unknown;
  /** The name of the idempotency header, and the key. */
  idempotencyKey?: [header: string, key: string];
}

/** A program in one language, as in `x-codeSamples`. */
export interface CodeSample {
  lang: string;
  label: string;
  source: string;
}

/**
 * A complete program in each language that makes the call. Reads the API's address from `AMANAH_API_URL`; a partner's
 * call, which signs body and request, reads key and secret from `AMANAH_API_KEY` and `AMANAH_SIGNING_SECRET`; a
 * person's call reads the token from `AMANAH_ACCESS_TOKEN`.
 */
export function codeSamples({ proof, method, target, body, idempotencyKey }: SampledCall): CodeSample[] {
  const fixed: Prepared['fixed'] = idempotencyKey === undefined ? [] : [idempotencyKey];
  if (body !== undefined) fixed.push(['content-type', 'application/json']);
  const text = body === undefined ? '' : JSON.stringify(body);
  const verb = method.toUpperCase();
  const prepared = { proof, method: verb, target, body: text, key: idempotencyKey?.[1] ?? '', fixed };
  return languages.map(([lang, label, write]) => ({ lang, label, source: write(prepared) }));
}

interface Parameter {
  in: string;
  name: string;
  example?: unknown;
}
interface Operation {
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { example?: unknown }> };
  'x-codeSamples'?: CodeSample[];
}

/**
 * Adds `x-codeSamples`, made from the examples of parameters and body, to each partner operation and to other writes,
 * except those with a non-JSON body.
 */
export function addCodeSamples(document: { paths: object }): void {
  for (const [path, item] of Object.entries(document.paths as Record<string, Record<string, Operation>>)) {
    for (const [method, operation] of Object.entries(item)) {
      const { requestBody, security = [] } = operation;
      const isSigned = security.some((scheme) => 'partnerKey' in scheme);
      if (!isSigned && (method === 'get' || requestBody?.content['application/json']?.example === null)) continue;
      if (requestBody && !requestBody.content['application/json']) continue;
      const proof = isSigned ? 'signed' : security.length > 0 ? 'token' : 'open';
      operation['x-codeSamples'] = codeSamples({ proof, ...callOf(method, path, operation) });
    }
  }
}

/** The call with an operation's examples; omits parameters without an example, except path parameters. */
function callOf(method: string, path: string, { parameters = [], requestBody }: Operation): Omit<SampledCall, 'proof'> {
  const given = (place: string) =>
    parameters.filter((parameter) => parameter.in === place && parameter.example !== undefined);
  const filled = given('path').reduce(
    (before, { name, example }) => before.replace(`{${name}}`, encodeURIComponent(String(example))),
    path,
  );
  const query = new URLSearchParams(
    Object.fromEntries(given('query').map(({ name, example }) => [name, String(example)])),
  ).toString();
  const key = given('header').find(({ name }) => /idempotency-key$/i.test(name));
  const body = requestBody?.content['application/json']?.example;
  return {
    method,
    target: query === '' ? filled : `${filled}?${query}`,
    ...(body !== undefined && { body }),
    ...(key !== undefined && { idempotencyKey: [key.name.toLowerCase(), String(key.example)] as [string, string] }),
  };
}
