import { partnerPrefix } from '../platform/http/errors.ts';

type Operations = Record<string, Record<string, { tags: string[] }>>;

/** The parts of an OpenAPI document that contain tags. */
export interface Tagged {
  tags: { name: string; description?: string }[];
  paths: Operations;
  webhooks: Operations;
}

/** Descriptions of the groups whose routes are also in the public document. */
export const aboutPayouts =
  "Money from the partner's balance to a bank account: reserved first, then sent under one key, so that it is paid " +
  'once.';
export const aboutWebhooks =
  'The webhook endpoints of this partner: at most ten, each with its own secret and subscriptions. An event ' +
  'goes to every enabled endpoint that subscribes to it, as a separate delivery. The API also shows the result of ' +
  'each delivery, and redelivers on request.';

/** The groups of the paths under `/v1/partners/`, in the order of a partner's work. */
const groups: readonly { name: string; description: string; covers: RegExp }[] = [
  {
    name: 'Channels and quotes',
    description: 'Channels open to this partner, and the price of a payment or payout.',
    covers: /^(channels|quotes)$/,
  },
  {
    name: 'Payments',
    description: 'Money from a customer, by virtual account, QRIS or e-wallet; the net is owed to the partner.',
    covers: /^payments(?!\/\{id\}\/refunds)/,
  },
  {
    name: 'Instruments',
    description: 'Account numbers and QR codes that customers can pay again and again.',
    covers: /^instruments/,
  },
  {
    name: 'Refunds',
    description: "Full or partial refunds of payments to the customer, from the partner's available balance.",
    covers: /^payments\/\{id\}\/refunds/,
  },
  {
    name: 'Balance and settlements',
    description: "The partner's balance now, and its settlement on a day.",
    covers: /^(balance|settlements)/,
  },
  {
    name: 'Payouts and limits',
    description: `${aboutPayouts} The limits are those of payouts.`,
    covers: /^(payouts|limits|bank-account-checks)/,
  },
  {
    name: 'Batches of payouts',
    description: 'Payouts that one key creates and another approves, all or none.',
    covers: /^payout-batches/,
  },
  {
    name: 'Webhooks',
    description: aboutWebhooks,
    covers: /^webhook-(endpoints|deliveries)/,
  },
  {
    name: 'Keys',
    description: 'Rotation of the API key that makes the call.',
    covers: /^keys\//,
  },
];
const events = { name: 'Events', description: "The webhooks that the service posts to this partner's endpoints." };

/**
 * Groups the operations of the partners' document in the order of their work. Throws if an operation is in no group.
 */
export function groupByWork(document: Tagged): void {
  for (const [path, operations] of Object.entries(document.paths)) {
    const within = path.replace(`${partnerPrefix}/`, '');
    const group = groups.find(({ covers }) => covers.test(within));
    if (!group) throw new Error(`${path} is in no group of the partners' reference`);
    for (const operation of Object.values(operations)) operation.tags = [group.name];
  }
  for (const operation of Object.values(document.webhooks).flatMap(Object.values)) operation.tags = [events.name];
  document.tags = [...groups.map(({ name, description }) => ({ name, description })), events];
}
