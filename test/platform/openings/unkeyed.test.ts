import { startWorker } from '../../../dev/service-parts.ts';
import { createSubscription } from '../../../src/giving/donations/create-subscription.ts';
import { payByGateway } from '../../../src/money-in/payments/pay-by-gateway.ts';
import { createWithdrawal } from '../../../src/money-out/withdrawals/create-withdrawal.ts';
import type { Caller } from '../../../src/shared/caller.ts';
import { workflowIds } from '../../../src/shared/ids.ts';
import type { Workflows } from '../../../src/wiring/temporal/workflows.ts';
import { addBankAccount, buildOwner } from '../../money-out/withdrawals/build-withdrawals.ts';
import { type BuiltUser, balanceOf } from '../../support/build.ts';
import { buildActiveCause } from '../../support/build-targets.ts';
import { itInFull } from '../../support/full.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { callerOf, topUpOf } from './caller-of.ts';

let stack: Stack;
let user: BuiltUser;
let caller: Caller;
beforeAll(async () => {
  // The full run counts all rows, and therefore has its own database.
  stack = await startStack({ own: isFullRun(), isImpatient: true, sandbox: true });
  user = await buildOwner(stack);
  caller = callerOf(user);
}, 60_000);
afterAll(() => stack.stop());

const requestId = 'test';
/** How long the requests wait for Temporal here, in milliseconds: no worker runs, so none answers them. */
const waitMs = 500;
type Starts = 'startWithdrawal' | 'startGatewayPayment' | 'startDonationSubscription';

/** Temporal for impatient requests; records the workflow ids started. */
function impatient(started: string[]): Pick<Workflows, Starts> {
  const { workflows } = stack.deps;
  const note = (id: string) => {
    started.push(id);
  };
  return {
    startWithdrawal: (id, opening) => {
      note(workflowIds.withdrawal(id));
      return workflows.startWithdrawal(id, opening, waitMs);
    },
    startGatewayPayment: (id, opening) => {
      note(workflowIds.gatewayPayment(id));
      return workflows.startGatewayPayment(id, opening, waitMs);
    },
    startDonationSubscription: (input) => {
      note(workflowIds.donationSubscription(input.subscriptionId));
      return workflows.startDonationSubscription(input, waitMs);
    },
  };
}

type Create = (workflows: Pick<Workflows, Starts>) => Promise<unknown>;
const ports = (workflows: Pick<Workflows, Starts>) => ({ ...stack.deps, workflows });
const creations: [string, string, () => Promise<Create>][] = [
  [
    'a withdrawal',
    'withdrawals',
    async () => {
      const body = { bank_account_id: await addBankAccount(stack, user), amount: '100000' };
      const asking = { caller, accountId: user.accountId, body, key: undefined, requestId };
      return (workflows) => createWithdrawal(stack.em(), ports(workflows), asking);
    },
  ],
  [
    'a payment order',
    'payment_orders',
    async () => {
      const body = topUpOf(user);
      const request = { path: '/v1/payments/gateway', body, payment: body };
      const asking = { caller, key: undefined, requestId };
      return (workflows) => payByGateway(stack.em(), ports(workflows), asking, request, async (data) => ({ data }));
    },
  ],
  [
    'a subscription',
    'donation_subscriptions',
    async () => {
      const { id } = await buildActiveCause(stack);
      const body = { cause_id: id, amount: '1000', source_account_id: user.accountId, interval: 'weekly' as const };
      const asking = { caller, body, key: undefined, requestId };
      return (workflows) => createSubscription(stack.em(), ports(workflows), asking);
    },
  ],
];

describe('A request without an idempotency key that got a 503', () => {
  const started: string[] = [];

  it.each(creations)(
    'A request for %s without an idempotency key gets a 503 while its workflow waits for a worker',
    async (_, __, prepare) => {
      const create = await prepare();
      const before = started.length;
      await expect(create(impatient(started))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect(started).toHaveLength(before + 1);
    },
  );

  itInFull(
    'A request without an idempotency key that got a 503 creates nothing once workers are back',
    async () => {
      const worker = await startWorker({ env: stack.env, logFile: 'ignore' });
      try {
        for (const id of started) {
          const handle = stack.deps.workflows.client.workflow.getHandle(id);
          const { status } = await eventually(
            () => handle.describe(),
            (run) => run.status.name !== 'RUNNING',
            60_000,
          );
          expect([id, status.name, JSON.stringify(await handle.result())]).toEqual([
            id,
            'COMPLETED',
            expect.stringMatching(/lapsed/i),
          ]);
        }
      } finally {
        await worker.stop();
      }
      expect(started).toHaveLength(creations.length);
      for (const [, table] of creations) expect(await stack.em().execute(`select id from ${table}`)).toEqual([]);
      expect(await balanceOf(stack, user.accountId)).toBe('1000000.0000');
      await expectChecksEmpty(stack);
    },
    120_000,
  );
});
