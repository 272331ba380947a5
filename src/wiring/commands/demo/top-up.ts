import { readDatabaseToRead, readTemporalPlace } from '../../../platform/config/command-config.ts';
import { openDatabase } from '../../open-database.ts';
import { openStage, say } from './stage.ts';

const personPaysWithinSeconds = 600;

/** Runs a top-up by QRIS, from the request to the journal. `amount` is whole rupiah; `wait` lets a person pay. */
export async function topUp({ amount, wait }: { amount: number; wait: boolean }): Promise<string> {
  const databaseUrl = readDatabaseToRead();
  const { credentials, urls, logIn, balanceOf, orderByQris, payInSandbox, untilPaid } = openStage();
  const payer = await logIn(credentials.individual, credentials.individual.account_id);
  say(`Logged in as ${payer.email}. Balance before: IDR ${await balanceOf(payer)}`);

  const order = await orderByQris(payer, { reference_type: 'account_top_up', reference_id: payer.accountId, amount });
  say(`Top-up ${order.payment_order_id} of IDR ${amount} by QRIS: ${order.status}`);
  say(`QRIS payload:  ${order.qr_code}`);
  if (urls.sandbox) say(`Payment page:  ${new URL('/', urls.sandbox).href}`);
  if (!wait) {
    await payInSandbox(order);
    say('Paid in the sandbox.');
  }
  const { status } = await untilPaid(payer, order, wait ? personPaysWithinSeconds : undefined);
  say(`Settled: ${status}. Balance after: IDR ${await balanceOf(payer)}`);
  say(await journalOf(databaseUrl, order.payment_order_id));
  const ui =
    urls.temporal_ui &&
    new URL(
      `/namespaces/${readTemporalPlace().TEMPORAL_NAMESPACE}/workflows/gateway-payment%2F${order.payment_order_id}`,
      urls.temporal_ui,
    ).href;
  return ui ? `Workflow:      ${ui}` : 'Done.';
}

/** Reads the settlement's journal, from the ledger. */
async function journalOf(databaseUrl: string, orderId: string): Promise<string> {
  const orm = await openDatabase({ url: databaseUrl, poolSize: 1 });
  try {
    const rows = await orm.em.fork().execute<{ kind: string; name: string; amount: string }[]>(
      `select j.kind, a.name, p.amount::text from journal_keys k join journals j on j.id = k.journal_id
       join postings p on p.journal_id = j.id join accounts a on a.id = p.account_id where k.business_key = ? order by p.id`,
      [`payment-order/${orderId}/settled`],
    );
    const lines = rows.map(({ name, amount }) => `  ${name.padEnd(24)}${amount.padStart(20)}`);
    return [`Journal ${rows[0]?.kind ?? 'not found'}:`, ...lines].join('\n');
  } finally {
    await orm.close(true);
  }
}
