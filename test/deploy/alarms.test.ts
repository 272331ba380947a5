import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { parse, stringify } from 'yaml';
import { type Activities, createActivities } from '../../activities/index.ts';
import { measureClearingDifference } from '../../src/control/reconciliation/measure-clearing.ts';
import { measureSeals } from '../../src/ledger/seals/measure-seals.ts';
import { newWebhookSecret } from '../../src/partners/partner-secrets.ts';
import { endpointSecretPlace } from '../../src/partners/webhook-endpoint.ts';
import { webhookBodyPlace } from '../../src/partners/webhooks/record-webhook.ts';
import { stepQueues } from '../../src/platform/config/step-queues.ts';
import type { ReadOutcome } from '../../src/platform/database/replica.ts';
import { measureReplica } from '../../src/platform/metrics/measure.ts';
import { measureWorkers } from '../../src/platform/metrics/measure-workers.ts';
import { must } from '../../src/shared/assert.ts';
import { newId } from '../../src/shared/ids.ts';
import { measureBacklog } from '../../src/wiring/measure-backlog.ts';
import { type BuiltUser, buildIndividual } from '../support/build.ts';
import { findPromtool } from '../support/promtool.ts';
import { isFullRun, testRun } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

const rulesFile = join(import.meta.dirname, '..', '..', 'deploy', 'prometheus', 'alerts.yml');
interface Rule {
  alert: string;
  expr: string;
}
const rules = (): Rule[] =>
  (parse(readFileSync(rulesFile, 'utf8')) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);

/** The rules about outages and about other processes' metrics have series of their own (`outages.yml`). */
const outagesFile = join(import.meta.dirname, 'outages.yml');
const isOfOutages = ({ alert }: Rule): boolean => readFileSync(outagesFile, 'utf8').includes(`"${alert}"`);

it('Every alert about an outage has a test series of its own', () => {
  const outages = (parse(readFileSync(rulesFile, 'utf8')) as { groups: { name: string; rules: Rule[] }[] }).groups.find(
    ({ name }) => name === 'amanah-outages',
  );
  expect(outages?.rules.filter((rule) => !isOfOutages(rule)).map(({ alert }) => alert)).toEqual([]);
});

/** Building the tester takes minutes if it is not installed yet. */
(isFullRun() ? describe : describe.skip)('Alarms evaluated by Prometheus over the processes’ metrics', () => {
  let stack: Stack;
  let payer: BuiltUser;
  let activities: Activities;
  let promtool: string;
  let tellOfReplica: (outcome: ReadOutcome) => void;
  beforeAll(async () => {
    promtool = findPromtool();
    // Temporal is down: nothing processes the planted rows, no workflow can be woken, and requests that need it fail.
    stack = await startStack({
      own: true,
      isImpatient: true,
      sandbox: true,
      env: { TEMPORAL_ADDRESS: '127.0.0.1:1', LOG_LEVEL: 'silent' },
    });
    payer = await buildIndividual(stack);
    const { metrics, orm, log } = stack.deps;
    measureBacklog(metrics, orm);
    tellOfReplica = measureReplica(metrics, log);
    measureClearingDifference(metrics, orm);
    measureSeals(metrics, orm);
    measureWorkers(
      metrics,
      stepQueues.map((queue) => ({ queue, polls: () => true })),
    );
    activities = createActivities(stack.deps);
  }, 30 * 60_000);
  afterAll(() => stack.stop());

  /** The metrics of a worker and an API, and the time at which they were read. */
  interface Scrape {
    at: number;
    values: Map<string, number>;
    counters: Set<string>;
  }
  async function scrape(): Promise<Scrape> {
    const at = Date.now() / 1000;
    const text = await stack.deps.metrics.registry.metrics();
    const values = new Map<string, number>();
    const counters = new Set<string>();
    for (const line of text.split('\n')) {
      const [, counter] = /^# TYPE (\w+) (?:counter|histogram)$/.exec(line) ?? [];
      if (counter) counters.add(counter);
      const [, series, value] = /^([^#]\S*(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
      if (series) values.set(series, Number(value));
    }
    return { at, values, counters };
  }
  /** Waits until the metrics of waiting rows are refreshed. */
  const afterCache = () => sleep(31_000);

  const run = <Name extends keyof Activities>(name: Name, input: Parameters<Activities[Name]>[0], attempt = 1) =>
    new MockActivityEnvironment({ attempt, startToCloseTimeoutMs: 60_000 }, { logger: new DefaultLogger('ERROR') })
      .run(activities[name] as (input: unknown) => Promise<unknown>, input)
      .catch(() => null);

  const payout = (status: string, facts: Record<string, string>): string => {
    const row: Record<string, string> = {
      id: `'${newId()}'`,
      kind: "'partner_payout'",
      source_account_id: `'${newId()}'`,
      reserved_account_id: `'${newId()}'`,
      partner_id: `'${newId()}'`,
      reference: `'PO-${newId()}'`,
      fee_mode: "'DEDUCTED'",
      amount: '10',
      fee: '1',
      net_amount: '9',
      bank_code: "'BCA'",
      texts_sealed: "'x'",
      status: `'${status}'`,
      created_at: 'now()',
      updated_at: 'now()',
      ...facts,
    };
    return `insert into payouts (${Object.keys(row)}) values (${Object.values(row)})`;
  };
  const order = (status: string, facts: Record<string, string>): string => {
    const row: Record<string, string> = {
      id: `'${newId()}'`,
      user_id: `'${newId()}'`,
      reference_type: "'account_top_up'",
      reference_id: `'${newId()}'`,
      target_account_id: `'${newId()}'`,
      payment_id: '1',
      nominal: '10',
      admin_fee: '1',
      status: `'${status}'`,
      expires_at: "now() + interval '1 day'",
      created_at: 'now()',
      updated_at: 'now()',
      ...facts,
    };
    return `insert into payment_orders (${Object.keys(row)}) values (${Object.values(row)})`;
  };
  const delivery = newId();
  const ago = (interval: string) => `now() - interval '${interval}'`;
  /** The statement that plants each alarm's problem. */
  const planted: Record<string, string> = {
    AmanahPayoutUnknown: payout('pending', { unknown_since: ago('1 hour'), last_word: "'silent'" }),
    AmanahPayoutContradicted: payout('succeeded', { contradicted_at: 'now()', finalized_at: 'now()' }),
    AmanahPayoutsOverdue: payout('pending', { look_again_at: ago('1 hour'), last_word: "'accepted'" }),
    AmanahPayoutUnsent: payout('pending', { look_again_at: "now() + interval '1 hour'", created_at: ago('2 hours') }),
    AmanahPayoutAcceptedForDays: payout('pending', { last_word: "'accepted'", created_at: ago('3 days') }),
    AmanahMoneyInSuspense: `insert into receipts (id, provider_payment_id, provider_payment_method_id, reference, amount,
      state, reason) values ('${newId()}', '${newId()}', 'pm', 'nobody', 5, 'suspended', 'late')`,
    AmanahMoneyOfErased: `with someone as (insert into users (id, user_type, status, erased_at)
        values ('${newId()}', 'individual', 'suspended', now()) returning id),
      account as (insert into accounts (id, name, kind, user_id) select '${newId()}', 'a', 'user', id from someone returning id)
      insert into account_balances (account_id, shard, balance) select id, 0, 5 from account`,
    AmanahReconciliationOpen: `insert into reconciliations (id, day, resource_type, subject, reference)
      values ('${newId()}', '2026-01-01', 'payout', 'disb-1', 'r')`,
    AmanahMoneyWithoutReceipt: `insert into reconciliations (id, day, resource_type, subject, reference, theirs, created_at)
      values ('${newId()}', '2026-01-01', 'payment', 'py-1', 'r', '{"status": "succeeded"}', ${ago('27 hours')})`,
    AmanahDayNotReconciled: `insert into events (id, event, impact, resource_type, created_at)
      values (uuidv7(interval '-3 days'), 'PLANTED', 'LOW', 'test', ${ago('3 days')})`,
    AmanahPaymentsOverdue: order('WAITING_PAYMENT', { expires_at: ago('1 hour') }),
    AmanahPaymentsSettling: order('WAITING_PAYMENT', { settling_since: ago('1 hour') }),
    AmanahInstrumentsPending: order('PENDING', { created_at: ago('1 hour') }),
    AmanahReleasesOverdue: `insert into partner_payments (id, partner_id, channel_id, fee_mode, amount, fee, net_amount, status,
      expires_at, finalized_at, available_at, created_at, updated_at) values ('${newId()}', '${newId()}', 1, 'DEDUCTED', 10, 1, 9,
      'PAID', now(), now(), ${ago('1 hour')}, now(), now())`,
    AmanahDecisionOverdue: `insert into decisions (id, kind, amount, reference, note, evidence, proposed_by, created_at)
      values ('${newId()}', 'book_external', 5, 'r', 'planted', '{}', '${newId()}', ${ago('2 days')})`,
    AmanahNewApprover: `insert into users (id, user_type, status, password_sealed, approver_since)
      values ('${newId()}', 'platform', 'active', 'none', now())`,
    AmanahCirclesOverdue: `insert into saving_circles (id, name, account_id, holding_account_id, owner_type, owner_id, created_by,
      capacity, amount, visibility, round_interval, turn_order, start_date, starts_at, status, next_opens_at, first_turn)
      values ('${newId()}', 'Planted', '${newId()}', '${newId()}', 'individual', '${newId()}', '${newId()}', 5, 10, 'private',
      'monthly', 'joining', '2026-01-01', now(), 'active', ${ago('1 hour')}, 1)`,
    AmanahSubscriptionsOverdue: `insert into donation_subscriptions (id, user_id, cause_id, amount, source_account_id, interval,
      status, started_at, periods_paid) values ('${newId()}', '${newId()}', '${newId()}', 5, '${newId()}', 'weekly', 'active',
      ${ago('10 days')}, 1)`,
    AmanahCallbacksUndelivered: `insert into gateway_callbacks (id, webhook_id, event, kind, reference, body_sealed, body_digest,
      body_bytes, received_at) values ('${newId()}', 'w1', 'payment.succeeded', 'payment', 'r', 'x', 'x', 1, ${ago('10 minutes')})`,
    AmanahCallbacksUnread: `insert into gateway_callbacks (id, webhook_id, unread, body_sealed, body_digest, body_bytes)
      values ('${newId()}', 'w2', 'unknown event', 'x', 'x', 1)`,
    AmanahWebhooksOverdue: `insert into webhook_deliveries (id, partner_id, endpoint_id, resource_type, resource_id, version, type,
      body_sealed, body_digest, next_attempt_at) values ('${newId()}', '${newId()}', '${newId()}', 'payout', '${newId()}', 1, 'payout.failed', 'x', 'x', ${ago('20 minutes')})`,
    AmanahClearingDifference: 'update clearing_comparisons set difference = 5, agreed = false, measured_at = now()',
  };
  const tables = [
    'payouts',
    'receipts',
    'reconciliations',
    'payment_orders',
    'partner_payments',
    'decisions',
    'saving_circles',
    'donation_subscriptions',
    'gateway_callbacks',
    'webhook_deliveries',
    'webhook_endpoints',
  ];
  const asOwner = (statements: string[]) =>
    stack.owner().transactional(async (tx) => {
      await tx.execute("set local session_replication_role = 'replica'");
      for (const statement of statements) await tx.execute(statement);
    });

  const askProvider = () =>
    stack.deps.gateways
      .of('xendit')
      .findTransfer(newId(), { signal: AbortSignal.timeout(5_000) })
      .catch(() => null);
  const repeat = (count: number, one: () => Promise<unknown>) => Promise.all(Array.from({ length: count }, one));

  /** Sends a request whose body takes six seconds to arrive. */
  async function askSlowly(): Promise<void> {
    const body = JSON.stringify({ email: 'nobody@example.org', password: 'x' });
    const sent = request(`${stack.url}/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': body.length },
    });
    sent.write(body.slice(0, 10));
    await sleep(6_000);
    sent.end(body.slice(10));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
  }

  /** Plants a webhook to an address without a listener. */
  async function plantDelivery(): Promise<string[]> {
    const { sealer } = stack.deps;
    const endpoint = newId();
    const secret = await sealer.seal(endpointSecretPlace(endpoint), newWebhookSecret());
    return [
      `insert into webhook_endpoints (id, partner_id, url, events, secret_sealed)
       values ('${endpoint}', '${newId()}', 'http://127.0.0.1:9/hook', '{payout.failed}', '${secret}')`,
      `insert into webhook_deliveries (id, partner_id, endpoint_id, resource_type, resource_id, version, type, body_sealed,
         body_digest, next_attempt_at) values ('${delivery}', '${newId()}', '${endpoint}', 'payout', '${newId()}', 1, 'payout.failed',
         '${await sealer.seal(webhookBodyPlace(delivery), '{}')}', 'x', now())`,
    ];
  }

  async function readChecks(): Promise<void> {
    for (const check of (await run('findLedgerChecks', {})) as string[]) await run('runLedgerCheck', { check });
  }

  /** Scrapes a normal state, with users at work. */
  async function calm(): Promise<Scrape[]> {
    await stack.sandbox.put('/sandbox/faults', {});
    tellOfReplica('replica');
    const first = await scrape();
    tellOfReplica('replica');
    await repeat(20, askProvider);
    await repeat(40, () => stack.get('/v1/auth/me', { token: payer.token }));
    await readChecks();
    return [first, await scrape()];
  }

  /** Makes everything go wrong at once, and scrapes the metrics before and afterwards. */
  async function trouble(): Promise<Scrape[]> {
    await asOwner([...Object.values(planted), ...(await plantDelivery())]);
    await stack.sandbox.put('/sandbox/faults', { requests: { error_rate: 1 } });
    await readChecks();
    const first = await scrape();
    tellOfReplica('late');
    await run('deliverWebhook', { deliveryId: delivery, attempt: 99, elapsedMs: 100 * 3_600_000 });
    const stray = {
      receiptId: newId(),
      provider: 'xendit',
      providerPaymentId: 'py-1',
      providerPaymentMethodId: 'pm-1',
    };
    await run('openReceipt', stray, 6);
    await run('sweepPayouts', {});
    await repeat(20, askProvider);
    const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
    await repeat(5, () => stack.post('/v1/payments/gateway', body, { token: payer.token }));
    // More queries than the pool has connections run at once, and a request is slow.
    const sleeping = repeat(40, () =>
      stack.deps.orm.em
        .fork()
        .execute('select pg_sleep(4)')
        .catch(() => null),
    );
    const slow = askSlowly();
    const exhausted = await scrape();
    await Promise.all([sleeping, slow]);
    const last = await scrape();
    for (const [series, value] of exhausted.values) {
      if (series.startsWith('amanah_database_pool_connections')) last.values.set(series, value);
    }
    return [first, last];
  }

  /** How long the trouble lasts for alarms about something that has not happened for a long time. */
  const troubleMinutes: Record<string, number> = {
    AmanahClearingNotCompared: 53 * 60,
    AmanahJournalsNotSealed: 33 * 60,
  };
  /** Alarms that a single event triggers, for an hour. */
  const happensOnce = ['AmanahWebhookParked'];
  const nothingHappens = [
    'AmanahLedgerChecksNotRead',
    'AmanahLedgerCheckNotRead',
    'AmanahClearingNotCompared',
    'AmanahJournalsNotSealed',
  ];

  function testOf({ alert, expr }: Rule, [calmly, troubled, again]: [Scrape[], Scrape[], Scrape[]]) {
    const during = troubleMinutes[alert] ?? 4 * 60;
    // Longer than any rule waits before it fires, except for rules about something that no longer happens.
    const before = nothingHappens.includes(alert) ? 10 : 2 * 60;
    // Nothing is refreshed after the last scrape, so that alarms about a missing refresh would fire again.
    const after = nothingHappens.includes(alert) ? 20 : 3 * 60;
    const start = Math.floor(Date.now() / 1000);
    const names = new Set(expr.match(/\bamanah_\w+/g));
    const nameOf = (series: string) => series.split('{', 1)[0] ?? '';
    const parts: { scrapes: Scrape[]; minutes: number; at: number }[] = [
      { scrapes: calmly, minutes: before, at: start },
      nothingHappens.includes(alert)
        ? { scrapes: calmly, minutes: during, at: start }
        : { scrapes: troubled, minutes: during, at: start + before * 60 },
      { scrapes: again, minutes: after, at: start + (before + during) * 60 },
    ];
    const all = new Set(parts.flatMap(({ scrapes }) => scrapes.flatMap(({ values }) => [...values.keys()])));
    const input_series = [...all]
      .filter((series) => names.has(nameOf(series)))
      .map((series) => {
        const isCounter = [...must(calmly[0], 'there is a scrape').counters].some((counter) =>
          nameOf(series).startsWith(counter),
        );
        const values = parts.map(({ scrapes, minutes, at }, index) => {
          const [first, last] = [
            must(scrapes[0], 'there is a first scrape'),
            must(scrapes.at(-1), 'there is a last scrape'),
          ];
          const [from, to] = [first.values.get(series), last.values.get(series)];
          if (to === undefined || (alert === 'AmanahNoWorker' && index === 1)) return `_x${minutes}`;
          // One occurrence triggers some alarms; what the others count keeps happening.
          const isGrowing = isCounter && !happensOnce.includes(alert);
          const growth = isGrowing ? to - (from ?? 0) : 0;
          const shift = nameOf(series).endsWith('_timestamp_seconds') ? at - last.at : 0;
          const value = (isGrowing ? (from ?? 0) : to) + shift;
          return `${value}${growth < 0 ? '' : '+'}${growth}x${minutes - 1}`;
        });
        return { series, values: values.join(' ') };
      });
    return {
      name: alert,
      interval: '1m',
      start_timestamp: new Date(start * 1000).toISOString(),
      input_series,
      promql_expr_test: [
        fires(alert, before - 1, 0),
        fires(alert, before + (happensOnce.includes(alert) ? 30 : during - 2), 1),
        fires(alert, before + during + after - 2, 0),
      ],
    };
  }
  /** Expects an alarm to fire (1) or not (0) in this minute of Prometheus' time; a step of the series is a minute. */
  const fires = (alert: string, minute: number, value: 0 | 1) => ({
    expr: `clamp_max(count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0), 1)`,
    eval_time: `${minute}m`,
    exp_samples: [{ labels: '{}', value }],
  });
  /** Tests the alarm while nothing exports its metric. */
  const testWithoutMetric = ({ alert }: Rule) => ({
    name: `${alert} without its metric`,
    interval: '1m',
    input_series: [],
    promql_expr_test: [fires(alert, 27 * 60, 1)],
  });
  it(
    'An alarm fires while its condition holds, neither before nor after',
    async () => {
      await asOwner([
        `insert into clearing_comparisons (day, measured_at, provider_balance, clearing_balance, received_under_way,
         spent_under_way, offset_low, offset_high, difference, agreed)
       values (current_date, now(), 0, 0, 0, 0, 0, 0, 0, true)`,
      ]);
      const calmly = await calm();
      await afterCache();
      const troubled = await trouble();
      await asOwner([
        ...tables.map((table) => `delete from ${table}`),
        "delete from events where event = 'PLANTED'",
        "delete from users where password_sealed = 'none'",
        `delete from account_balances b using accounts a, users u
         where a.id = b.account_id and u.id = a.user_id and u.erased_at is not null`,
        'delete from accounts a using users u where u.id = a.user_id and u.erased_at is not null',
        'update clearing_comparisons set difference = 0, agreed = true, measured_at = now()',
      ]);
      await afterCache();
      const again = await calm();

      const told = rules().filter((rule) => !isOfOutages(rule));
      const untold = told.filter(({ expr }) => expr.includes('absent('));
      expect(untold.length).toBeGreaterThan(2);
      const tests = [...told.map((rule) => testOf(rule, [calmly, troubled, again])), ...untold.map(testWithoutMetric)];
      // A test evaluates all rules of its files each minute, so each rule has a file of its own.
      const write = (content: unknown): string => {
        const file = join(testRun().directory, `alarms-${newId()}.yml`);
        writeFileSync(file, stringify(content));
        return file;
      };
      const files = told.map((rule) =>
        write({
          rule_files: [write({ groups: [{ name: 'alone', rules: [rule] }] })],
          evaluation_interval: '1m',
          fuzzy_compare: true,
          tests: tests.filter(({ name }) => name === rule.alert || name === `${rule.alert} without its metric`),
        }),
      );
      const { status, stdout, stderr } = spawnSync(promtool, ['test', 'rules', ...files, outagesFile], {
        encoding: 'utf8',
      });
      if (status !== 0) throw new Error(`${stdout}${stderr}`.slice(0, 20_000));
      expect(tests.length).toBeGreaterThan(30);
    },
    10 * 60_000,
  );
});
