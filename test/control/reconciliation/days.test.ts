import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { westernIndonesiaDay } from '../../../src/shared/clock.ts';
import { newId } from '../../../src/shared/ids.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { testRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';

let stack: ProcessStack;
beforeAll(async () => {
  stack = await startProcessStack();
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

/** More records than fit on one page of the provider. */
const records = 51;
const dayMs = 24 * 60 * 60 * 1000;
const yesterday = westernIndonesiaDay(new Date(Date.now() - dayMs));

/** Moves the payments of a code back by a day in the provider's own file, as the schedule compares only past days. */
function agePayments(paymentCode: string): void {
  const directory = join(testRun().directory, stack.env.TEMPORAL_TASK_QUEUE ?? '', 'sandbox');
  const file = new DatabaseSync(join(directory, 'sandbox.db'));
  file.exec('pragma busy_timeout = 5000');
  const age = `update payments set document = json_set(document, '$.created', ?)
    where method_id = (select method_id from instruments where payment_code = ?)`;
  expect(file.prepare(age).run(`${yesterday}T05:00:00.000Z`, paymentCode).changes).toBe(records);
  file.close();
}

interface DayRow {
  state: string;
  phase: string;
  cursor: string | null;
  compared: number;
  takes: number;
  started_at: Date;
  finished_at: Date | null;
}
const readDay = async (): Promise<DayRow | undefined> =>
  (await stack.em().execute<DayRow[]>('select * from reconciled_days where day = ?', [yesterday]))[0];

describe('Reconciliation whose worker is killed with SIGKILL', () => {
  it('Reconciliation resumes at the next page if its worker is killed in the middle of a day', async () => {
    await stack.sandbox.put('/sandbox/faults', { callbacks: { drop: true } });
    const made = await stack.deps.gateways.of('xendit').requestInstrument({
      reference: newId(),
      method: 'virtual_account',
      channelCode: 'BCA',
      amount: '50000',
      expiresAt: new Date(Date.now() + 3_600_000),
      returnUrl: stack.url,
    });
    const payment_code = made.outcome === 'accepted' ? made.instrument.paymentCode : '';
    for (let n = 0; n < records; n += 1) await stack.sandbox.post('/sandbox/decline', { payment_code });
    agePayments(payment_code);

    stack.arm('reconcile-day.page=kill');
    const { client, taskQueue } = stack.deps.workflows;
    await client.workflow.start('reconciliation', { workflowId: `${taskQueue}/killed`, taskQueue });
    await stack.worker.exited;
    const left = await readDay();
    expect(left).toMatchObject({ state: 'running', phase: 'records', compared: 50, cursor: expect.any(String) });

    await stack.restart();
    await eventually(readDay, (day) => day?.finished_at != null, 60_000);
    expect(await readDay()).toMatchObject({ compared: records, takes: 2, started_at: left?.started_at });
    expect(await stack.em().execute('select * from reconciled_records where day = ?', [yesterday])).toEqual([]);
  }, 90_000);
});
