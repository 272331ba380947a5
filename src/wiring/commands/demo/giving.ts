import { z } from 'zod';
import { westernIndonesiaDay } from '../../../shared/clock.ts';
import { CommandError } from '../run-command.ts';
import { type Actor, openStage, type Stage, say, until } from './stage.ts';

const causeShape = z.object({ id: z.string(), status: z.string() });
const donationsShape = z.object({
  data: z.object({
    items: z.array(z.object({ id: z.string(), status: z.string(), payment_order_id: z.string().nullable() })),
  }),
});
const stepShape = z.object({
  type: z.string(),
  at: z.string(),
  amount: z.string(),
  status: z.string().optional(),
  purpose_note: z.string().optional(),
  reference: z.string().optional(),
});
type Step = z.infer<typeof stepShape>;
const traceShape = z.object({ data: z.object({ steps: z.array(stepShape) }) });
const bankAccountShape = z.object({ data: z.object({ id: z.string() }) });
const withdrawalShape = z.object({
  data: z.object({ id: z.string(), status: z.string(), failure_code: z.string().nullable() }),
});
const statementShape = z.object({ data: z.object({ year: z.int(), count: z.int(), total: z.string() }) });

/**
 * Runs a donation by QRIS, from registering its cause to the bank account that it is disbursed to, and the donor's
 * annual statement. `amount` is whole rupiah.
 */
export async function tellGiving({ amount }: { amount: number }): Promise<string> {
  const stage = openStage();
  const { credentials, urls, api, logIn, orderByQris, payInSandbox, untilPaid } = stage;
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
  if (donation === undefined) throw new CommandError('The donation was not found.');
  say(`The donation ${donation.id} is ${donation.status}.`);
  await disburse(stage, organizer, { causeId: cause.id, amount });
  say(`What ${donor.email} sees of the donation:`);
  const trace = await api(traceShape, `/v1/donations/${donation.id}/trace`, { token });
  for (const step of trace.data.steps)
    say(`  ${step.at}  ${step.type.padEnd(13)}IDR ${step.amount}${describeStep(step)}`);

  const year = westernIndonesiaDay(new Date()).slice(0, 4);
  const path = `/v1/donations/statements/${year}`;
  const { data: statement } = await api(statementShape, path, { token });
  say(`Statement of ${statement.year}: ${statement.count} donations, IDR ${statement.total} altogether.`);
  return `The page to print: ${new URL(path, urls.api).href} (logged in, in a browser)`;
}

/** Disburses the cause's money to the organizer's bank account, and waits until the provider reports success. */
async function disburse(
  { api }: Stage,
  { email, token, accountId }: Actor,
  { causeId, amount }: { causeId: string; amount: number },
): Promise<void> {
  const { data: bankAccount } = await api(bankAccountShape, '/v1/bank-accounts', {
    token,
    body: { bank_code: 'BCA', account_number: '0987650017', account_holder: 'Sumur untuk Sumba' },
  });
  const { data: asked } = await api(withdrawalShape, `/v1/accounts/${accountId}/withdrawals`, {
    token,
    body: {
      bank_account_id: bankAccount.id,
      amount: String(amount),
      cause_id: causeId,
      purpose_note: 'A solar pump and its pipes',
    },
  });
  say(`${email} disburses IDR ${amount} of the cause to a bank account at BCA (${asked.id}).`);
  await until(
    `disbursement ${asked.id}`,
    () => api(withdrawalShape, `/v1/withdrawals/${asked.id}`, { token }),
    ({ data: { status, failure_code: code } }) => {
      if (status === 'failed' || status === 'reversed') {
        throw new CommandError(`The disbursement's final status is ${status}${code === null ? '' : ` (${code})`}.`);
      }
      return status === 'succeeded';
    },
  );
}

/** Describes a disbursement's status, purpose and the reference that the bank shows. */
const describeStep = ({ type, status, purpose_note: note, reference }: Step): string =>
  type === 'disbursement' ? `  ${status}: "${note}" (${reference})` : '';
