import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Forgery } from './plan-faults.ts';
import type { Random } from './random.ts';
import type { Topology } from './topology.ts';

interface Callback {
  event: string;
  data: Record<string, unknown>;
}

/** Reads all callbacks from the sandbox's file, sent or not, to forge callbacks and to find lost ones. */
export function readCallbacks({
  directory,
}: Pick<Topology, 'directory'>): (Callback & { body: string; state: string })[] {
  const database = new DatabaseSync(join(directory, 'sandbox', 'sandbox.db'), { readOnly: true });
  try {
    const rows = database.prepare('select body, state from callbacks order by seq').all();
    return rows.map(({ body, state }) => ({
      ...(JSON.parse(String(body)) as Callback),
      body: String(body),
      state: String(state),
    }));
  } finally {
    database.close();
  }
}

/** Sends a false callback in the provider's format with the right token. */
export async function forgeCallback(
  topology: Topology,
  forgery: Forgery,
  random: Random,
  note: (text: string) => void,
): Promise<void> {
  const real = readCallbacks(topology).filter(({ data }) => typeof data.reference_id === 'string');
  const suited = real.filter(({ event, data }) => {
    if (forgery === 'unpaid') return event.startsWith('payment');
    // Skips claims that are already true.
    return forgery !== 'status' || (data.status !== 'FAILED' && event !== 'payment.succeeded');
  });
  if (suited.length === 0) throw new Error('no suitable callback was sent yet');
  const { event, data } = random.pick(suited);
  const unpaid = forgery === 'unpaid' ? random.pick(await readUnpaid(topology)) : undefined;
  const others = real.filter((callback) => callback.data.reference_id !== data.reference_id);
  if (forgery === 'reference' && others.length === 0) throw new Error('there is no other reference yet');
  const other = forgery === 'reference' ? random.pick(others).data.reference_id : undefined;
  const changes: Record<Forgery, Callback> = {
    reference: { event, data: { ...data, reference_id: other } },
    amount: { event, data: { ...data, amount: Number(data.amount ?? 0) + random.int(1, 5_000) } },
    status: /^(payout|refund)\./.test(event)
      ? { event: event.replace(/\..*/, '.failed'), data: { ...data, status: 'FAILED', failure_code: 'FORGED' } }
      : { event: 'payment.succeeded', data: { ...data, status: 'SUCCEEDED' } },
    unpaid: {
      event: 'payment.succeeded',
      data: { ...data, id: `py-${randomUUID()}`, status: 'SUCCEEDED', reference_id: unpaid?.id, amount: unpaid?.total },
    },
    unknown: { event, data: { ...data, id: `py-${randomUUID()}`, reference_id: randomUUID() } },
  };
  const forged = changes[forgery];
  note(`forged: ${forged.event} of ${String(forged.data.reference_id)} for ${String(data.reference_id)}`);
  const envelope = { business_id: 'forged', created: new Date().toISOString(), api_version: null };
  await sendCallback(topology, JSON.stringify({ ...envelope, ...forged }));
}

/** Orders and payments waiting for their payer, and their amounts in rupiah. */
const readUnpaid = ({ em }: Topology) =>
  em().execute<{ id: string; total: number }[]>(
    `select id::text, (nominal + admin_fee)::float as total from payment_orders where status = 'WAITING_PAYMENT'
     union all select id::text, amount::float from partner_payments where status = 'WAITING_PAYMENT' order by id`,
  );

/** Sends a callback with the right token, as the provider does. */
export async function sendCallback(
  { callbackUrl, callbackToken }: Pick<Topology, 'callbackUrl' | 'callbackToken'>,
  body: string,
): Promise<void> {
  await fetch(callbackUrl, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-callback-token': callbackToken,
      'webhook-id': randomUUID(),
    },
    body,
    signal: AbortSignal.timeout(8_000),
  });
}
