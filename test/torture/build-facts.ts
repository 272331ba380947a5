import type { Attempt, Facts } from './facts.ts';

/** A request that was answered; what is not named is of a payout. */
export const attempt = (changes: Partial<Attempt>): Attempt => ({
  work: 'w1',
  operation: 'o1',
  kind: 'payout',
  requestId: 'r1',
  by: null,
  key: 'key-0001',
  variant: 'same',
  amount: null,
  target: null,
  source: null,
  sentAt: 1_000,
  endedAt: 2_000,
  status: 200,
  answer: '{}',
  resourceId: 'payout-1',
  ...changes,
});

/** A journal, of the platform's own accounts unless others are named. */
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

/** What arrives; what is not named is of the payout that succeeded. */
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
