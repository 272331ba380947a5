/**
 * A partner's first payment, against a running `npm start`: creates a QRIS payment, pays it in the sandbox, receives and
 * verifies the webhook, and prints the balance.
 *
 *   npx node examples/partner.ts      (DATA_DIR selects another stack)
 */
import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

interface Credentials {
  urls: { api: string; sandbox: string };
  partner: { api_key: string; signing_secret: string; webhook_secret: string };
}
interface Payment {
  id: string;
  status: string;
  is_final: boolean;
  amount: string;
  fee: string;
  net_amount: string;
  payment_code: string;
}
interface Balance {
  balance: string;
  available: string;
  pending: string;
}
interface Delivered {
  headers: Record<string, string>;
  body: string;
}

const directory = process.env.DATA_DIR ?? '.amanah';
const { urls, partner }: Credentials = JSON.parse(readFileSync(join(directory, 'credentials.json'), 'utf8'));
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const sign = (text: string): string => createHmac('sha256', partner.signing_secret).update(text).digest('hex');

/**
 * A signed call: one signature covers the exact bytes that are sent, the second covers time, method, path, key and
 * body.
 */
async function call<T>(method: 'GET' | 'POST', path: string, body?: object, idempotencyKey?: string): Promise<T> {
  const raw = body === undefined ? '' : JSON.stringify(body);
  const time = Math.floor(Date.now() / 1000);
  const digest = createHash('sha256').update(raw).digest('hex');
  const whole = [time, method, `/v1/partners${path}`, idempotencyKey ?? '', digest].join('\n');
  const answer = await fetch(`${urls.api}/v1/partners${path}`, {
    method,
    headers: {
      authorization: `Bearer ${partner.api_key}`,
      'x-partner-signature': sign(raw),
      'x-partner-signature-v2': `t=${time},v1=${sign(whole)}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(idempotencyKey && { 'x-idempotency-key': idempotencyKey }),
    },
    ...(body && { body: raw }),
  });
  const answered = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${answered}`);
  return JSON.parse(answered).data;
}

/**
 * Verifies a webhook according to Standard Webhooks: one of the signatures must match, and it must be at most five
 * minutes old.
 */
function verify(secret: string, { headers, body }: Delivered): { type: string; data: Payment } {
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', 'webhook-signature': signatures = '' } = headers;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) throw new Error('the webhook is too old');
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
  const valid = signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature.replace('v1,', ''), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!valid) throw new Error('the webhook is not signed by Amanah');
  return JSON.parse(body);
}

/** The webhook about a payment, read from the demo partner's endpoint on the sandbox. */
async function receiveWebhook(paymentId: string): Promise<Delivered> {
  for (let attempt = 0; attempt < 150; attempt += 1) {
    const answer = await fetch(`${urls.sandbox}/sandbox/webhooks?contains=${paymentId}`);
    const { webhooks } = (await answer.json()) as { webhooks: Delivered[] };
    if (webhooks[0]) return webhooks[0];
    await sleep(200);
  }
  throw new Error('no webhook within 30 seconds');
}

const before = await call<Balance>('GET', '/balance');
say(`Balance           IDR ${before.balance}`);

const order = { method: 'qris', amount: '50000', external_ref: `INV-${Date.now()}` };
const payment = await call<Payment>('POST', '/payments', order, randomUUID());
say(`Payment           ${payment.id}: ${payment.status}, IDR ${payment.amount}, including fee ${payment.fee}`);
say(`QR payload        ${payment.payment_code}`);

await fetch(`${urls.sandbox}/sandbox/pay`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ payment_code: payment.payment_code }),
});
say('Paid              in the sandbox, as the customer would');

const { type, data } = verify(partner.webhook_secret, await receiveWebhook(payment.id));
say(`Webhook           ${type}, verified: ${data.status}, net IDR ${data.net_amount}`);

const after = await call<Balance>('GET', '/balance');
say(`Balance           IDR ${after.balance}, available ${after.available}, pending ${after.pending}`);
