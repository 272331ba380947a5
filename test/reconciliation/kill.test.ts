import { westernIndonesiaDay } from '../../src/shared/clock.ts';
import { newId } from '../../src/shared/ids.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';

let stack: ProcessStack;
beforeAll(async () => {
  stack = await startProcessStack();
}, 90_000);
afterAll(() => stack.stop());
afterEach(() => expectChecksEmpty(stack));

/** More than fit on one of the provider's pages. */
const records = 60;
const today = westernIndonesiaDay(new Date());

interface DayRow {
  state: string;
  phase: string;
  cursor: string | null;
  compared: number;
  takes: number;
  started_at: Date;
}
const readDay = async (): Promise<DayRow | undefined> =>
  (await stack.em().execute<DayRow[]>('select * from reconciled_days where day = ?', [today]))[0];

describe('After kill -9 of the worker', () => {
  it('in the middle of a day, reconciliation goes on with the next page and never begins anew', async () => {
    await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
    const made = await stack.deps.gateway.requestInstrument({
      reference: newId(),
      method: 'virtual_account',
      channelCode: 'BCA',
      amount: '50000',
      expiresAt: new Date(Date.now() + 3_600_000),
      returnUrl: stack.url,
    });
    const payment_code = made.outcome === 'accepted' ? made.instrument.paymentCode : '';
    for (let n = 0; n < records; n += 1) await stack.sandbox.post('/sandbox/decline', { payment_code });
    // So that the day counts as over, and a run that died is gone on with.
    await stack.em().execute("insert into reconciled_days (day, state) values (?, 'pending')", [today]);

    stack.arm('reconcile-day.page=kill');
    const { client, taskQueue } = stack.deps.temporal;
    await client.workflow.start('reconciliation', { workflowId: `${taskQueue}/killed`, taskQueue });
    await stack.worker.exited;
    const left = await readDay();
    expect(left).toMatchObject({ state: 'running', phase: 'records', compared: 50, cursor: expect.any(String) });

    await stack.restart();
    await eventually(readDay, (day) => day?.state === 'done', 60_000);
    expect(await readDay()).toMatchObject({ compared: records, takes: 2, started_at: left?.started_at });
    expect(await stack.em().execute('select * from reconciled_records')).toEqual([]);
  }, 90_000);
});
