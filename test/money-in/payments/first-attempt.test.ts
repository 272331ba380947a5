import { requestPartnerInstrument } from '../../../src/money-in/collections/request-partner-instrument.ts';
import { requestInstrument } from '../../../src/money-in/payments/request-instrument.ts';
import type { Gateway } from '../../../src/platform/gateway/gateway.ts';
import { workflowIds } from '../../../src/shared/workflow-ids.ts';
import { type BuiltUser, buildIndividual } from '../../support/build.ts';
import { casesOf, itInFull } from '../../support/full.ts';
import type { HttpAnswer } from '../../support/http.ts';
import { onlyProvider } from '../../support/only-provider.ts';
import { type BuiltPartner, buildPartner, freshKey } from '../../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';

/** A refusal after an attempt with an unknown outcome. */
let stack: ProcessStack;
let partner: BuiltPartner;
let payer: BuiltUser;
beforeAll(async () => {
  stack = await startProcessStack();
  partner = await buildPartner(stack);
  payer = await buildIndividual(stack);
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(async () => {
  stack.arm('');
  await stack.sandbox.put('/sandbox/faults', {});
  await refuse(false);
});

let channel = 'BNI';
/** Makes the provider refuse every request for this channel, while it still answers queries. */
async function refuse(refused: boolean): Promise<void> {
  channel = refused ? 'NOT_AT_THE_PROVIDER' : 'BNI';
  await stack.owner().execute('update payment_channels set channel_code = ? where id = 2', [channel]);
}

interface Rail {
  table: 'payment_orders' | 'partner_payments';
  lost: string;
  post(): Promise<HttpAnswer>;
  cancel(id: string): Promise<HttpAnswer>;
  /** One attempt to create the instrument, outside a workflow. */
  attempt(id: string, gateway: Gateway): Promise<unknown>;
  /** Starts a payment without awaiting its answer. */
  begin(): Promise<string>;
  begun(): Promise<string | undefined>;
}
const newest = async (table: Rail['table'], since: Date) =>
  (
    await stack
      .em()
      .execute<{ id: string }[]>(`select id from ${table} where created_at >= ? order by created_at desc limit 1`, [
        since,
      ])
  )[0]?.id;

function railOf(
  { table, lost, attempt, cancel }: Pick<Rail, 'table' | 'lost' | 'attempt' | 'cancel'>,
  post: Rail['post'],
): Rail {
  let since = new Date();
  const begun = () => newest(table, since);
  return {
    table,
    lost,
    attempt,
    cancel,
    post,
    begun,
    async begin() {
      since = new Date(Date.now() - 5);
      post().catch(() => undefined);
      const id = await eventually(begun, (found) => found !== undefined);
      return id ?? '';
    },
  };
}
const { signal } = new AbortController();
const user = railOf(
  {
    table: 'payment_orders',
    lost: 'request-instrument.after',
    cancel: (id) => stack.post(`/v1/payments/orders/${id}/cancel`, undefined, { token: payer.token }),
    attempt(orderId, gateway) {
      return requestInstrument(
        stack.em(),
        { ...stack.deps, gateways: onlyProvider(gateway) },
        { orderId, publicUrl: stack.url, signal },
      );
    },
  },
  () =>
    stack.post(
      '/v1/payments/gateway',
      { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 2, amount: 50_000 },
      { token: payer.token },
    ),
);
const partners = railOf(
  {
    table: 'partner_payments',
    lost: 'request-partner-instrument.after',
    cancel: (id) => partner.post(`/payments/${id}/cancel`, {}, null),
    attempt: (paymentId, gateway) =>
      requestPartnerInstrument(
        stack.em(),
        { gateways: onlyProvider(gateway), sealer: stack.deps.sealer, publicUrl: stack.url },
        { paymentId, signal },
      ),
  },
  () => partner.post('/payments', { method: 'virtual_account', channel, amount: '50000' }, freshKey()),
);

const rowOf = async ({ table }: Rail, id: string) =>
  (
    await stack
      .em()
      .execute<{ status: string; payment_code: string | null }[]>(
        `select status, payment_code from ${table} where id = ?`,
        [id],
      )
  )[0];
const instrumentsOf = async (id: string): Promise<{ payment_code: string }[]> =>
  (await stack.sandbox.get(`/sandbox/records?reference_id=${id}`)).body.payments;
const atTheProvider = (id: string) =>
  eventually(
    () => instrumentsOf(id),
    (found) => found.length === 1,
  );

describe.each<[string, Rail]>([
  ['A user’s order', user],
  ['A partner’s payment', partners],
])('%s', (_, rail) => {
  /** Slow: outside the full run only for a user's order. */
  const ofUser = rail === user ? it : itInFull;
  const becomes = (id: string, wanted: string) =>
    eventually(
      () => rowOf(rail, id),
      (row) => row?.status === wanted,
      60_000,
    );

  it('A payment gets its instrument without a task queue round trip if the provider answers', async () => {
    const id = await rail.begin();
    await becomes(id, 'WAITING_PAYMENT');
    expect(await queuesOf(rail, id)).toEqual([]);
    expect(await instrumentsOf(id)).toHaveLength(1);
  }, 60_000);

  const troubles: [what: string, requests: object][] = [
    ['creates the instrument and does not answer', { hang_rate: 1, hang_after_effect: true }],
    ['never receives the request', { hang_rate: 1 }],
    ['rate-limits the request', { limit_rate: 1, retry_after_seconds: 1 }],
  ];
  it.each(casesOf(troubles, ([, requests]) => 'limit_rate' in requests))(
    'A payment is retried through the provider’s task queue and gets one instrument if the provider %s',
    async (_, requests) => {
      await stack.sandbox.put('/sandbox/faults', { requests });
      const id = await rail.begin();
      const [queue] = await eventually(
        () => queuesOf(rail, id),
        (found) => found.length > 0,
      );
      expect(queue).toMatch(/-provider$/);
      expect(await isRestedBefore(rail, id)).toBe('limit_rate' in requests);
      await stack.sandbox.put('/sandbox/faults', {});
      await becomes(id, 'WAITING_PAYMENT');
      expect(await rowOf(rail, id)).toMatchObject({ payment_code: (await instrumentsOf(id))[0]?.payment_code });
      expect(await instrumentsOf(id)).toHaveLength(1);
    },
    90_000,
  );

  itInFull(
    'A payment can be cancelled even if the provider’s Retry-After exceeds its deadline',
    async () => {
      await stack.sandbox.put('/sandbox/faults', { requests: { limit_rate: 1, retry_after_seconds: 86_400 } });
      const id = await rail.begin();
      await eventually(
        async () => (await workflowOf(rail, id).fetchHistory()).events ?? [],
        (events) => events.some(({ markerRecordedEventAttributes: marker }) => marker?.failure != null),
      );
      await stack.sandbox.put('/sandbox/faults', {});
      await rail.cancel(id);
      const row = await eventually(
        () => rowOf(rail, id),
        (now) => now?.status !== 'PENDING',
        90_000,
      );
      expect(row).toEqual({ status: 'EXPIRED', payment_code: null });
    },
    120_000,
  );

  ofUser(
    'A refusal that the provider returns after four seconds still reaches the caller',
    async () => {
      await stack.sandbox.put('/sandbox/faults', { requests: { delay_ms: 4_000 } });
      await refuse(true);
      const { status, body } = await rail.post();
      expect([status, JSON.stringify(body)]).toEqual([502, expect.stringMatching(/PROVIDER_REFUSED|refused/)]);
    },
    60_000,
  );

  it('A refused second attempt does not fail a payment whose unanswered first created the instrument', async () => {
    stack.arm(`${rail.lost}=throw`);
    const id = await rail.begin();
    await atTheProvider(id);
    await refuse(true);
    stack.arm('');
    const row = await eventually(
      () => rowOf(rail, id),
      (now) => now?.status !== 'PENDING',
      60_000,
    );
    const [made] = await instrumentsOf(id);
    expect(row).toEqual({ status: 'WAITING_PAYMENT', payment_code: made?.payment_code });
  }, 90_000);

  it('A payment keeps its unanswered first attempt’s instrument even if the second sends another body', async () => {
    stack.arm(`${rail.lost}=throw`);
    const id = await rail.begin();
    await atTheProvider(id);
    // The provider has another body under the request's key: 409.
    await stack.owner().execute("update payment_channels set channel_code = 'HANA' where id = 2");
    stack.arm('');
    await becomes(id, 'WAITING_PAYMENT');
    const [made, ...others] = await instrumentsOf(id);
    expect(await rowOf(rail, id)).toEqual({ status: 'WAITING_PAYMENT', payment_code: made?.payment_code });
    expect(others).toEqual([]);
  }, 90_000);

  itInFull(
    'A payment does not fail if the provider is slow to list the instrument that the first attempt created',
    async () => {
      await stack.sandbox.put('/sandbox/faults', { requests: { error_rate: 1 } });
      const id = await rail.begin();
      await attempted(rail, id, 1);
      await refuse(true);
      await stack.sandbox.put('/sandbox/faults', {});
      await attempted(rail, id, 2);
      expect(await rowOf(rail, id)).toMatchObject({ status: 'PENDING' });
      // What the first attempt created now appears.
      const made = await stack.deps.gateways.of('xendit').requestInstrument({
        reference: id,
        method: 'virtual_account',
        channelCode: 'BNI',
        amount: rail.table === 'payment_orders' ? '54000' : '50000',
        expiresAt: new Date(Date.now() + 3_600_000),
        returnUrl: stack.url,
      });
      expect(made.outcome).toBe('accepted');
      await becomes(id, 'WAITING_PAYMENT');
    },
    90_000,
  );

  ofUser(
    'A payment fails if the provider refuses it and does not list it two minutes after the last attempt',
    async () => {
      await stack.sandbox.put('/sandbox/faults', { requests: { error_rate: 1 } });
      const id = await rail.begin();
      await attempted(rail, id, 1);
      await refuse(true);
      await stack.sandbox.put('/sandbox/faults', {});
      await attempted(rail, id, 2);
      expect(await rowOf(rail, id)).toMatchObject({ status: 'PENDING' });
      await stack
        .owner()
        .execute(
          `update ${rail.table} set instrument_asked_at = instrument_asked_at - interval '2 minutes' where id = ?`,
          [id],
        );
      await becomes(id, 'FAILED');
    },
    90_000,
  );

  it('A payment does not fail if an attempt is refused while a later one is in flight', async () => {
    await stack.sandbox.put('/sandbox/faults', { requests: { error_rate: 1 } });
    const id = await rail.begin();
    await attempted(rail, id, 1);
    await workflowOf(rail, id).terminate('the attempts of this test are its own');
    await stack.sandbox.put('/sandbox/faults', {});
    await stack.owner().execute(`update ${rail.table} set instrument_asked_at = null where id = ?`, [id]);
    const gateway = stack.deps.gateways.of('xendit');
    const noted = Promise.withResolvers<void>();
    const sent = Promise.withResolvers<void>();
    let later: Promise<unknown> = Promise.resolve();
    const beginLater = () => {
      later = rail.attempt(id, {
        ...gateway,
        async requestInstrument(...asked) {
          noted.resolve();
          await sent.promise;
          return gateway.requestInstrument(...asked);
        },
      });
    };
    await refuse(true);
    const first = rail.attempt(id, {
      ...gateway,
      async requestInstrument(...asked) {
        const answer = await gateway.requestInstrument(...asked);
        await refuse(false);
        beginLater();
        await noted.promise;
        return answer;
      },
    });
    await expect(first).rejects.toThrow(/a later attempt may be accepted/);
    expect(await rowOf(rail, id)).toMatchObject({ status: 'PENDING' });
    sent.resolve();
    await later;
    const [made] = await instrumentsOf(id);
    expect(await rowOf(rail, id)).toEqual({ status: 'WAITING_PAYMENT', payment_code: made?.payment_code });
  }, 60_000);

  it('A payment fails if its only attempt is refused', async () => {
    await refuse(true);
    const id = await rail.begin();
    await eventually(
      () => rowOf(rail, id),
      (row) => row?.status === 'FAILED',
    );
  }, 60_000);
});

const workflowOf = ({ table }: Rail, id: string) => {
  const idOf = table === 'payment_orders' ? workflowIds.gatewayPayment : workflowIds.partnerPayment;
  return stack.deps.workflows.client.workflow.getHandle(idOf(id));
};

/** Returns the task queues of the workflow's activities, local activities excepted. */
async function queuesOf(rail: Rail, id: string): Promise<string[]> {
  const { events } = await workflowOf(rail, id).fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: step }) => step?.taskQueue?.name ?? []);
}

/** Whether its workflow waited before its first activity on a queue. */
async function isRestedBefore(rail: Rail, id: string): Promise<boolean> {
  const events = (await workflowOf(rail, id).fetchHistory()).events ?? [];
  const first = events.find(
    ({ timerStartedEventAttributes: timer, activityTaskScheduledEventAttributes: step }) => timer ?? step,
  );
  return first?.timerStartedEventAttributes != null;
}

/** Waits until the request for the instrument has been tried this often. */
const attempted = (rail: Rail, id: string, attempts: number) =>
  eventually(
    async () => {
      const { raw } = await workflowOf(rail, id).describe();
      return raw.pendingActivities?.[0]?.attempt ?? 0;
    },
    (made) => made > attempts,
    60_000,
  );
