import type { ToldFact } from './decision-facts.ts';
import type { Attempt, BankAccountFact, Facts } from './facts.ts';

/** Kinds requested by partners, not by users. */
const ofPartners: ReadonlySet<string> = new Set<Attempt['kind']>([
  'payout',
  'refund',
  'partner-payment',
  'payout-batch',
  'instrument',
]);

/** A bank account, distinguished by its number. */
export const bankAccount = (number: number): BankAccountFact => ({
  account: `0000000${number}000011`,
  holder: `Budi Santoso ${number}`,
});

/** An answered request; unspecified fields are those of a payout. */
export const attempt = (changes: Partial<Attempt>): Attempt => ({
  work: 'w1',
  operation: 'o1',
  kind: 'payout',
  requestId: 'r1',
  by: null,
  partner: ofPartners.has(changes.kind ?? 'payout') ? 'partner-1' : null,
  key: 'key-0001',
  variant: 'same',
  amount: null,
  target: null,
  source: null,
  goesTo: changes.kind === undefined ? bankAccount(1) : null,
  sentAt: 1_000,
  endedAt: 2_000,
  status: 200,
  answer: '{}',
  resourceId: 'payout-1',
  ...changes,
});

/** An approver's answer about a decision; by default it was carried out. */
export const approval = (changes: Partial<ToldFact>): ToldFact => ({
  by: 'person-2',
  status: 200,
  told: 'carried_out',
  ...changes,
});

/** A journal, of the platform's own accounts by default. */
export const journal = (
  businessKey: string,
  amount: string,
  { from, to }: { from?: string; to?: string } = {},
): Facts['journals'][number] => ({
  businessKey,
  amount,
  credited: to === undefined ? [] : [to],
  debited: from === undefined ? [] : [from],
});

interface WebhookChanges {
  number?: number;
  type?: string;
  id?: string;
  amount?: string;
  version?: number;
  signedBy?: string | null;
}

/** A callback or webhook; unspecified fields are those of the succeeded payout. */
export const webhook = ({
  number = 1,
  type = 'payout.succeeded',
  id = 'payout-1',
  amount = '10000.0000',
  version = 1,
  signedBy = 'partner-1',
}: WebhookChanges = {}): Facts['webhooks'][number] => {
  const body = JSON.stringify({ type, data: { id, status: type.split('.')[1], amount, version } });
  return { id: `msg_0198c0de00007000800000000000000${number}`, body, signedBy };
};
