import { z } from 'zod';
import { sweepCircles } from '../../../src/circles/sweep-circles.ts';
import { applyRegister } from '../../../src/control/erasure/apply-register.ts';
import { continueErasure } from '../../../src/control/erasure/continue-erasure.ts';
import { judgeClearing, measureClearing } from '../../../src/control/reconciliation/compare-clearing.ts';
import { findDaysToReconcile } from '../../../src/control/reconciliation/reconciled-days.ts';
import { charitableCauseDonate } from '../../../src/giving/donations/charitable-cause-donate.ts';
import { sweepSubscriptions } from '../../../src/giving/donations/sweep-subscriptions.ts';
import { findChecks, runCheck, runCheckInTurn } from '../../../src/ledger/run-checks.ts';
import { redeliverCallbacks } from '../../../src/money-in/callbacks/deliver-callback.ts';
import { sweepOverduePayments } from '../../../src/money-in/callbacks/sweep-overdue-payments.ts';
import { sweepReceipts } from '../../../src/money-in/callbacks/sweep-receipts.ts';
import { sweepDecisions } from '../../../src/money-out/decisions/carry-out.ts';
import { sweepPayouts } from '../../../src/money-out/payouts/sweep-payouts.ts';
import { destroyOrderKeys } from '../../../src/partners/destroy-order-keys.ts';
import { sweepDeliveries } from '../../../src/partners/webhooks/redeliver-webhook.ts';
import { sweepUploads } from '../../../src/people/documents/sweep-uploads.ts';
import { recordLoginFailure, refuseThrottled, rememberLogin } from '../../../src/people/identity/login-failures.ts';
import { settleKeys } from '../../../src/people/identity/settle-keys.ts';
import { tellManyMore } from '../../../src/people/mail/tell-many.ts';
import { nextOf } from '../../../src/platform/database/position.ts';
import { makeComingMonths } from '../../../src/platform/housekeeping/make-months.ts';
import type { Route } from '../../../src/platform/http/route-group.ts';
import { findUnderKey } from '../../../src/platform/openings/idempotency-keys.ts';
import { westernIndonesiaDay } from '../../../src/shared/clock.ts';
import { newId } from '../../../src/shared/ids.ts';
import { routeGroups } from '../../../src/wiring/app.ts';
import { forgetOldRows } from '../../../src/wiring/forget-old-rows.ts';
import { readBacklog } from '../../../src/wiring/measure-backlog.ts';
import { passTime } from '../../circles/begin-circle.ts';
import { buildActiveCircle, contribute, memberIdsOf } from '../../circles/build-circle.ts';
import { buildOpenDonations } from '../../giving/donations/build-donations.ts';
import { sealAll, verify } from '../../ledger/seals/build-seals.ts';
import { batchWhen, buildSecondKey, itemsOf, makeBatch } from '../../money-out/payout-batches/build-batches.ts';
import { ageAttempts, magicAccount, pay, payoutWhen, transfersOf } from '../../money-out/payouts/build-payouts.ts';
import { type Ids, namesThings, type Owner, thingsOf } from '../../people/access/matrix-things.ts';
import { asAClient } from '../../support/as-a-client.ts';
import { type BuiltUser, buildIndividual, buildSuperAdmin } from '../../support/build.ts';
import { buildActiveCause, buildGoal, buildProduct } from '../../support/build-targets.ts';
import { buildOperators, decide, plantDecision, propose } from '../../support/decide.ts';
import { buildTransaction, upload } from '../../support/documents.ts';
import type { HttpAnswer } from '../../support/http.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { eventually, type Stack } from '../../support/stack.ts';
import { suspendedUnder } from '../../support/suspended-receipt.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';

/** All callers of the product here, most of them with a long history. */
export interface Cast {
  platform: BuiltUser;
  admin: BuiltUser;
  person: BuiltUser;
  partner: BuiltPartner;
  causeId: string;
  categoryId: string;
  /** A transaction that the person received and another paid. */
  transactionId: string;
}

/** Runs the product on its database's contents: every list and resource, every way of moving money, every sweep. */
export async function runProduct(stack: Stack, cast: Cast): Promise<void> {
  await moveMoney(stack, cast);
  await readEverything(stack, cast);
  await removeThings(stack, cast);
  await administer(stack, cast);
  await manageWebhooks(cast);
  await decideThings(stack, cast);
  await keepHouse(stack, cast);
}

/** Sends a request, and retries while a busy machine returns 503; throws if it is refused. */
const done = async (ask: () => Promise<HttpAnswer>): Promise<HttpAnswer> => {
  const answer = await asAClient(ask);
  if (answer.status > 299) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer;
};

const every = (method: Route['method']): Route[] =>
  routeGroups.flatMap(({ routes }) => routes).filter((route) => route.method === method);
const ownersOf = ({ admin, person, partner }: Cast): Owner[] => [admin, person].map((user) => ({ user, partner }));
/** A day and a year with much data. */
const day = westernIndonesiaDay(new Date(Date.now() - 100 * 24 * 60 * 60 * 1000));
const words: Ids = { type: 'legal_agreement', day, year: day.slice(0, 4) };
const pathOf = ({ path }: Route, ids: Ids): string =>
  path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? words[name] ?? '');

/** Whether a response has a row for each account, so that its statement calls a function once for each. */
const isLong = ({ path }: Route): boolean => path.endsWith('/balances');

/** Calls every `GET`, by the resource's owner, the platform and the partner, with each of its parameters. */
async function readEverything(stack: Stack, cast: Cast): Promise<void> {
  await readAll(
    stack,
    cast,
    every('get').filter((route) => !isLong(route)),
  );
  for (const { token } of [cast.person, cast.admin]) {
    await stack.get(`/v1/transactions/${cast.transactionId}`, { token });
  }
  // Reads the second page by its number.
  await stack.get('/v1/receipts?page=2', { token: cast.platform.token });
  await stack.get(`/paid/${newId()}`);
}

async function readAll(stack: Stack, cast: Cast, routes: Route[]): Promise<void> {
  for (const route of routes) {
    for (const owner of ownersOf(cast)) {
      const ids = namesThings(route) ? await thingsOf(route).make(stack, owner) : {};
      for (const query of queriesOf(route, cast, ids)) {
        const path = `${pathOf(route, ids)}${query}`;
        for (const { token } of [cast.platform, owner.user]) await stack.get(path, { token });
        if (path.startsWith('/v1/partners/')) await cast.partner.get(path.slice('/v1/partners'.length));
      }
    }
  }
}

/** Calls every `DELETE` of a resource, by its owner and by the platform: foreign keys to it are searched. */
async function removeThings(stack: Stack, cast: Cast): Promise<void> {
  for (const route of every('delete').filter(namesThings)) {
    for (const owner of ownersOf(cast)) {
      const path = pathOf(route, await thingsOf(route).make(stack, owner));
      for (const { token } of [owner.user, cast.platform]) await stack.delete(path, undefined, { token });
    }
  }
}

interface Field {
  enum?: string[];
  anyOf?: Field[];
}

/**
 * Returns the queries of a route: none, and each of its parameters alone, with each of its values where it has an enum.
 */
function queriesOf({ query }: Route, cast: Cast, ids: Ids): string[] {
  if (query === undefined) return [''];
  const { properties = {} } = z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' }) as {
    properties?: Record<string, Field>;
  };
  const somewhere = Object.values(ids)[0] ?? cast.person.id;
  const place = '2026-06-01T00:00:00.000001Z';
  const values: Record<string, string | string[]> = {
    user_id: cast.person.id,
    organization_id: String(cast.admin.organizationId),
    account_id: cast.person.accountId,
    product_id: cast.causeId,
    category_id: cast.categoryId,
    resource_id: cast.person.id,
    actor_id: cast.person.id,
    from: '2026-01-01',
    to: '2026-12-31',
    external_ref: 'ref-3',
    day,
    endpoint_id: cast.person.id,
    // Not every list accepts each of these; one that is refused runs no statement.
    after: [somewhere, nextOf(`${place} ${cast.person.id}`), nextOf(`${place} 1`)],
  };
  return [
    '',
    ...Object.entries(properties).flatMap(([name, field]) => {
      const words = field.enum ?? field.anyOf?.flatMap((one) => one.enum ?? []) ?? [];
      return (words.length > 0 ? words : [values[name] ?? '1'].flat()).map(
        (value) => `?${name}=${encodeURIComponent(value)}`,
      );
    }),
  ];
}

const endsWithinMs = 60_000;

/** Moves money in every way the product has, to completion. */
async function moveMoney(stack: Stack, { person, partner, platform, causeId }: Cast): Promise<void> {
  const payFromBalance = (reference_type: string, reference_id: string, key?: string) =>
    stack.post(
      '/v1/payments/balance',
      { reference_type, reference_id, source_account_id: person.accountId, amount: 1000 },
      { token: person.token, headers: key === undefined ? {} : { 'idempotency-key': key } },
    );
  const goal = await buildGoal(stack, person);
  const product = await buildProduct(stack, platform, { kind: 'investment', target: '1000000' });
  await done(() => payFromBalance('charitable_cause_donate', causeId, 'under-a-key'));
  await done(() => payFromBalance('charitable_cause_donate', causeId, 'under-a-key'));
  await done(() => payFromBalance('saving_goal_contribution', goal.id));
  await done(() => payFromBalance('investment', product.id));
  await payFromBalance('charitable_cause_donate', person.id, 'refused-key');
  // Two donations are written alone, and the others queue behind them.
  const donors = await Promise.all(Array.from({ length: 5 }, () => buildIndividual(stack, { balance: '1000' })));
  const given = donors.map(({ id, accountId }) =>
    stack.deps.payTogether(charitableCauseDonate, {
      payer: { userId: id, userType: 'individual', organizationId: null },
      transactionId: newId(),
      referenceId: causeId,
      sourceAccountId: accountId,
      amount: '10',
      requestId: null,
    }),
  );
  for (const { outcome } of await Promise.all(given))
    if (outcome !== 'paid') throw new Error(`${outcome}, and not paid`);

  const byPlatform = { token: platform.token };
  const allocation = { donation_ids: await buildOpenDonations(stack, person, 2), cause_id: causeId };
  await done(() => stack.post('/v1/donations/allocate/preview', allocation, byPlatform));
  await done(() => stack.post('/v1/donations/allocate', allocation, byPlatform));
  for (const id of await buildOpenDonations(stack, person, 1)) {
    await done(() => stack.post(`/v1/donations/${id}/refund`, undefined, { token: person.token }));
  }
  const subscription = { cause_id: causeId, amount: '1000', source_account_id: person.accountId, interval: 'monthly' };
  await done(() => stack.post('/v1/donations/subscriptions', subscription, { token: person.token }));

  for (const how of ['pay', 'expire']) {
    const order = { reference_type: 'saving_goal_contribution', reference_id: goal.id, payment_id: 1, amount: 50_000 };
    const { data } = (await done(() => stack.post('/v1/payments/gateway', order, { token: person.token }))).body;
    await stack.sandbox.post(`/sandbox/${how}`, { payment_code: data.payment_code });
    await eventually(
      async () => (await stack.get(`/v1/payments/orders/${data.payment_order_id}`, { token: person.token })).body.data,
      ({ status }) => status !== 'WAITING_PAYMENT' && status !== 'PENDING',
      endsWithinMs,
    );
  }
  await done(() =>
    stack.post(`/v1/saving-goals/${goal.id}/release`, { account_id: person.accountId }, { token: person.token }),
  );
  const payment = (await done(() => partner.post('/payments', { method: 'qris', amount: '20000' }))).body.data;
  await stack.sandbox.post('/sandbox/pay', { payment_code: payment.payment_code });
  await eventually(
    async () => (await partner.get(`/payments/${payment.id}`)).body.data,
    ({ status }) => status === 'succeeded',
    endsWithinMs,
  );
  const account = { bank_code: 'BCA', bank_account_number: '1234567890', name: 'Budi Santoso' };
  await done(() => partner.send('post', '/bank-account-checks', account));
  const body = { method: 'virtual_account', channel: 'BCA' };
  const instrument = (await done(() => partner.post('/instruments', body))).body.data;
  await stack.sandbox.post('/sandbox/pay', { payment_code: instrument.payment_code, amount: 20_000 });
  await eventually(
    async () => (await partner.get(`/payments?instrument_id=${instrument.id}`)).body.data.total,
    (total) => total === 1,
    endsWithinMs,
  );
  await done(() => partner.send('post', `/instruments/${instrument.id}/close`));
  const batch = await makeBatch(partner, itemsOf(2, { amount: '10000' }));
  const approve = await buildSecondKey(stack, partner);
  await done(() => approve(`/payout-batches/${batch.id}/approve`));
  await batchWhen(partner, batch.id, 'completed', endsWithinMs);
  const payout = await pay(partner);
  await payoutWhen(partner, payout.id, 'succeeded', endsWithinMs);
  const bankAccount = { bank_code: 'BRI', account_number: magicAccount('654321'), account_holder: 'Budi Santoso' };
  const { id: bank_account_id } = (
    await done(() => stack.post('/v1/bank-accounts', bankAccount, { token: person.token }))
  ).body.data;
  await stack.owner().execute('update bank_accounts set usable_at = created_at where id = ?', [bank_account_id]);
  const withdrawal = (
    await done(() =>
      stack.post(
        `/v1/accounts/${person.accountId}/withdrawals`,
        { bank_account_id, amount: '10000' },
        { token: person.token, headers: { 'idempotency-key': 'withdrawn-once' } },
      ),
    )
  ).body.data;
  await eventually(
    async () => (await stack.get(`/v1/withdrawals/${withdrawal.id}`, { token: person.token })).body.data,
    ({ status }) => status === 'succeeded' || status === 'reversed',
    endsWithinMs,
  );
  const { id: own_cause } = await buildActiveCause(stack, person);
  const donor = await buildIndividual(stack, { balance: '20000' });
  const gift = { reference_type: 'charitable_cause_donate', reference_id: own_cause, amount: 20_000 };
  await done(() =>
    stack.post('/v1/payments/balance', { ...gift, source_account_id: donor.accountId }, { token: donor.token }),
  );
  await done(() =>
    stack.post(
      `/v1/accounts/${person.accountId}/withdrawals`,
      { bank_account_id, amount: '10000', cause_id: own_cause, purpose_note: 'A pump for the well' },
      { token: person.token },
    ),
  );
  const circle = await buildActiveCircle(stack, 2);
  const [memberId] = await memberIdsOf(stack, circle.id, circle.members);
  const place = `/v1/saving-circles/${circle.id}/members/${memberId}/standing-order`;
  const { token, accountId: source_account_id } = circle.creator;
  await done(() => stack.put(place, { source_account_id }, { token }));
  await done(() => stack.delete(place, undefined, { token }));
  for (const member of circle.members) await done(() => contribute(stack, member, circle.id));
  await done(() => stack.get(`/v1/saving-circles/${circle.id}/settlement`, { token: circle.creator.token }));
  const terms = { on_default: 'cover', guarantee_percent: 100 };
  const { id, creator } = await buildActiveCircle(stack, 2, { terms });
  await done(() => contribute(stack, creator, id));
  await passTime(stack, id, new Date(Date.now() + 100 * 24 * 60 * 60 * 1000).toISOString());
}

/** Other actions of people: files, logins, roles. */
async function administer(stack: Stack, { person, platform }: Cast): Promise<void> {
  const transaction = await buildTransaction(stack, person);
  await done(() => upload(stack, person, transaction));
  const attempt = { account: 'somebody', address: '192.0.2.1' };
  await refuseThrottled(stack.em(), attempt);
  const failure = { attempt, userId: person.id, actorId: null, reason: 'password', requestId: newId() } as const;
  await recordLoginFailure(stack.em(), failure);
  await rememberLogin(stack.em(), attempt);
  const other = await buildSuperAdmin(stack);
  await stack.patch('/v1/acl/assign-role', { user_id: other.id, unassign_role: true }, { token: platform.token });
  await done(() => stack.post('/v1/auth/logout', {}, { token: other.token }));
}

/** Actions of partners on their webhooks, from adding an endpoint to deleting it. */
async function manageWebhooks({ partner }: Cast): Promise<void> {
  const endpoint = { url: 'http://127.0.0.1:9/hook', events: ['payment.succeeded'] };
  const { id } = (await done(() => partner.send('post', '/webhook-endpoints', endpoint))).body.data;
  await done(() => partner.send('patch', `/webhook-endpoints/${id}`, { events: ['payment.failed'] }));
  await done(() => partner.send('post', `/webhook-endpoints/${id}/rotate-secret`));
  const test = (await done(() => partner.send('post', `/webhook-endpoints/${id}/test`))).body.data;
  await eventually(
    async () => (await partner.get(`/webhook-deliveries?endpoint_id=${id}`)).body.data.items,
    ([row]) => row?.attempts > 0,
    endsWithinMs,
  );
  await done(() => partner.send('post', `/webhook-deliveries/${test.id}/redeliver`));
  const period = { from: test.created_at, to: '2999-12-31', endpoint_id: id };
  for (const dry_run of [true, false])
    await done(() => partner.send('post', '/webhook-deliveries/replay', { ...period, dry_run }));
  await done(() => partner.send('delete', `/webhook-endpoints/${id}`));
}

/** Decisions of two people, and their outcomes. */
async function decideThings(stack: Stack, { partner, person }: Cast): Promise<void> {
  const operators = await buildOperators(stack);
  const movement = () => ({ kind: 'book_external', amount: '5', reference: newId() });
  await decide(stack, operators, movement());
  const rejected = (await done(() => propose(stack, operators, movement()))).body.data.id;
  await done(() => stack.post(`/v1/decisions/${rejected}/reject`, undefined, { token: operators.approver.token }));
  const topUp = { reference_type: 'account_top_up', reference_id: person.accountId, payment_id: 1, amount: 50_000 };
  const { data: order } = (await done(() => stack.post('/v1/payments/gateway', topUp, { token: person.token }))).body;
  await done(() => stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code, amount: 1_000 }));
  const receiptId = await suspendedUnder(stack, order.payment_order_id);
  await decide(stack, operators, { kind: 'settle_receipt', receipt_id: receiptId, action: 'refund' });
  const { id: payoutId } = await pay(partner, { bank_account_number: magicAccount('131313') });
  await eventually(
    () => transfersOf(stack, payoutId),
    (transfers) => transfers.length === 1,
  );
  await ageAttempts(stack, payoutId, 2);
  await decide(stack, operators, { kind: 'settle_payout', payout_id: payoutId, outcome: 'failed' });
  const difference = newId();
  await stack.owner().execute(
    `insert into reconciliations (id, day, resource_type, subject, resource_id, reference, state)
     values (?, current_date, 'payout', 'mine', ?, 'mine', 'open')`,
    [difference, payoutId],
  );
  await done(() => propose(stack, operators, { kind: 'explain_difference', reconciliation_id: difference }));
  const old = await plantDecision(stack, operators, movement());
  await withoutTriggers(stack, "update decisions set created_at = now() - interval '2 days' where id = ?", [old]);
}

/** Reads the books: every line of a day, and every check, in full and for the last hour. */
export async function readBooks(stack: Stack, cast: Cast): Promise<void> {
  await readAll(stack, cast, every('get').filter(isLong));
  const [{ since }] = await stack.em().execute<[{ since: string }]>("select uuidv7(interval '-1 hour') as since");
  for (const check of await findChecks(stack.em())) {
    await runCheckInTurn(stack.em(), check);
    await runCheck(stack.em(), check, since);
  }
}

/** Background work: sweeps, retention, comparisons, metrics. No workflow is signalled. */
async function keepHouse(stack: Stack, cast: Cast): Promise<void> {
  const nobody = new Proxy({}, { get: () => async () => undefined }) as never;
  const em = () => stack.em();
  const failed = () => {};
  await redeliverCallbacks(em(), { ...stack.deps, workflows: nobody }, failed);
  await sweepOverduePayments(em(), nobody, failed);
  await sweepReceipts(em(), nobody, failed);
  await sweepDecisions(em(), { ...stack.deps, workflows: nobody }, failed);
  await sweepPayouts(em(), nobody, failed);
  await stack.owner().execute(
    `update saving_circle_rounds set look_at = now() - interval '1 hour'
     where saving_circle_id = (select saving_circle_id from saving_circle_rounds where look_at is not null limit 1)`,
  );
  await sweepCircles(em(), nobody, failed);
  await sweepSubscriptions(em(), nobody, failed);
  await sweepDeliveries(em(), nobody, failed);
  // Looks a key up, as for a retry that arrives while the first request is being answered.
  await findUnderKey(em(), { partnerId: newId(), keyHash: 'none', fingerprint: 'none' });
  await sweepUploads(em(), stack.deps);
  await stack.owner().execute(
    `insert into mail_rounds (kind, subject) select 'disbursement', id::text from withdrawals where cause_id is not null limit 1
     on conflict do nothing`,
  );
  await tellManyMore(em());
  // With two open rounds, each call picks one at random.
  const yearBegun = `select 1 from mail_rounds
    where kind = 'year_statement' and (told_upto > '00000000-0000-0000-0000-000000000000' or ended_at is not null)`;
  do await tellManyMore(em(), new Date('2027-01-10'));
  while ((await stack.owner().execute(yearBegun)).length === 0);
  await stack.owner().execute('update mail_rounds set ended_at = clock_timestamp() where ended_at is null');
  await readBacklog(em());
  await findDaysToReconcile(em(), stack.deps.gateways, { at: new Date().toISOString() });
  const signal = AbortSignal.timeout(endsWithinMs);
  await judgeClearing(em(), await measureClearing(em(), stack.deps.gateways, { signal }));
  await sealAll(stack);
  await verify(stack);
  await letInvitationExpire(stack, cast);
  await forgetOldRows(em(), { bodiesKeptDays: 30 });
  await makeComingMonths(em());
  await settleKeys(em(), stack.deps.personalKeys);
  await destroyOrderKeys(em(), stack.deps.personalKeys, 0);
  await eraseSomebody(stack);
}

/** Invites a user whose invitation has already expired. */
async function letInvitationExpire(stack: Stack, { platform: { token } }: Cast): Promise<void> {
  const invitation = { email: `${newId()}@example.org`, name: 'Never Came', user_type: 'individual' };
  const { body } = await done(() => stack.post('/v1/users/invitations', invitation, { token }));
  const ago = "now() - interval '1 year'";
  await stack.owner().execute(`update invitations set expires_at = ${ago} where user_id = ?`, [body.data.user.id]);
}

async function eraseSomebody(stack: Stack): Promise<void> {
  const { id: userId } = await buildIndividual(stack);
  const id = newId();
  await stack.em().execute("insert into erasures (id, user_id, status) values (?, ?, 'waiting')", [id, userId]);
  const config = { ERASURE_WAIT_HOURS: 0, KEYS_BACKUP_DAYS: 0 };
  await continueErasure(stack.em(), { ...stack.deps, config }, id);
  await applyRegister(stack.em(), stack.deps);
}
