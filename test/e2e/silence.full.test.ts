import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TcpProxy } from '../../dev/tcp-proxy.ts';
import { budgets } from '../../src/shared/budgets.ts';
import { workflowIds } from '../../src/shared/workflow-ids.ts';
import { buildPayer, payoutBody, payoutWhen, transfersOf } from '../money-out/payouts/build-payouts.ts';
import { askRefund, buildPaid, refundWhen } from '../money-out/refunds/build-refunds.ts';
import { addBankAccount, ask, buildOwner, withdrawalWhen } from '../money-out/withdrawals/build-withdrawals.ts';
import { atOnce, type Named } from '../support/at-once.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../support/build.ts';
import type { HttpAnswer } from '../support/http.ts';
import { type BuiltPartner, buildPartner, freshKey } from '../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';
import { within } from '../support/within.ts';

let stack: ProcessStack;
let payer: BuiltUser;
let partner: BuiltPartner;
let owner: BuiltUser;
let bankAccountId: string;
let refunder: BuiltPartner;
let paymentId: string;
beforeAll(async () => {
  stack = await startProcessStack({ proxied: true });
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());
beforeEach(async () => {
  payer = await buildIndividual(stack, { balance: '1000' });
  partner = await buildPayer(stack);
  owner = await buildOwner(stack);
  bankAccountId = await addBankAccount(stack, owner);
  refunder = await buildPayer(stack);
  // What the previous test has delayed may still be in flight.
  paymentId = await eventually(
    () => buildPaid(stack, refunder).catch(() => ''),
    (id) => id !== '',
  );
}, 60_000);
afterEach(async () => {
  stack.arm('');
  for (const line of [stack.lines.api.temporal, stack.lines.worker.temporal, stack.lines.worker.provider]) {
    line.set({ kind: 'pass' });
  }
});

interface Kind {
  table: string;
  owner: () => [column: string, id: string];
  ask: (key: string) => Promise<HttpAnswer>;
  /** The worker's failpoint after it has written the row. */
  opened: string;
  /** The worker's failpoint after the provider has done its part. */
  made: string;
  workflow: (id: string) => string;
  /** The response, and its time-out, if the row exists and nothing else answers. */
  undecided: { status: number; afterMs: number };
  /** Waits for the final status, once everything answers again. */
  ends: (id: string) => Promise<void>;
}

const va = { method: 'virtual_account', channel: 'BNI', amount: '50000' };
const kinds: Record<string, Kind> = {
  'A top-up': {
    table: 'payment_orders',
    owner: () => ['user_id', payer.id],
    ask: (key) =>
      stack.post(
        '/v1/payments/gateway',
        { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 },
        { token: payer.token, headers: { 'idempotency-key': key } },
      ),
    opened: 'open-payment-order.after',
    made: 'request-instrument.after',
    workflow: workflowIds.gatewayPayment,
    undecided: { status: 201, afterMs: budgets.requests.gatewayPayment },
    async ends(id) {
      await payAtProvider(id, `select payment_code from payment_orders where id = ?`);
      await eventually(
        () => balanceOf(stack, payer.accountId),
        (balance) => balance === '51000.0000',
      );
    },
  },
  'A partner’s payment': {
    table: 'partner_payments',
    owner: () => ['partner_id', partner.id],
    ask: (key) => partner.post('/payments', va, key),
    opened: 'open-partner-payment.after',
    made: 'request-partner-instrument.after',
    workflow: workflowIds.partnerPayment,
    undecided: { status: 504, afterMs: budgets.requests.partnerPayment },
    async ends(id) {
      await payAtProvider(id, `select payment_code from partner_payments where id = ?`);
      await eventually(
        async () => (await partner.get(`/payments/${id}`)).body.data.status,
        (status) => status === 'succeeded',
      );
    },
  },
  'A payout': {
    table: 'payouts',
    owner: () => ['partner_id', partner.id],
    ask: (key) => partner.post('/payouts', payoutBody(), key),
    opened: 'reserve-payout.after',
    made: 'send-transfer.after',
    workflow: workflowIds.partnerPayout,
    undecided: { status: 200, afterMs: budgets.requests.payoutReservation },
    async ends(id) {
      await payoutWhen(partner, id, 'succeeded', 120_000);
      expect(await transfersOf(stack, id)).toHaveLength(1);
    },
  },
  'A withdrawal': {
    table: 'withdrawals',
    owner: () => ['user_id', owner.id],
    ask: (key) => ask(stack, owner, { bank_account_id: bankAccountId, amount: '100000' }, key),
    opened: 'reserve-withdrawal.after',
    made: 'send-transfer.after',
    workflow: workflowIds.withdrawal,
    undecided: { status: 201, afterMs: budgets.requests.payoutReservation },
    async ends(id) {
      await withdrawalWhen(stack, owner, id, 'succeeded', 120_000);
      expect(await balanceOf(stack, owner.accountId)).toBe('900000.0000');
    },
  },
  'A refund': {
    table: 'payouts',
    owner: () => ['partner_id', refunder.id],
    ask: (key) => askRefund(refunder, paymentId, { amount: '111111' }, key),
    opened: 'reserve-refund.after',
    made: 'send-transfer.after',
    workflow: workflowIds.paymentRefund,
    undecided: { status: 200, afterMs: budgets.requests.payoutReservation },
    async ends(id) {
      await refundWhen(refunder, { id, payment_id: paymentId }, 'succeeded', 120_000);
    },
  },
};
interface Asked extends Kind {
  key: string;
}
/** One of each kind, to be requested at once. */
const oneOfEach = (): Named<Asked>[] =>
  Object.entries(kinds).map(([name, kind]) => [name, { ...kind, key: freshKey() }]);

async function payAtProvider(id: string, codeOf: string): Promise<void> {
  const [row] = await eventually(
    () => stack.em().execute<{ payment_code: string | null }[]>(codeOf, [id]),
    ([found]) => found?.payment_code != null,
  );
  await stack.sandbox.post('/sandbox/pay', { payment_code: row?.payment_code });
}

async function rowsOf({ table, owner }: Kind): Promise<string[]> {
  const [column, id] = owner();
  const rows = await stack.em().execute<{ id: string }[]>(`select id from ${table} where ${column} = ?`, [id]);
  return rows.map((row) => row.id);
}

/** Counts the provider's records under this reference. */
async function recordsOf(id: string): Promise<number> {
  const { payments, transfers, refunds } = (await stack.sandbox.get(`/sandbox/records?reference_id=${id}`)).body;
  return payments.length + transfers.length + refunds.length;
}

/** Waits until Temporal has timed out the worker's attempt at an activity or a workflow task, and starts another. */
const untilRepeated = (workflowId: string) =>
  eventually(
    async () => {
      const { raw } = await stack.deps.workflows.client.workflow.getHandle(workflowId).describe();
      return raw.pendingActivities?.[0]?.attempt ?? raw.pendingWorkflowTask?.attempt ?? 0;
    },
    (attempt) => attempt > 1,
    120_000,
  );

/** Retries the request under its key until it succeeds, and expects one resource, which becomes final. */
async function expectOne(kind: Asked): Promise<void> {
  const answer = await eventually(
    () => kind.ask(kind.key),
    ({ status }) => status === 200 || status === 201,
  );
  const { payment_order_id, id = payment_order_id } = answer.body.data;
  expect(await rowsOf(kind)).toEqual([id]);
  await kind.ends(id);
  expect(await recordsOf(id)).toBe(1);
  expect(await rowsOf(kind)).toEqual([id]);
}

const troubles: [what: string, trouble: (line: TcpProxy) => void][] = [
  ['accepts connections and never answers', (line) => line.set({ kind: 'black-hole' })],
  ['is slower than a request’s time-out', (line) => line.set({ kind: 'delay', ms: budgets.requests.away })],
];

const whenRowIsThere = async (kind: Kind): Promise<string> => {
  const [id = ''] = await eventually(
    () => rowsOf(kind),
    ({ length }) => length === 1,
  );
  return id;
};
/** Requests each; returns the status of each answer and its duration, as promises. */
const askForEach = (all: readonly Named<Asked>[]) =>
  all.map(([name, kind]): Named<Asked & { answered: Promise<{ status: number; tookMs: number }> }> => {
    const startedAt = performance.now();
    const answered = kind.ask(kind.key).then(({ status }) => ({ status, tookMs: performance.now() - startedAt }));
    return [name, { ...kind, answered }];
  });

describe('Requests of each kind while Temporal is down', () => {
  it.each(troubles)(
    'While Temporal %s, requests return 503 and open nothing, and a retry opens each once',
    async (_, trouble) => {
      const all = oneOfEach();
      trouble(stack.lines.api.temporal);
      await atOnce(all, async (kind) => {
        const refused = await within(budgets.requests.away, () => kind.ask(kind.key));
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
        expect(await rowsOf(kind)).toEqual([]);
      });
      // Requests that were held back arrive now.
      stack.lines.api.temporal.set({ kind: 'pass' });
      await atOnce(all, expectOne);
    },
    240_000,
  );
});

describe('A slow or silent Temporal', () => {
  it('With Temporal slow for the API and slower for the worker, a request of each kind completes once', async () => {
    stack.lines.api.temporal.set({ kind: 'delay', ms: 100 });
    stack.lines.worker.temporal.set({ kind: 'delay', ms: 500 });
    await atOnce(oneOfEach(), expectOne);
  }, 240_000);

  it('If Temporal hangs after a row is stored, the request is still answered and a retry returns the row', async () => {
    const all = oneOfEach();
    stack.arm(all.map(([, { opened }]) => `${opened}=hold`).join());
    const asked = askForEach(all);
    await atOnce(asked, whenRowIsThere);
    stack.lines.api.temporal.set({ kind: 'black-hole' });
    await atOnce(asked, async (kind) => {
      const { status, tookMs } = await kind.answered;
      expect([kind.undecided.status, 503]).toContain(status);
      expect(tookMs).toBeLessThan(kind.undecided.afterMs + 2 * budgets.requests.away);
      expect(await rowsOf(kind)).toHaveLength(1);
    });
    stack.arm('');
    stack.lines.api.temporal.set({ kind: 'pass' });
    await atOnce(all, expectOne);
  }, 240_000);
});

describe('A Temporal that stops answering the worker', () => {
  it('A request that the provider executed completes once even if Temporal hangs before recording it', async () => {
    const all = oneOfEach();
    stack.arm(all.map(([, { made }]) => `${made}=hold`).join());
    const asked = askForEach(all);
    await atOnce(asked, async (kind) => {
      const id = await whenRowIsThere(kind);
      await eventually(
        () => recordsOf(id),
        (count) => count === 1,
      );
    });
    stack.lines.worker.temporal.set({ kind: 'black-hole' });
    // The worker resumes, and cannot report the result.
    stack.arm('');
    await atOnce(asked, async (kind) => {
      // Never a refusal: the row's status by then, or an unknown outcome.
      expect([200, 201, 503, 504]).toContain((await kind.answered).status);
      const [id = ''] = await rowsOf(kind);
      await untilRepeated(kind.workflow(id));
    });
    stack.lines.worker.temporal.set({ kind: 'pass' });
    await atOnce(all, expectOne);
  }, 240_000);
});

describe('A worker that dies before Temporal records a refusal', () => {
  it('A refused payment’s webhook is sent even if the worker dies before Temporal records the refusal', async () => {
    const told = createServer((_, answer) => answer.end()).listen(0, '127.0.0.1');
    await once(told, 'listening');
    const url = `http://127.0.0.1:${(told.address() as AddressInfo).port}/hook`;
    const hooked = await buildPartner(stack, { webhook: { url } });
    const channels = `update payment_channels set channel_code = ? where channel_code = ?`;
    await stack.owner().execute(channels, ['NOT_AT_THE_PROVIDER', 'BNI']);
    try {
      stack.arm('request-partner-instrument.after=hold');
      const asked = hooked.post('/payments', { ...va, channel: 'NOT_AT_THE_PROVIDER' }, freshKey());
      const rowOf = async () => {
        const text = 'select id, status, instrument_asked_at as asked from partner_payments where partner_id = ?';
        return (await stack.em().execute<{ id: string; status: string; asked: Date | null }[]>(text, [hooked.id]))[0];
      };
      await eventually(rowOf, (row) => row?.asked != null);
      stack.lines.worker.temporal.set({ kind: 'black-hole' });
      stack.arm('');
      const row = await eventually(rowOf, (found) => found?.status === 'FAILED');
      await stack.kill('worker');
      stack.lines.worker.temporal.cut();
      stack.lines.worker.temporal.set({ kind: 'pass' });
      await stack.restart();
      expect([502, 504]).toContain((await asked).status);
      const workflow = stack.deps.workflows.client.workflow.getHandle(workflowIds.partnerPayment(row?.id ?? ''));
      await workflow.result();
      const { events } = await workflow.fetchHistory();
      const children = (events ?? []).flatMap(
        ({ startChildWorkflowExecutionInitiatedEventAttributes: child }) => child?.workflowType?.name ?? [],
      );
      expect(children).toEqual(['webhookDelivery']);
    } finally {
      await stack.owner().execute(channels, ['BNI', 'NOT_AT_THE_PROVIDER']);
      told.close();
    }
  }, 120_000);
});

describe('A provider that accepts connections and never answers', () => {
  it('If the provider never answers, requests stay pending and are executed once when it recovers', async () => {
    const all = oneOfEach();
    stack.lines.worker.provider.set({ kind: 'black-hole' });
    await atOnce(askForEach(all), async (kind) => {
      const { status, tookMs } = await kind.answered;
      expect(tookMs).toBeLessThan(kind.undecided.afterMs + 2 * budgets.requests.away);
      expect(status).toBe(kind.undecided.status);
      expect(await rowsOf(kind)).toHaveLength(1);
    });
    // Requests that were held back arrive late, in addition to their retries.
    stack.lines.worker.provider.set({ kind: 'pass' });
    await atOnce(all, expectOne);
  }, 240_000);
});
