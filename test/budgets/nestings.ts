import { budgets, providerTimeWithin } from '../../src/shared/budgets.ts';

/** Budgets by name (`steps.first`), in milliseconds. */
export type FlatBudgets = Readonly<Record<string, number>>;

/** Every budget by its name. */
export function flattenBudgets(tree: object = budgets, prefix = ''): FlatBudgets {
  return Object.fromEntries(
    Object.entries(tree).flatMap(([key, value]) =>
      typeof value === 'number' ? [[prefix + key, value]] : Object.entries(flattenBudgets(value, `${prefix}${key}.`)),
    ),
  );
}

const transactions = Object.keys(budgets.database);

/** Which transactions run within which time-outs. */
const runsWithin: Readonly<Record<string, readonly string[]>> = {
  role: [
    'steps.first',
    'steps.instrument',
    'steps.subscriptionPeriod',
    'steps.ledger',
    'steps.provider',
    'steps.webhook',
  ],
  allocation: ['steps.allocation'],
  sweep: ['steps.sweep'],
  checks: ['steps.checks'],
  reconciliation: ['steps.reconciliation'],
  seal: ['steps.seal'],
  download: ['download.whole'],
  command: ['command.whole'],
  migration: ['command.whole'],
};

/** Pairs of budgets; the first must expire before the second. */
export const nestings: readonly (readonly [inner: string, outer: string])[] = [
  ['reach.database', 'requests.away'],
  ['reach.stall.first', 'requests.away'],
  ['reach.stall.most', 'steps.sweep'],
  ['callerLookUp.waitMs', 'requests.away'],
  ['reach.database', 'callerLookUp.runMs'],
  ['callerLookUp.runMs', 'requests.away'],
  ['reach.keys', 'keyLookUp.runMs'],
  ['keyLookUp.waitMs', 'requests.away'],
  ['keyLookUp.runMs', 'requests.away'],
  ['balancePayment.waitMs', 'requests.away'],
  ['database.role.transaction', 'balancePayment.runMs'],
  ['balancePayment.runMs', 'balancePayment.lives'],
  ['balancePayment.lives', 'requests.balancePayment'],
  ['requests.balancePayment', 'shutdown.requests'],
  ['balancePayment.briefMs', 'database.role.lock'],
  ['reach.temporal', 'requests.away'],
  ['reach.storage', 'requests.away'],
  ['replica.replayed', 'replica.begun'],
  ['replica.begun', 'requests.away'],
  ['replica.begun', 'replica.rests'],
  ['replica.part', 'database.download.statement'],
  ['reach.probe', 'requests.away'],
  ['reach.probe', 'reach.scrape'],
  ['reach.temporalCall', 'steps.sweep'],
  ['reach.temporalPreparation', 'start.whole'],
  ['reach.issuer', 'requests.away'],
  ['reach.webhookName', 'requests.away'],
  ['storage.call', 'database.role.idle'],
  ['storage.call', 'storage.silence'],
  ['storage.silence', 'storage.put'],
  ['storage.put', 'upload.whole'],
  ['storage.put', 'steps.seal'],
  ['upload.drain', 'upload.stalled'],
  ['upload.stalled', 'upload.whole'],
  ['heartbeat.every', 'heartbeat.missing'],
  ['heartbeat.missing', 'steps.subscriptionPeriod'],
  ['heartbeat.missing', 'steps.allocation'],
  ['heartbeat.missing', 'steps.seal'],
  ['provider.call', 'steps.instrument'],
  ['provider.call', 'steps.provider'],
  ['provider.call', 'steps.reconciliation'],
  ['provider.call', 'provider.sendWithin'],
  ['provider.sendWithin', 'steps.provider'],
  ['steps.provider', 'provider.underWay'],
  ['requests.partnerPayment', 'opening.lives'],
  ['requests.allocation', 'opening.lives'],
  ['opening.lives', 'contribution.lastOrder'],
  ['steps.first', 'requests.gatewayPayment'],
  ['steps.first', 'requests.partnerPayment'],
  ['steps.first', 'requests.payoutReservation'],
  ['steps.first', 'requests.firstSubscriptionPayment'],
  ['steps.instrument', 'requests.gatewayPayment'],
  ['steps.instrument', 'requests.partnerPayment'],
  ['steps.subscriptionPeriod', 'requests.firstSubscriptionPayment'],
  ['steps.allocation', 'requests.allocation'],
  ['reach.webhook', 'webhook.sending'],
  ['webhook.sending', 'steps.webhook'],
  ['mail.connecting', 'mail.silence'],
  ['mail.silence', 'steps.sweep'],
  ['mail.place', 'steps.sweep'],
  ['database.migration.lock', 'database.role.lock'],
  ['database.migration.lock', 'migration.pause'],
  ['migration.pause', 'migration.givesWay'],
  ['migration.givesWay', 'command.whole'],
  ['download.stalledReader', 'database.download.idle'],
  ...transactions.flatMap((name) => [
    [`database.${name}.lock`, `database.${name}.statement`] as const,
    [`database.${name}.statement`, `database.${name}.transaction`] as const,
    [`database.${name}.idle`, `database.${name}.transaction`] as const,
    ...(runsWithin[name] ?? []).map((outer) => [`database.${name}.transaction`, outer] as const),
  ]),
  ['steps.ledger', 'shutdown.steps'],
  ['steps.provider', 'shutdown.steps'],
  ['steps.webhook', 'shutdown.steps'],
  ['requests.gatewayPayment', 'shutdown.requests'],
  ['requests.partnerPayment', 'shutdown.requests'],
  ['requests.payoutReservation', 'shutdown.requests'],
  ['requests.cancellation', 'shutdown.requests'],
  ['requests.firstSubscriptionPayment', 'shutdown.requests'],
  ['shutdown.steps', 'shutdown.process'],
  ['shutdown.requests', 'shutdown.process'],
];

/** Activities that call the provider: a call must leave them time to write. */
const providerSteps = ['steps.instrument', 'steps.provider', 'steps.reconciliation'];

/** A sentence for each pair that does not nest. */
export function findUnnested(flat: FlatBudgets): string[] {
  const of = (name: string): number => flat[name] ?? Number.NaN;
  const pairs = nestings
    .filter(([inner, outer]) => !(of(inner) > 0 && of(inner) < of(outer)))
    .map(([inner, outer]) => `${inner} (${of(inner)}) does not expire before ${outer} (${of(outer)})`);
  const calls = providerSteps
    .filter((step) => !(of('provider.call') < providerTimeWithin(of(step))))
    .map((step) => `provider.call (${of('provider.call')}) leaves ${step} (${of(step)}) no time to write`);
  return [...pairs, ...calls];
}
