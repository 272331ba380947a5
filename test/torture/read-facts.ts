import type { EntityManager } from '@mikro-orm/postgresql';
import { runChecks } from '../../src/ledger/run-checks.ts';
import { signWebhook } from '../../src/partners/webhooks/deliver-webhook.ts';
import { addMoney, compareMoney, negateMoney } from '../../src/shared/money.ts';
import { readInstants } from '../support/read-instants.ts';
import type { Cast } from './cast.ts';
import type { Facts, MadeFact } from './facts.ts';
import { listWorkflows } from './harm-workflows.ts';
import { moneyOutTerms } from './money-out-terms.ts';
import type { ProviderPayment, ProviderRequest, ProviderTransfer, ReceivedWebhook } from './provider-facts.ts';
import { readGuards, withTrueStarts } from './read-guards.ts';
import { readLeaks } from './read-leaks.ts';
import { readLists } from './read-lists.ts';
import { readRefunds } from './read-refunds.ts';
import type { Restored } from './restore-meanwhile.ts';
import type { Topology } from './topology.ts';
import { readWaiting } from './waiting-rows.ts';

const webhookPage = 1_000;

/** The sum of all accounts except those that stand for the provider, IDR, scale 4. */
export async function readMoney(em: EntityManager): Promise<string> {
  const [row] = await em.execute<{ sum: string }[]>(
    `select coalesce(sum(b.balance), 0)::numeric(20, 4)::text as sum from account_balances b
     join accounts a on a.id = b.account_id where a.kind not in ('gateway_clearing', 'provider_cost')`,
  );
  return row?.sum ?? '0';
}

/** The provider's own records. */
export async function readProvider({
  sandbox,
}: Pick<Topology, 'sandbox'>): Promise<{ requests: ProviderRequest[]; transfers: ProviderTransfer[] }> {
  const { body } = await sandbox.get('/sandbox/records');
  return {
    requests: [...body.payments, ...body.instruments].map((request) => ({
      id: request.id,
      reference: request.reference_id,
      amount: request.amount ?? 0,
      status: request.status,
      ...('type' in request ? {} : { isReusable: true as const }),
      payments: (request.payments as ProviderPayment[]).map(({ id, amount, status }) => ({
        id,
        amount,
        status,
      })),
    })),
    transfers: body.transfers.concat(body.refunds).map((transfer: Record<string, unknown>) => ({
      id: transfer.id,
      reference: transfer.reference_id,
      amount: transfer.amount,
      status: transfer.status,
      idempotencyKey: transfer.idempotency_key,
      refundOf: transfer.payment_request_id ?? null,
      goesTo: bankAccountOf(transfer.channel_properties),
    })),
  };
}

const bankAccountOf = (properties: unknown): ProviderTransfer['goesTo'] => {
  if (typeof properties !== 'object' || properties === null) return null;
  const { account_number, account_holder_name } = properties as Record<string, unknown>;
  return { account: String(account_number), holder: String(account_holder_name) };
};

/** Whether an instant is between a backup and its restore. */
const isGone = ({ from, to }: Restored, at: number): boolean => at >= from && at <= to;

async function readWebhooks(
  { sandbox }: Topology,
  { cast: { partners }, restored }: { cast: Cast; restored: Restored },
): Promise<ReceivedWebhook[]> {
  const received: ReceivedWebhook[] = [];
  for (let after = 0; ; ) {
    const { body } = await sandbox.get(`/sandbox/webhooks?after=${after}`);
    for (const { seq, headers, body: content, received_at } of body.webhooks) {
      after = seq;
      const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
      const signed = { id, timestamp: Number(timestamp), body: content };
      const signer = partners.find(({ webhookSecret }) => signWebhook([webhookSecret], signed) === signature);
      const mayLackRow = isGone(restored, Date.parse(received_at));
      received.push({ id, body: content, signedBy: signer?.id ?? null, ...(mayLackRow && { mayLackRow }) });
    }
    if (body.webhooks.length < webhookPage) return received;
  }
}

/** SQL: the piece of work behind a payout; for withdrawals it is in the id of their request. */
export const workOfPayout = "coalesce(external_ref, split_part(request_id, '-', 2))";

/** SQL: excludes the platform's own accounts. */
const isTheirs = "a.kind not in ('gateway_clearing', 'fee_revenue', 'provider_cost', 'suspense', 'loss')";

interface MadeRow {
  id: string;
  amount: string;
  targets: string[];
  fee: string | null;
  partner: string | null;
  method: string | null;
  channel: number | null;
  isAdded: boolean;
}
/** A created resource with the fee agreed in advance, and the amount that its client must have requested. */
function asMade({ partnerFee, channelFee }: Cast, row: MadeRow): MadeFact {
  const { id, amount, targets, fee, partner, method, channel, isAdded } = row;
  const ofOwner = method === 'withdrawal' ? moneyOutTerms.WITHDRAWAL_FEE : null;
  const ofPartner = partner !== null && method !== null ? partnerFee(partner, method) : null;
  const dueFee = channel === null ? (ofOwner ?? ofPartner) : channelFee(channel);
  const asked = isAdded ? addMoney(amount, negateMoney(dueFee ?? '0')) : amount;
  return { id, amount, asked, targets, fee, dueFee };
}

/** SQL: a contribution to a circle without a request: by a standing order, or a debit with consent. */
const isAgreedTo = `exists (select from transactions t join saving_circle_contributions c on c.transaction_id = t.id
  join saving_circle_members m on m.id = c.member_id
  where t.batch_id = j.id and (m.consented_at is not null
    or exists (select from events a where a.resource_id = m.saving_circle_id::text
      and a.data->>'member_id' = m.id::text and a.data->>'standing_order' is not null)))`;

/** SQL: a period of a subscription after the first, which has no request. */
const isLaterPeriod = `exists (select from donations d
  where d.transaction_id::text = split_part(j.business_key, '/', 2) and d.period > 0)`;

const queries = {
  events: `select request_id as "requestId", event, impact, resource_type as "resourceType",
      resource_id as "resourceId", actor_id::text as "actorId", extract(epoch from created_at) * 1000 as "begunAt",
      extract(epoch from coalesce(pg_xact_commit_timestamp(xmin), created_at)) * 1000 as at
    from events where request_id like ? || '-%' order by id`,
  made: `select id::text, amount::text, array[reference_id, destination_account_id]::text[] as targets,
      null as fee, null as partner, null as method, null::int as channel, false as "isAdded" from transactions
    union all select id::text, nominal::text, array[reference_id]::text[], admin_fee::text, null, null, payment_id, false
      from payment_orders
    union all select p.id::text, p.amount::text, array[p.external_ref], p.fee::text, p.partner_id::text, c.method, null,
      p.fee_mode = 'ADDED' from partner_payments p join payment_channels c on c.id = p.channel_id
    union all select id::text, amount::text, array[external_ref], fee::text, partner_id::text, 'payout', null, false
      from payouts where kind = 'partner_payout'
    union all select p.id::text, p.amount::text, array[w.bank_account_id, w.cause_id]::text[], p.fee::text, null,
      'withdrawal', null, false from withdrawals w join payouts p on p.id = w.id
    union all select p.id::text, p.amount::text, array[r.payment_id]::text[], p.fee::text, null, null, null, false
      from payment_refunds r join payouts p on p.id = r.id
    union all select id::text, total_amount::text, array[external_ref], null, null, null, null, false from payout_batches
    union all select id::text, coalesce(amount, 0)::text, array[external_ref], null, null, null, null, false
      from partner_instruments
    union all select id::text, amount::text, '{}', null, null, null, null, false from saving_circles
    union all select id::text, amount::text, array[saving_circle_id]::text[], null, null, null, null, false
      from saving_circle_contributions
    union all select id::text, amount::text, array[cause_id]::text[], null, null, null, null, false
      from donation_subscriptions`,
  asked: `select 'payment order' as kind, id::text, request_id as "requestId" from payment_orders
    union all select 'partner payment', id::text, request_id from partner_payments where instrument_id is null
    union all select 'payout', id::text, request_id from payouts where batch_id is null
    union all select 'batch of payouts', id::text, request_id from payout_batches
    union all select 'instrument', id::text, request_id from partner_instruments
    union all select 'balance payment', split_part(j.business_key, '/', 2), e.request_id from journals j
      left join events e on e.resource_id = split_part(j.business_key, '/', 2) and e.event = 'RESOURCE_CREATED'
      where j.business_key like 'balance-payment/%' and not (e.request_id is null and (${isAgreedTo} or ${isLaterPeriod}))`,
  ends: `select 'order' as kind, id::text, status from payment_orders
    union all select 'payment', id::text, status from partner_payments
    union all select 'circle', id::text, status from saving_circles
    union all select 'subscription', id::text, status from donation_subscriptions
    union all select 'goal', id::text, case when closed_at is null then 'open' else 'closed' end from saving_goals
    union all select 'donation', id::text, status from donations`,
  orders: `select id, 'payment-order' as family, null as "partnerId", status, (nominal + admin_fee)::text as total,
      0 as version, null::text as "instrumentId" from payment_orders
    union all select id, 'partner-payment', partner_id::text, status, amount::text, version, instrument_id::text
      from partner_payments`,
  batches: `select b.id, b.status, array_agg(i.id::text order by i.place) as "itemIds"
    from payout_batches b join payout_batch_items i on i.batch_id = b.id group by b.id`,
  instruments: 'select id, amount::text from partner_instruments',
  decided: `select id::text, withdrawal_id::text as "withdrawalId", proposed_by::text as "proposedBy",
      array_remove(array[first_approved_by, approved_by], null)::text[] as "approvedBy",
      rejected_by::text as "rejectedBy" from decisions`,
  payouts: `select id, kind, status, net_amount::text as net, fee::text, amount::text, partner_id::text as "partnerId", ${workOfPayout} as reference,
      refund_of as "refundOf", version, contradicted_at is not null as contradicted, coalesce(failure_code like 'DECISION_%', false) as "isDecided"
    from payouts`,
  withdrawals: `select w.id, w.user_id as "userId", w.cause_id as "causeId", p.amount::text
    from withdrawals w join payouts p on p.id = w.id`,
  given: `select cause_id as id, sum(amount)::text as amount from donations
    where status = 'completed' and cause_id is not null group by cause_id`,
  released: 'select id, released_to as "accountId" from saving_goals where released_to is not null',
  receipts: `select id, provider_payment_id as "providerPaymentId", reference, amount::text, state, reason,
      coalesce(order_id, partner_payment_id)::text as "appliedTo",
      (select p.account_id::text from journals j join postings p on p.journal_id = j.id
        where j.business_key = 'receipt/' || receipts.id || '/settled' and p.amount > 0
          and receipts.state = 'credited') as "creditedTo" from receipts`,
  journals: `select j.business_key as "businessKey", sum(p.amount) filter (where p.amount > 0)::text as amount,
      coalesce(array_agg(distinct a.id::text) filter (where p.amount > 0 and ${isTheirs}), '{}') as credited,
      coalesce(array_agg(distinct a.id::text) filter (where p.amount < 0 and ${isTheirs}), '{}') as debited
    from journals j join postings p on p.journal_id = j.id join accounts a on a.id = p.account_id
    where j.business_key ~ '^(payment-order|partner-payment|partner-payout|payment-refund|withdrawal|receipt|balance-payment|donation|donation-allocation)/' group by j.id`,
  deliveries: `select id, resource_type as "resourceType", resource_id as "resourceId", partner_id as "partnerId",
      version, type, status
    from webhook_deliveries`,
  transitions: `select place, row_id as id, was as "from", became as "to",
      extract(epoch from at) * 1000 as at from torture.transitions order by number`,
} as const;

/** Resources that only requests create, with the request that each names. */
export const readAsked = (em: EntityManager): Promise<Facts['asked']> => em.execute<Facts['asked']>(queries.asked);

/** Reads withdrawals with what was known about their causes before the run. */
async function readMoneyOut(
  em: EntityManager,
  { causes, owners }: Cast,
): Promise<Pick<Facts, 'withdrawals' | 'given' | 'dailyLimit' | 'released'>> {
  const { WITHDRAWAL_DAILY_LIMIT: dailyLimit, DISBURSEMENT_APPROVAL_ABOVE: above } = moneyOutTerms;
  const ofPersons = new Set(causes.filter((_, index) => owners[index]?.user.organizationId === null));
  const withdrawals = await em.execute<Omit<Facts['withdrawals'][number], 'waits'>[]>(queries.withdrawals);
  const given = await em.execute<{ id: string; amount: string }[]>(queries.given);
  const released = await em.execute<{ id: string; accountId: string }[]>(queries.released);
  return {
    withdrawals: withdrawals.map((row) => ({
      ...row,
      waits: row.causeId !== null && (ofPersons.has(row.causeId) || compareMoney(row.amount, above) > 0),
    })),
    given: Object.fromEntries(given.map(({ id, amount }) => [id, amount])),
    dailyLimit,
    released: Object.fromEntries(released.map(({ id, accountId }) => [id, accountId])),
  };
}

/** A tolerance, because the machine's clock is not read at the same moment everywhere. */
const marginMs = 5_000;

/** Reads everything that the oracles need, once the system is at rest. */
export async function readFacts(
  topology: Topology,
  known: Pick<
    Facts,
    | 'attempts'
    | 'decisions'
    | 'refundDecisions'
    | 'verdicts'
    | 'refusedAccounts'
    | 'restless'
    | 'died'
    | 'takenWorkflows'
    | 'endedRuns'
    | 'effort'
    | 'calm'
  > & {
    cast: Cast;
    run: string;
    before: string;
    /** The ids that existed before the first request. */
    older: ReadonlySet<string>;
    /** A platform user's token. */
    token: string;
    from: number;
    restored: Restored;
  },
): Promise<Facts> {
  const em = topology.em();
  const rows = <T>(query: string, params: unknown[] = []) => em.execute<T[]>(query, params);
  const events = await rows<Facts['events'][number]>(queries.events, [known.run]);
  const transitions = await rows<Facts['transitions'][number]>(queries.transitions);
  return {
    attempts: known.attempts,
    decisions: known.decisions,
    refundDecisions: known.refundDecisions,
    refusedAccounts: known.refusedAccounts,
    decided: await rows(queries.decided),
    accounts: known.cast.accounts,
    partnerAccounts: Object.fromEntries(known.cast.partners.map(({ id, account }) => [id, account])),
    events: events.map((event) => ({ ...event, begunAt: Number(event.begunAt), at: Number(event.at) })),
    made: (await rows<MadeRow>(queries.made)).map((row) => asMade(known.cast, row)),
    asked: (await readAsked(em)).filter(({ id }) => !known.older.has(id)),
    ends: await rows(queries.ends),
    orders: await rows(queries.orders),
    payouts: await rows(queries.payouts),
    batches: await rows(queries.batches),
    instruments: await rows(queries.instruments),
    ...(await readMoneyOut(em, known.cast)),
    ...(await readRefunds(topology, known.cast)),
    guards: await readGuards(topology),
    verdicts: known.verdicts,
    receipts: await rows(queries.receipts),
    journals: await rows(queries.journals),
    deliveries: await rows(queries.deliveries),
    transitions: transitions.map((transition) => ({ ...transition, at: Number(transition.at) })),
    waiting: await readWaiting(em),
    // Excludes failed workflows whose rows a restore removed.
    workflows: (await listWorkflows(topology, ['Running', 'Failed', 'TimedOut', 'Terminated', 'Canceled'])).filter(
      ({ status, startedAt }) => !(status === 'FAILED' && isGone(known.restored, startedAt)),
    ),
    checks: await runChecks(topology.em()),
    ...(await readProvider(topology)),
    webhooks: await readWebhooks(topology, known),
    money: { before: known.before, after: await readMoney(topology.em()) },
    lists: await readLists(topology, known.token),
    instants: await withTrueStarts(topology.owner(), await readInstants(topology.em())),
    window: { from: known.from, to: Date.now() + marginMs },
    restless: known.restless,
    died: known.died,
    effort: known.effort,
    calm: known.calm,
    leaks: readLeaks(topology, known),
    takenWorkflows: known.takenWorkflows,
    endedRuns: known.endedRuns,
    madeAgain: known.restored.madeAgain,
  };
}
