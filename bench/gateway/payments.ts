import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchStack } from '../stack.ts';
import type { BenchPartner, WholeStack } from '../whole-stack.ts';

const settledWithinMs = 120_000;
const body = JSON.stringify({ method: 'virtual_account', channel: 'BNI', amount: '50000' });

/** One complete HTTP request with a JSON body. */
export const postJson = (path: string, json: string, headers: string[]): string =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: bench',
    'Content-Type: application/json',
    ...headers,
    `Content-Length: ${json.length}`,
    '',
    json,
  ].join('\r\n');

/** Creates requests for a payment of the partner, each under its own key. */
export function paymentsOf({ apiKey, signingSecret }: BenchPartner): () => string {
  const signature = createHmac('sha256', signingSecret).update(body).digest('hex');
  const headers = [`Authorization: Bearer ${apiKey}`, `x-partner-signature: ${signature}`];
  return () => postJson('/v1/partners/payments', body, [...headers, `x-idempotency-key: ${randomUUID()}`]);
}

/** Pays at the provider as the customer. */
export async function payAtProvider({ providerUrl }: WholeStack, payment_code: string): Promise<void> {
  const answer = await fetch(`${providerUrl}/sandbox/pay`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ payment_code }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`/sandbox/pay answered ${answer.status} ${text.slice(0, 300)}`);
}

/** Waits until this many payments are settled. */
export async function waitUntilSettled({ deps }: BenchStack, count: number): Promise<void> {
  const until = performance.now() + settledWithinMs;
  for (;;) {
    const [row] = await deps.orm.em
      .fork()
      .execute<[{ settled: string }]>("select count(*) as settled from partner_payments where status = 'PAID'");
    if (Number(row.settled) >= count) return;
    if (performance.now() > until) throw new Error(`${row.settled} of ${count} payments were settled in two minutes`);
    await sleep(20);
  }
}
