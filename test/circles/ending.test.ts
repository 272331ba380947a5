import { setTimeout as sleep } from 'node:timers/promises';
import { cancelCircle } from '../../src/circles/cancel-circle.ts';
import { savingCircleContribution } from '../../src/circles/saving-circle-contribution.ts';
import { payFromBalance } from '../../src/money-in/payments/pay-from-balance.ts';
import type { Caller } from '../../src/shared/caller.ts';
import { newId } from '../../src/shared/ids.ts';
import { type BuiltUser, balanceOf, buildIndividual, buildPlatformAdmin } from '../support/build.ts';
import { itInFull } from '../support/full.ts';
import { loseWorkflow } from '../support/lose-workflow.ts';
import { isFullRun } from '../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import {
  buildActiveCircle,
  circleWhen,
  contribute,
  contributionsOf,
  createCircle,
  heldBy,
  readCircle,
} from './build-circle.ts';

let stack: Stack;
let platform: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  platform = await buildPlatformAdmin(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const bca = 1;
const statusesOf = async (circleId: string) => (await contributionsOf(stack, circleId)).map(({ status }) => status);

describe('Cancelling an active circle', () => {
  const cancel = (id: string, as: BuiltUser = platform) =>
    stack.post(`/v1/saving-circles/${id}/cancel`, undefined, { token: as.token });

  it('Cancelling a circle refunds contributions, including gateway money that arrives later', async () => {
    const { id, members } = await buildActiveCircle(stack, 4);
    const [first, second, third] = members as [BuiltUser, BuiltUser, BuiltUser];
    const { body: pocket } = await stack.post('/v1/accounts', { name: 'Arisan' }, { token: first.token });
    await stack.post(
      `/v1/accounts/${first.accountId}/transfers`,
      { destination_account_id: pocket.data.id, amount: '150000' },
      { token: first.token },
    );
    expect((await contribute(stack, first, id, { source_account_id: pocket.data.id })).status).toBe(201);
    const paid = await contribute(stack, second, id, { payment_id: bca });
    await stack.sandbox.post('/sandbox/pay', { payment_code: paid.body.payment.payment_code });
    await eventually(
      () => statusesOf(id),
      (states) => states[1] === 'completed',
    );
    const pending = await contribute(stack, third, id, { payment_id: bca });

    expect((await cancel(id, first)).status).toBe(403);
    expect(await cancel(id)).toMatchObject({ status: 200, body: { data: { id, status: 'cancelled' } } });
    expect(await statusesOf(id)).toEqual(['refunded', 'refunded', 'cancelled']);
    expect(await balanceOf(stack, pocket.data.id)).toBe('150000.0000');
    expect(await balanceOf(stack, second.accountId)).toBe('1100000.0000');

    await stack.sandbox.post('/sandbox/pay', { payment_code: pending.body.payment.payment_code });
    await eventually(
      () => statusesOf(id),
      (states) => states[2] === 'refunded',
    );
    expect(await balanceOf(stack, third.accountId)).toBe('1100000.0000');
    expect(await heldBy(stack, id)).toBe('0.0000');
    const { body } = await stack.get('/v1/transactions', { token: third.token });
    const reversed = body.data.transactions.filter(({ status }: { status: string }) => status === 'reversed');
    expect(reversed).toMatchObject([
      { amount: '100000.0000', reference_id: id, user_id: third.id, destination_account_id: third.accountId },
    ]);

    expect((await readCircle(stack, first, id)).status).toBe('cancelled');
    expect((await cancel(id)).status).toBe(400);
    expect((await contribute(stack, first, id)).status).toBe(400);
    const { status } = await eventually(
      () => stack.deps.workflows.client.workflow.getHandle(`saving-circle/${id}`).describe(),
      (workflow) => workflow.status.name === 'COMPLETED',
    );
    expect(status.name).toBe('COMPLETED');
  });

  itInFull(
    'Cancelling during the last contributions leaves no money held or lost',
    async () => {
      const circles = await Promise.all(Array.from({ length: isFullRun() ? 4 : 2 }, () => buildActiveCircle(stack, 3)));
      await Promise.all(
        circles.flatMap(({ id, members }) => [
          ...members.map((member) => contribute(stack, member, id)),
          sleep(Math.random() * 150).then(async () => expect(await cancel(id)).toMatchObject({ status: 200 })),
        ]),
      );
      for (const { id, members } of circles) {
        expect((await readCircle(stack, platform, id)).status).toBe('cancelled');
        expect(await heldBy(stack, id)).toBe('0.0000');
        const balances = await Promise.all(members.map(({ accountId }) => balanceOf(stack, accountId)));
        expect(balances.reduce((sum, balance) => sum + Number(balance), 0)).toBe(3_000_000);
        const statuses = new Set(await statusesOf(id));
        expect(statuses.size).toBeLessThanOrEqual(1);
      }
    },
    60_000,
  );

  it('Cancelling returns 400 for a new circle and 404 for a missing one', async () => {
    const { id } = await createCircle(stack, await buildIndividual(stack));
    expect((await cancel(id)).status).toBe(400);
    expect((await cancel('6f1e0c5e-6a86-4f0e-a4ad-0a1d5d0b2c11')).status).toBe(404);
  });
});

describe('The workflow of a circle', () => {
  /** Sweeps, as the schedule does once a minute. */
  const sweep = () => {
    const { client, taskQueue } = stack.deps.workflows;
    return client.workflow.execute('sweep', { taskQueue, workflowId: newId() });
  };

  it('A circle’s workflow shows operators the round and who has not paid', async () => {
    const { id, members } = await buildActiveCircle(stack, 2);
    const [first, second] = members as [BuiltUser, BuiltUser];
    await contribute(stack, first, id);
    const handle = stack.deps.workflows.client.workflow.getHandle(`saving-circle/${id}`);
    const details = await eventually(
      () => handle.query<string>('__temporal_workflow_metadata').then((metadata) => JSON.stringify(metadata)),
      (text) => text.includes('1 have not paid'),
    );
    expect(details).toContain(second.id);
    expect(details).toContain('turn 1 of 2');
    expect(details).not.toContain('Arisan Melati');
  });

  it('The sweep signals a cancelled circle’s workflow if the process died before it could', async () => {
    const { id } = await buildActiveCircle(stack, 2);
    const caller = { userId: platform.id } as Caller;
    const silent = { workflows: { wakeSavingCircle: async () => undefined } };
    await cancelCircle(stack.em(), silent, { caller, circleId: id, requestId: newId() });
    await stack.owner().execute("update saving_circles set ended_at = now() - interval '2 minutes' where id = ?", [id]);
    await sweep();
    expect(await stack.deps.workflows.client.workflow.getHandle(`saving-circle/${id}`).result()).toBe('cancelled');
  });

  it('The sweep restarts a circle’s lost workflow from its row, without its signals', async () => {
    const { id, members } = await buildActiveCircle(stack, 2);
    await loseWorkflow(stack.deps.workflows.client, `saving-circle/${id}`);
    for (const { id: userId, accountId } of members) {
      await payFromBalance(stack.em(), savingCircleContribution, {
        payer: { userId, userType: 'individual', organizationId: null },
        transactionId: newId(),
        referenceId: id,
        sourceAccountId: accountId,
        amount: '100000',
        requestId: null,
      });
    }
    const [first] = members as [BuiltUser];
    await stack
      .owner()
      .execute(
        "update saving_circle_contributions set updated_at = now() - interval '2 minutes' where saving_circle_id = ?",
        [id],
      );
    await sweep();
    await circleWhen(stack, first, id, { current_turn: 2 });
    expect(await balanceOf(stack, first.accountId)).toBe('1100000.0000');
  });
});
