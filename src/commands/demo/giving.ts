import { z } from 'zod';
import { westernIndonesiaDay } from '../../shared/clock.ts';
import { CommandError } from '../run-command.ts';
import { openStage, say, until } from './stage.ts';

const causeShape = z.object({ id: z.string(), status: z.string() });
const donationsShape = z.object({
  data: z.object({
    items: z.array(z.object({ id: z.string(), status: z.string(), payment_order_id: z.string().nullable() })),
  }),
});
const traceShape = z.object({
  data: z.object({ steps: z.array(z.looseObject({ type: z.string(), at: z.string(), amount: z.string() })) }),
});
const statementShape = z.object({ data: z.object({ year: z.int(), count: z.int(), total: z.string() }) });

/**
 * A donation by QRIS, from registering its cause to where the money goes, and the donor's annual statement. `amount` is
 * whole rupiah.
 */
export async function tellGiving({ amount }: { amount: number }): Promise<string> {
  const { credentials, urls, api, logIn, orderByQris, payInSandbox, untilPaid } = openStage();
  const organizer = await logIn(credentials.organization_admin, credentials.organization_admin.account_id);
  const cause = await api(causeShape, '/v1/charitable-causes', {
    token: organizer.token,
    body: {
      account_id: organizer.accountId,
      name: 'A well for Sumba',
      description: 'A well with a solar pump for two hamlets.',
      regulations: 'What is left goes to the next well.',
      benefit: 'Clean water for 340 people.',
      target_amount: 25_000_000,
    },
  });
  say(`Registered by ${organizer.email}: the cause "A well for Sumba" (${cause.id}), ${cause.status}.`);
  const approver = await logIn(credentials.platform_super_admin, '');
  await api(z.unknown(), `/v1/charitable-causes/${cause.id}/approve`, {
    token: approver.token,
    method: 'PATCH',
    body: {},
  });
  say(`Approved by ${approver.email}.`);

  const donor = await logIn(credentials.individual, credentials.individual.account_id);
  const order = await orderByQris(donor, {
    reference_type: 'charitable_cause_donate',
    reference_id: cause.id,
    amount,
  });
  say(`${donor.email} gives IDR ${amount} by QRIS: ${order.qr_code}`);
  await payInSandbox(order);
  await untilPaid(donor, order);
  const { token } = donor;
  const { data } = await until(
    'donation',
    () => api(donationsShape, '/v1/donations', { token }),
    (donations) => donations.data.items.some(({ payment_order_id: paid }) => paid === order.payment_order_id),
  );
  const donation = data.items.find(({ payment_order_id: paid }) => paid === order.payment_order_id);
  if (donation === undefined) throw new CommandError('The donation is not there.');
  say(`The donation ${donation.id} is ${donation.status}. Where its money is:`);
  const trace = await api(traceShape, `/v1/donations/${donation.id}/trace`, { token });
  for (const { type, at, amount: moved } of trace.data.steps) say(`  ${at}  ${type.padEnd(12)}IDR ${moved}`);

  const year = westernIndonesiaDay(new Date()).slice(0, 4);
  const path = `/v1/donations/statements/${year}`;
  const { data: statement } = await api(statementShape, path, { token });
  say(`Statement of ${statement.year}: ${statement.count} donations, IDR ${statement.total} altogether.`);
  return `The page to print: ${new URL(path, urls.api).href} (logged in, in a browser)`;
}
