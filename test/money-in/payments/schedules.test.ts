import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Koa from 'koa';
import { probes } from '../../../src/platform/http/probes.ts';
import { newId } from '../../../src/shared/ids.ts';
import { forgetScheduledRuns } from '../../../src/wiring/temporal/forget-scheduled-runs.ts';
import { ensureSchedules, keepPrepared, schedules } from '../../../src/wiring/temporal/prepare.ts';
import { searchAttributeKeys } from '../../../src/wiring/temporal/search-attributes.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../../support/build.ts';
import { casesOf, itInFull } from '../../support/full.ts';
import { createHttp } from '../../support/http.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let payer: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  payer = await buildIndividual(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const topUp = async () => {
  const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
  return (await stack.post('/v1/payments/gateway', body, { token: payer.token })).body.data;
};
const statusOf = async (id: string) =>
  (await stack.get(`/v1/payments/orders/${id}`, { token: payer.token })).body.data.status;
const trigger = (id: string) =>
  stack.deps.workflows.client.schedule.getHandle(`${stack.deps.workflows.taskQueue}/${id}`).trigger();

describe('The schedules', () => {
  it('Every schedule exists and starts its workflow when triggered', async () => {
    const ids = schedules.map(({ scheduleId }) => scheduleId);
    await Promise.all(ids.map(trigger));
    const { client, taskQueue } = stack.deps.workflows;
    for (const id of ids) {
      await eventually(
        async () => [id, (await client.schedule.getHandle(`${taskQueue}/${id}`).describe()).info.recentActions.length],
        ([, count]) => Number(count) > 0,
      );
    }
  }, 60_000);

  it('Histories of sweeps are deleted after a day; those of nightly runs are kept', async () => {
    const { client, taskQueue } = stack.deps.workflows;
    const completed = async (type: string) => {
      const query = `TaskQueue = '${taskQueue}' and WorkflowType = '${type}' and ExecutionStatus = 'Completed'`;
      const ids: string[] = [];
      for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
      return ids;
    };
    const completedOnce = (type: string) =>
      eventually(
        () => completed(type),
        (ids) => ids.length > 0,
      );
    await Promise.all(['sweep', 'journal-seals'].map(trigger));
    const [sweeps, seals] = await Promise.all([completedOnce('sweep'), completedOnce('sealJournals')]);
    expect(await forgetScheduledRuns(client, taskQueue)).toBe(0);
    expect(await forgetScheduledRuns(client, taskQueue, { keptMs: 0 })).toBeGreaterThan(0);
    // Temporal deletes in the background, half a minute later or more.
    await eventually(
      () => completed('sweep'),
      (ids) => !ids.some((id) => sweeps.includes(id)),
      180_000,
    );
    expect(await completed('sealJournals')).toEqual(expect.arrayContaining(seals));
  }, 240_000);

  it('The reconciliation schedule runs daily at 02:00 (UTC+7) and catches up on missed runs for a day', async () => {
    const { client, taskQueue } = stack.deps.workflows;
    const { policies, spec } = await client.schedule.getHandle(`${taskQueue}/reconciliation`).describe();
    expect(policies.catchupWindow).toBe(86_400_000);
    expect(spec.intervals).toMatchObject([{ every: 86_400_000, offset: 68_400_000 }]);
  });

  itInFull(
    'Schedules that Temporal loses while workers run are recreated, the last one only after beginAnew succeeds',
    async () => {
      const { client } = stack.deps.workflows;
      const taskQueue = `kept/${newId()}`;
      const last = schedules.at(-1)?.scheduleId;
      const isThere = (id = '') =>
        client.schedule
          .getHandle(`${taskQueue}/${id}`)
          .describe()
          .then(
            () => true,
            () => false,
          );
      // If the last schedule exists, all do.
      const lost = casesOf(schedules, ({ scheduleId }, index) => index === 0 || scheduleId === last);
      const lastWasThere: boolean[] = [];
      const beginAnew = async () => {
        lastWasThere.push(await isThere(last));
        if (lastWasThere.length % 2 === 1) throw new Error('the database is down for a moment');
      };
      const { TEMPORAL_NAMESPACE: namespace = 'default' } = stack.env;
      await using _kept = await keepPrepared({ client, namespace, taskQueue, log: stack.deps.log, beginAnew }, 200);
      for (const times of [2, 4]) {
        await eventually(
          () => isThere(last),
          (there) => there,
        );
        expect(lastWasThere).toEqual(Array(times).fill(false));
        for (const { scheduleId } of lost) {
          await eventually(
            async () => [scheduleId, await isThere(scheduleId)],
            ([, there]) => there === true,
          );
        }
        if (times === 2) {
          for (const { scheduleId } of lost) await client.schedule.getHandle(`${taskQueue}/${scheduleId}`).delete();
        }
      }
      await _kept[Symbol.asyncDispose]();
      await Promise.all(
        schedules.map(({ scheduleId }) => client.schedule.getHandle(`${taskQueue}/${scheduleId}`).delete()),
      );
    },
    60_000,
  );

  it('Creating the schedules runs beginAnew outside the deadline of every Temporal call', async () => {
    const { client: real } = stack.deps.workflows;
    let inDeadline = 0;
    const client: typeof real = Object.create(real, {
      withDeadline: {
        value: async (deadline: number, call: () => Promise<unknown>) => {
          inDeadline += 1;
          return real.withDeadline(deadline, call).finally(() => (inDeadline -= 1));
        },
      },
    });
    const taskQueue = `long/${newId()}`;
    const begun: number[] = [];
    const beginAnew = async () => void begun.push(inDeadline);
    const made = await ensureSchedules({ client, taskQueue, log: stack.deps.log, beginAnew });
    expect(made).toBe(schedules.length);
    expect(begun).toEqual([0]);
    await Promise.all(
      schedules.map(({ scheduleId }) => real.schedule.getHandle(`${taskQueue}/${scheduleId}`).delete()),
    );
  }, 60_000);

  it('A worker is not ready while Temporal lacks a search attribute, and /readyz names it', async () => {
    const { client: real } = stack.deps.workflows;
    const { connection } = real;
    let isLacking = true;
    const operatorService: Partial<typeof connection.operatorService> = Object.create(connection.operatorService, {
      addSearchAttributes: { value: () => Promise.reject(Object.assign(new Error('denied'), { code: 7 })) },
      listSearchAttributes: {
        value: async (request: object) => {
          const listed = await connection.operatorService.listSearchAttributes(request);
          if (isLacking) delete listed.customAttributes.PartnerId;
          return listed;
        },
      },
    });
    const client: typeof real = Object.create(real, {
      connection: { value: Object.create(connection, { operatorService: { value: operatorService } }) },
    });
    const { TEMPORAL_NAMESPACE: namespace = 'default' } = stack.env;
    const { log, workflows } = stack.deps;
    const place = { client, namespace, taskQueue: workflows.taskQueue, log, beginAnew: async () => undefined };
    await using prepared = await keepPrepared(place, 200);
    const app = new Koa();
    app.use(probes({ database: async () => undefined, search_attributes: prepared.ready }, null).routes());
    const server = app.listen(0);
    await once(server, 'listening');
    const { get } = createHttp(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const checks = { database: 'ok', search_attributes: 'missing: PartnerId (Keyword)' };
    expect(await get('/readyz')).toMatchObject({ status: 503, body: { status: 'not ready', checks } });
    const reference = readFileSync(join(import.meta.dirname, '../../../docs/reference.md'), 'utf8').replaceAll(
      '\\\n',
      '',
    );
    for (const { name, type } of Object.values(searchAttributeKeys)) {
      expect(reference).toMatch(new RegExp(`--name ${name} --type ${type}\\b`, 'i'));
    }
    isLacking = false;
    await eventually(
      () => get('/readyz'),
      ({ status }) => status === 200,
    );
    server.close();
  });

  it('The schedule callback-redelivery delivers a callback that was stored but not delivered', async () => {
    await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
    const order = await topUp();
    await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code });
    await stack.owner().execute(
      `with key as (insert into callback_keys (webhook_id, body_digest, callback_id) values (?, '', ?) returning *)
       insert into gateway_callbacks (id, webhook_id, event, kind, reference, body_sealed, body_digest, body_bytes,
         received_at)
       select callback_id, webhook_id, 'payment.succeeded', 'payment', ?, '', body_digest, 0,
         now() - interval '1 minute' from key`,
      [newId(), newId(), order.payment_order_id],
    );
    await trigger('callback-redelivery');
    await eventually(
      () => statusOf(order.payment_order_id),
      (status) => status === 'PAID',
    );
    expect(await balanceOf(stack, payer.accountId)).toBe('50000.0000');
    await stack.sandbox.put('/sandbox/faults', {});
  });

  it('The sweep restarts the lost workflow of an overdue order', async () => {
    const order = await topUp();
    const workflow = stack.deps.workflows.client.workflow.getHandle(`gateway-payment/${order.payment_order_id}`);
    await workflow.terminate('lost');
    await stack
      .owner()
      .execute("update payment_orders set expires_at = now() - interval '1 hour' where id = ?", [
        order.payment_order_id,
      ]);
    await trigger('sweep');
    await eventually(
      () => statusOf(order.payment_order_id),
      (status) => status === 'EXPIRED',
    );
  });
});
