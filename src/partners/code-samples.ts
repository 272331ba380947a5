/** A call as a partner's program makes it, with real values in it. */
export interface SampledCall {
  method: string;
  /** The path with its query, as it is sent. */
  target: string;
  body?: unknown;
  idempotencyKey?: string;
}

/** A program in one language, as `x-codeSamples` has it. */
export interface CodeSample {
  lang: string;
  label: string;
  source: string;
}

/** A call as the languages need it: the body is the text that is signed and sent. */
interface Prepared {
  method: string;
  target: string;
  /** Empty for a call without a body. */
  body: string;
  /** The idempotency key, empty without one. */
  key: string;
  /** Headers with a fixed value, besides the key and the signatures. */
  fixed: [name: string, value: string][];
}

const singleQuoted = (text: string, quote: string): string => `'${text.replaceAll("'", quote)}'`;
/** In a shell a quote cannot be escaped: the string ends, and begins again after it. */
const inShell = (text: string): string => singleQuoted(text, "'\\''");
const inScript = (text: string): string => singleQuoted(text.replaceAll('\\', '\\\\'), "\\'");
const inGo = (text: string): string => (text.includes('`') ? JSON.stringify(text) : `\`${text}\``);

function curl({ method, target, body, key, fixed }: Prepared): string {
  const lines = [
    `curl -s -X ${method} "$AMANAH_API_URL"${inShell(target)}`,
    '-H "authorization: Bearer $AMANAH_API_KEY"',
    '-H "x-partner-signature: $signature"',
    '-H "x-partner-signature-v2: t=$time,v1=$signature_v2"',
    ...fixed.map(([name, value]) => `-H ${inShell(`${name}: ${value}`)}`),
    ...(body === '' ? [] : ['-d "$body"']),
  ];
  return `body=${inShell(body)}
time=$(date +%s)
hex() { sed 's/^.* //'; }
hmac() { openssl dgst -sha256 -hmac "$AMANAH_SIGNING_SECRET" -hex | hex; }
digest=$(printf %s "$body" | openssl dgst -sha256 -hex | hex)
signature=$(printf %s "$body" | hmac)
signature_v2=$(printf '%s\\n%s\\n%s\\n%s\\n%s' "$time" ${method} ${inShell(target)} ${inShell(key)} "$digest" | hmac)
${lines.join(' \\\n  ')}
`;
}

function typeScript({ method, target, body, key, fixed }: Prepared): string {
  const headers = fixed.map(([name, value]) => `    ${inScript(name)}: ${inScript(value)},\n`).join('');
  return `import { createHash, createHmac } from 'node:crypto';

const { AMANAH_API_URL = '', AMANAH_API_KEY = '', AMANAH_SIGNING_SECRET = '' } = process.env;
const hmac = (text: string) => createHmac('sha256', AMANAH_SIGNING_SECRET).update(text).digest('hex');
const body = ${inScript(body)};
const time = Math.floor(Date.now() / 1000);
const digest = createHash('sha256').update(body).digest('hex');
const whole = [time, ${inScript(method)}, ${inScript(target)}, ${inScript(key)}, digest].join('\\n');
const answer = await fetch(AMANAH_API_URL + ${inScript(target)}, {
  method: ${inScript(method)},
  headers: {
    authorization: \`Bearer \${AMANAH_API_KEY}\`,
    'x-partner-signature': hmac(body),
    'x-partner-signature-v2': \`t=\${time},v1=\${hmac(whole)}\`,
${headers}  },
${body === '' ? '' : '  body,\n'}});
console.log(answer.status, await answer.text());
`;
}

function python({ method, target, body, key, fixed }: Prepared): string {
  const headers = fixed.map(([name, value]) => `        ${inScript(name)}: ${inScript(value)},\n`).join('');
  return `import hashlib
import hmac
import os
import time
import urllib.request


def sign(text):
    return hmac.new(os.environ['AMANAH_SIGNING_SECRET'].encode(), text, hashlib.sha256).hexdigest()


body = ${inScript(body)}.encode()
now = str(int(time.time()))
whole = '\\n'.join([now, ${inScript(method)}, ${inScript(target)}, ${inScript(key)}, hashlib.sha256(body).hexdigest()])
request = urllib.request.Request(
    os.environ['AMANAH_API_URL'] + ${inScript(target)},
    method=${inScript(method)},
    headers={
        'authorization': 'Bearer ' + os.environ['AMANAH_API_KEY'],
        'x-partner-signature': sign(body),
        'x-partner-signature-v2': 't=' + now + ',v1=' + sign(whole.encode()),
${headers}    },
${body === '' ? '' : '    data=body,\n'})
with urllib.request.urlopen(request) as answer:
    print(answer.status, answer.read().decode())
`;
}

function go({ method, target, body, key, fixed }: Prepared): string {
  const headers = fixed.map(([name, value]) => `\trequest.Header.Set("${name}", ${JSON.stringify(value)})\n`).join('');
  return `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func sign(text string) string {
	signed := hmac.New(sha256.New, []byte(os.Getenv("AMANAH_SIGNING_SECRET")))
	signed.Write([]byte(text))
	return hex.EncodeToString(signed.Sum(nil))
}

func main() {
	body := ${inGo(body)}
	now := strconv.FormatInt(time.Now().Unix(), 10)
	digest := sha256.Sum256([]byte(body))
	parts := []string{now, "${method}", ${JSON.stringify(target)}, ${JSON.stringify(key)}, hex.EncodeToString(digest[:])}
	whole := strings.Join(parts, "\\n")
	request, err := http.NewRequest("${method}", os.Getenv("AMANAH_API_URL")+${JSON.stringify(target)}, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("authorization", "Bearer "+os.Getenv("AMANAH_API_KEY"))
	request.Header.Set("x-partner-signature", sign(body))
	request.Header.Set("x-partner-signature-v2", "t="+now+",v1="+sign(whole))
${headers}	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.StatusCode, string(text))
}
`;
}

function php({ method, target, body, key, fixed }: Prepared): string {
  const headers = fixed.map(([name, value]) => `        ${inScript(`${name}: ${value}`)},\n`).join('');
  return `<?php
$body = ${inScript(body)};
$secret = getenv('AMANAH_SIGNING_SECRET');
$time = time();
$whole = implode("\\n", [$time, ${inScript(method)}, ${inScript(target)}, ${inScript(key)}, hash('sha256', $body)]);
$curl = curl_init(getenv('AMANAH_API_URL') . ${inScript(target)});
curl_setopt_array($curl, [
    CURLOPT_CUSTOMREQUEST => ${inScript(method)},
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_HTTPHEADER => [
        'authorization: Bearer ' . getenv('AMANAH_API_KEY'),
        'x-partner-signature: ' . hash_hmac('sha256', $body, $secret),
        'x-partner-signature-v2: t=' . $time . ',v1=' . hash_hmac('sha256', $whole, $secret),
${headers}    ],
${body === '' ? '' : '    CURLOPT_POSTFIELDS => $body,\n'}]);
$answer = curl_exec($curl);
echo curl_getinfo($curl, CURLINFO_RESPONSE_CODE), ' ', $answer, PHP_EOL;
`;
}

const languages: [lang: string, label: string, write: (call: Prepared) => string][] = [
  ['Shell', 'curl', curl],
  ['TypeScript', 'TypeScript', typeScript],
  ['Python', 'Python', python],
  ['Go', 'Go', go],
  ['PHP', 'PHP', php],
];

/**
 * A whole program in each language that makes the call with both signatures: over the body, which every call needs, and
 * over the whole request. Its address, key and secret are in `AMANAH_API_URL`, `AMANAH_API_KEY` and
 * `AMANAH_SIGNING_SECRET`.
 */
export function codeSamples({ method, target, body, idempotencyKey }: SampledCall): CodeSample[] {
  const fixed: Prepared['fixed'] = [];
  if (idempotencyKey !== undefined) fixed.push(['x-idempotency-key', idempotencyKey]);
  if (body !== undefined) fixed.push(['content-type', 'application/json']);
  const text = body === undefined ? '' : JSON.stringify(body);
  const verb = method.toUpperCase();
  const prepared = { method: verb, target, body: text, key: idempotencyKey ?? '', fixed };
  return languages.map(([lang, label, write]) => ({ lang, label, source: write(prepared) }));
}

interface Parameter {
  in: string;
  name: string;
  example?: unknown;
}
interface Operation {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { example?: unknown }> };
  'x-codeSamples'?: CodeSample[];
}

/** Adds `x-codeSamples` to each operation of the document, made of the examples of its parameters and its body. */
export function addCodeSamples(document: { paths: object }): void {
  for (const [path, item] of Object.entries(document.paths as Record<string, Record<string, Operation>>)) {
    for (const [method, operation] of Object.entries(item)) {
      operation['x-codeSamples'] = codeSamples(callOf(method, path, operation));
    }
  }
}

/** The call that an operation's examples make: a parameter without an example is left away, but for those of the path. */
function callOf(method: string, path: string, { parameters = [], requestBody }: Operation): SampledCall {
  const given = (place: string) =>
    parameters.filter((parameter) => parameter.in === place && parameter.example !== undefined);
  const filled = given('path').reduce(
    (before, { name, example }) => before.replace(`{${name}}`, encodeURIComponent(String(example))),
    path,
  );
  const query = new URLSearchParams(
    Object.fromEntries(given('query').map(({ name, example }) => [name, String(example)])),
  ).toString();
  const key = given('header').find(({ name }) => name.toLowerCase() === 'x-idempotency-key')?.example;
  const body = requestBody?.content['application/json']?.example;
  return {
    method,
    target: query === '' ? filled : `${filled}?${query}`,
    ...(body !== undefined && { body }),
    ...(key !== undefined && { idempotencyKey: String(key) }),
  };
}
