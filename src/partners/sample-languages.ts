/** How a call is authenticated: by key and signatures, by a user's token, or not at all. */
export type Proof = 'signed' | 'token' | 'open';

/** A call for the code generators: the body is the text that is signed and sent. */
export interface Prepared {
  proof: Proof;
  method: string;
  target: string;
  /** Empty for a call without a body. */
  body: string;
  /** The idempotency key; empty if there is none. */
  key: string;
  /** Headers with fixed values, besides key and signatures. */
  fixed: [name: string, value: string][];
}

const singleQuoted = (text: string, quote: string): string => `'${text.replaceAll("'", quote)}'`;
/** A quote inside a shell string ends the string, is escaped, and starts a new one. */
const inShell = (text: string): string => singleQuoted(text, "'\\''");
const inScript = (text: string): string => singleQuoted(text.replaceAll('\\', '\\\\'), "\\'");
const inGo = (text: string): string => (text.includes('`') ? JSON.stringify(text) : `\`${text}\``);

function curl({ proof, method, target, body, key, fixed }: Prepared): string {
  const proofs: Record<Proof, string[]> = {
    signed: [
      '-H "authorization: Bearer $AMANAH_API_KEY"',
      '-H "x-partner-signature: $signature"',
      '-H "x-partner-signature-v2: t=$time,v1=$signature_v2"',
    ],
    token: ['-H "authorization: Bearer $AMANAH_ACCESS_TOKEN"'],
    open: [],
  };
  const lines = [
    `curl -s -X ${method} "$AMANAH_API_URL"${inShell(target)}`,
    ...proofs[proof],
    ...fixed.map(([name, value]) => `-H ${inShell(`${name}: ${value}`)}`),
    ...(body === '' ? [] : ['-d "$body"']),
  ];
  const call = `${lines.join(' \\\n  ')}\n`;
  if (proof !== 'signed') return body === '' ? call : `body=${inShell(body)}\n${call}`;
  return `body=${inShell(body)}
time=$(date +%s)
hex() { sed 's/^.* //'; }
hmac() { openssl dgst -sha256 -hmac "$AMANAH_SIGNING_SECRET" -hex | hex; }
digest=$(printf %s "$body" | openssl dgst -sha256 -hex | hex)
signature=$(printf %s "$body" | hmac)
signature_v2=$(printf '%s\\n%s\\n%s\\n%s\\n%s' "$time" ${method} ${inShell(target)} ${inShell(key)} "$digest" | hmac)
${call}`;
}

function typeScript({ proof, method, target, body, key, fixed }: Prepared): string {
  const headers = fixed.map(([name, value]) => `    ${inScript(name)}: ${inScript(value)},\n`).join('');
  if (proof !== 'signed') {
    const [token, authorization] =
      proof === 'open'
        ? ['', '']
        : [", AMANAH_ACCESS_TOKEN = ''", "    authorization: 'Bearer ' + AMANAH_ACCESS_TOKEN,\n"];
    return `const { AMANAH_API_URL = ''${token} } = process.env;
const answer = await fetch(AMANAH_API_URL + ${inScript(target)}, {
  method: ${inScript(method)},
  headers: {
${authorization}${headers}  },
${body === '' ? '' : `  body: ${inScript(body)},\n`}});
console.log(answer.status, await answer.text());
`;
  }
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

function python({ proof, method, target, body, key, fixed }: Prepared): string {
  const headers = fixed.map(([name, value]) => `        ${inScript(name)}: ${inScript(value)},\n`).join('');
  if (proof !== 'signed') {
    const token = proof === 'open' ? '' : "        'authorization': 'Bearer ' + os.environ['AMANAH_ACCESS_TOKEN'],\n";
    return `import os
import urllib.request

request = urllib.request.Request(
    os.environ['AMANAH_API_URL'] + ${inScript(target)},
    method=${inScript(method)},
    headers={
${token}${headers}    },
${body === '' ? '' : `    data=${inScript(body)}.encode(),\n`})
with urllib.request.urlopen(request) as answer:
    print(answer.status, answer.read().decode())
`;
  }
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

function go({ proof, method, target, body, key, fixed }: Prepared): string {
  const headers = fixed.map(([name, value]) => `\trequest.Header.Set("${name}", ${JSON.stringify(value)})\n`).join('');
  const send = `	answer, err := http.DefaultClient.Do(request)
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
  if (proof !== 'signed') {
    const token = 'request.Header.Set("authorization", "Bearer "+os.Getenv("AMANAH_ACCESS_TOKEN"))';
    return `package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	body := strings.NewReader(${inGo(body)})
	request, err := http.NewRequest("${method}", os.Getenv("AMANAH_API_URL")+${JSON.stringify(target)}, body)
	if err != nil {
		log.Fatal(err)
	}
${proof === 'open' ? '' : `\t${token}\n`}${headers}${send}`;
  }
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
${headers}${send}`;
}

function php({ proof, method, target, body, key, fixed }: Prepared): string {
  const headers = fixed.map(([name, value]) => `        ${inScript(`${name}: ${value}`)},\n`).join('');
  const signing = `$secret = getenv('AMANAH_SIGNING_SECRET');
$time = time();
$whole = implode("\\n", [$time, ${inScript(method)}, ${inScript(target)}, ${inScript(key)}, hash('sha256', $body)]);
`;
  const proofs: Record<Proof, string> = {
    signed: `        'authorization: Bearer ' . getenv('AMANAH_API_KEY'),
        'x-partner-signature: ' . hash_hmac('sha256', $body, $secret),
        'x-partner-signature-v2: t=' . $time . ',v1=' . hash_hmac('sha256', $whole, $secret),
`,
    token: `        'authorization: Bearer ' . getenv('AMANAH_ACCESS_TOKEN'),
`,
    open: '',
  };
  return `<?php
$body = ${inScript(body)};
${proof === 'signed' ? signing : ''}$curl = curl_init(getenv('AMANAH_API_URL') . ${inScript(target)});
curl_setopt_array($curl, [
    CURLOPT_CUSTOMREQUEST => ${inScript(method)},
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_HTTPHEADER => [
${proofs[proof]}${headers}    ],
${body === '' ? '' : '    CURLOPT_POSTFIELDS => $body,\n'}]);
$answer = curl_exec($curl);
echo curl_getinfo($curl, CURLINFO_RESPONSE_CODE), ' ', $answer, PHP_EOL;
`;
}

export const languages: [lang: string, label: string, write: (call: Prepared) => string][] = [
  ['Shell', 'curl', curl],
  ['TypeScript', 'TypeScript', typeScript],
  ['Python', 'Python', python],
  ['Go', 'Go', go],
  ['PHP', 'PHP', php],
];
