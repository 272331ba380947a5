import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { advanceClock } from '../../dev/sandbox/advance-clock.ts';
import type { SandboxRefund } from '../../dev/sandbox/refund.ts';
import { findRefund, refundJob } from '../../dev/sandbox/refunds.ts';
import { openStore } from '../../dev/sandbox/store.ts';
import type { RefundRequest } from '../../src/platform/gateway/gateway.ts';
import { newId } from '../../src/shared/ids.ts';
import { itInFull } from '../support/full.ts';
import { buildInstrumentRequest, openSandbox } from './open-sandbox.ts';

let sandbox: Awaited<ReturnType<typeof openSandbox>>;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.close());

/** Creates a paid wallet payment; returns the provider's id of its request. */
async function buildPaid(channelCode = 'DANA', amount = '2000000.0000'): Promise<string> {
  const outcome = await sandbox.gateway.requestInstrument(
    buildInstrumentRequest({ method: 'ewallet', channelCode, amount }),
  );
  if (outcome.outcome !== 'accepted') throw new Error('not accepted');
  await sandbox.pay(outcome.instrument.paymentCode);
  return outcome.instrument.providerPaymentRequestId;
}
const requestOf = (refundOf: string, amount: string): RefundRequest => ({ reference: newId(), refundOf, amount });
const find = ({ reference, refundOf }: RefundRequest) => sandbox.gateway.findTransfer(reference, { refundOf });

test('A refund succeeds, is listed under its payment, and sends a callback', async () => {
  const request = requestOf(await buildPaid(), '25000.0000');
  expect(await sandbox.gateway.requestTransfer(request)).toMatchObject({
    outcome: 'accepted',
    transfer: { status: 'accepted', amount: '25000.0000', reference: request.reference },
  });
  const [callback] = await sandbox.receiver.waitFor(request.reference);
  expect(callback?.body).toMatchObject({
    event: 'refund.succeeded',
    data: {
      status: 'SUCCEEDED',
      amount: 25_000,
      reference_id: request.reference,
      payment_request_id: request.refundOf,
    },
  });
  expect(sandbox.gateway.readCallback(Buffer.from(JSON.stringify(callback?.body)))).toMatchObject({
    hint: { kind: 'transfer', reference: request.reference },
  });
  expect(await find(request)).toMatchObject({ status: 'succeeded', failureCode: null });
  expect(await sandbox.gateway.findTransfer(newId(), { refundOf: request.refundOf })).toBeNull();
});

test('A repeated refund request creates one refund, and one with another body has an unknown outcome', async () => {
  const request = requestOf(await buildPaid(), '25000.0000');
  await sandbox.gateway.requestTransfer(request);
  await sandbox.gateway.requestTransfer(request);
  await expect(sandbox.gateway.requestTransfer({ ...request, amount: '26000.0000' })).rejects.toMatchObject({
    code: 'PROVIDER_UNKNOWN',
  });
  const { body } = await sandbox.get(`/sandbox/records?reference_id=${request.reference}`);
  expect(body).toMatchObject({ refunds: [{ amount: 25_000 }] });
});

test.each([
  ['121212 is refused', '121212.0000', 'INELIGIBLE_TRANSACTION'],
  ['more than the payment is refused', '2000001.0000', 'MAXIMUM_REFUND_AMOUNT_REACHED'],
])('A refund of %s', async (_, amount, code) => {
  const request = requestOf(await buildPaid(), amount);
  expect(await sandbox.gateway.requestTransfer(request)).toMatchObject({ outcome: 'refused', code });
  expect(await find(request)).toBeNull();
});

test('A partial refund of a LinkAja payment is refused, and so is one of a virtual account payment', async () => {
  const part = requestOf(await buildPaid('LINKAJA'), '1000.0000');
  expect(await sandbox.gateway.requestTransfer(part)).toMatchObject({ code: 'PARTIAL_REFUND_NOT_SUPPORTED' });
  const made = await sandbox.gateway.requestInstrument(buildInstrumentRequest());
  if (made.outcome !== 'accepted') throw new Error('not accepted');
  const refund = requestOf(made.instrument.providerPaymentRequestId, '1000.0000');
  expect(await sandbox.gateway.requestTransfer(refund)).toMatchObject({ code: 'REFUND_NOT_SUPPORTED' });
});

test('A refund of 999999 is accepted, then fails; one of 131313 stays accepted until settled by hand', async () => {
  const refundOf = await buildPaid();
  const failing = requestOf(refundOf, '999999.0000');
  await sandbox.gateway.requestTransfer(failing);
  const [callback] = await sandbox.receiver.waitFor(failing.reference);
  expect(callback?.body).toMatchObject({ event: 'refund.failed', data: { failure_code: 'REFUND_FAILED' } });
  expect(await find(failing)).toMatchObject({ status: 'failed', failureCode: 'REFUND_FAILED' });
  const late = requestOf(refundOf, '131313.0000');
  await sandbox.gateway.requestTransfer(late);
  expect(await find(late)).toMatchObject({ status: 'accepted' });
  await sandbox.post('/sandbox/refunds/settle', { reference_id: late.reference, status: 'SUCCEEDED' });
  expect(await find(late)).toMatchObject({ status: 'succeeded' });
});

itInFull(
  'A refund of 900003 takes effect without a response; a refund of 900004 has no effect and no response',
  async () => {
    const refundOf = await buildPaid();
    for (const [amount, state] of [
      ['900003.0000', { status: expect.stringMatching(/accepted|succeeded/) }],
      ['900004.0000', null],
    ] as const) {
      const request = requestOf(refundOf, amount);
      await expect(sandbox.hurried.requestTransfer(request)).rejects.toMatchObject({ code: 'PROVIDER_UNKNOWN' });
      const found = await find(request);
      if (state === null) expect(found).toBeNull();
      else expect(found).toMatchObject(state);
    }
  },
);

test('Refunds reduce the balance and are listed in the provider’s records', async () => {
  const from = new Date();
  const request = requestOf(await buildPaid(), '30000.0000');
  const before = Number(await sandbox.gateway.readBalance());
  await sandbox.gateway.requestTransfer(request);
  await sandbox.receiver.waitFor(request.reference);
  expect(before - Number(await sandbox.gateway.readBalance())).toBe(30_000);
  const records: object[] = [];
  const period = { from, to: new Date(Date.now() + 1000) };
  for await (const page of sandbox.gateway.listRecords(period)) records.push(...page);
  expect(records).toContainEqual(
    expect.objectContaining({
      kind: 'transfer',
      reference: request.reference,
      amount: '30000.0000',
      status: 'succeeded',
    }),
  );
});

test('Advancing the clock completes a late refund, including its second step', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sandbox-'));
  const store = openStore(directory);
  const hour = 3_600_000;
  const late: SandboxRefund = {
    id: 'rfd-late',
    requestId: 'pr-late',
    referenceId: newId(),
    idempotencyKey: newId(),
    channelCode: 'DANA',
    amount: 25_000,
    reason: 'REQUESTED_BY_CUSTOMER',
    metadata: null,
    status: 'PENDING',
    failureCode: null,
    steps: [
      { afterMs: hour, status: 'SUCCEEDED', failureCode: null },
      { afterMs: hour, status: 'FAILED', failureCode: 'REFUND_FAILED' },
    ],
    created: new Date().toISOString(),
    updated: new Date().toISOString(),
  };
  store.run(
    'insert into refunds (id, request_id, reference_id, next_at, document) values (?, ?, ?, ?, ?)',
    late.id,
    late.requestId,
    late.referenceId,
    Date.now() + hour,
    JSON.stringify(late),
  );
  const statusAfter = (ms: number) => {
    const { refunds } = advanceClock(store, ms);
    refundJob(store).run(Date.now());
    return [refunds, findRefund(store, late.id)?.status];
  };
  expect(statusAfter(1_000)).toEqual([1, 'PENDING']);
  expect(statusAfter(1.5 * hour)).toEqual([1, 'SUCCEEDED']);
  expect(statusAfter(hour)).toEqual([1, 'FAILED']);
  expect(statusAfter(hour)).toEqual([0, 'FAILED']);
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

test('A refund that waits for an operator is on the sandbox page and can be settled there', async () => {
  const request = requestOf(await buildPaid(), '131313.0000');
  await sandbox.gateway.requestTransfer(request);
  const list = await (await fetch(`${sandbox.url}/`)).text();
  const [path = ''] = /\/refunds\/[\w-]+\/by-hand/.exec(list) ?? [];
  const press = (status: string) =>
    fetch(sandbox.url + path, { method: 'POST', body: new URLSearchParams({ status }), redirect: 'manual' });
  expect((await press('REVERSED')).status).toBe(400);
  expect((await press('FAILED')).status).toBe(303);
  expect(await (await fetch(sandbox.url + path)).text()).toContain('This refund is failed (REFUND_FAILED)');
});
