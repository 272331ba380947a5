import { itInFull } from '../support/full.ts';
import { buildTransferRequest, openSandbox } from './open-sandbox.ts';

let sandbox: Awaited<ReturnType<typeof openSandbox>>;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.close());

const recordsOf = async (reference: string) =>
  (await sandbox.get(`/sandbox/records?reference_id=${reference}`)).body.transfers;

/** Waits until a transfer that was requested later has completed. */
async function anotherEnds(): Promise<void> {
  const request = buildTransferRequest();
  await sandbox.gateway.requestTransfer(request);
  await sandbox.receiver.waitFor(request.reference);
}

const eventsOf = (reference: string) => sandbox.receiver.of(reference).map(({ body }) => body.event);

describe('Transfers to magic account numbers, by their last six digits', () => {
  test('A transfer to an ordinary account number succeeds within seconds', async () => {
    const request = buildTransferRequest();
    expect(await sandbox.gateway.requestTransfer(request)).toMatchObject({
      outcome: 'accepted',
      transfer: { status: 'accepted', amount: '25000.0000', reference: request.reference },
    });
    const [callback] = await sandbox.receiver.waitFor(request.reference);
    expect(callback?.body).toMatchObject({
      event: 'payout.succeeded',
      data: { status: 'SUCCEEDED', amount: 25_000, channel_code: 'ID_BCA', reference_id: request.reference },
    });
    const [transfer] = await recordsOf(request.reference);
    expect(Date.parse(transfer?.updated ?? '') - Date.parse(transfer?.created ?? '')).toBeLessThan(10_000);
    expect(await sandbox.gateway.findTransfer(request.reference)).toMatchObject({ status: 'succeeded' });
  });

  test('A transfer to …121212 is refused with INVALID_DESTINATION and leaves no record', async () => {
    const request = buildTransferRequest({ accountNumber: '4321121212' });
    expect(await sandbox.gateway.requestTransfer(request)).toMatchObject({
      outcome: 'refused',
      code: 'INVALID_DESTINATION',
    });
    expect(await recordsOf(request.reference)).toEqual([]);
  });

  test.each([
    ['999999', 'REJECTED_BY_CHANNEL'],
    ['123456', 'TEMPORARY_TRANSFER_ERROR'],
  ])('A transfer to …%s is accepted, then fails with %s', async (digits, failureCode) => {
    const request = buildTransferRequest({ accountNumber: `0000${digits}` });
    expect(await sandbox.gateway.requestTransfer(request)).toMatchObject({ outcome: 'accepted' });
    const [callback] = await sandbox.receiver.waitFor(request.reference);
    expect(callback?.body).toMatchObject({ event: 'payout.failed', data: { failure_code: failureCode } });
    expect(await sandbox.gateway.findTransfer(request.reference)).toMatchObject({ status: 'failed', failureCode });
  });

  test('A transfer to …131313 stays accepted until it is settled by hand', async () => {
    const request = buildTransferRequest({ accountNumber: '0000131313' });
    await sandbox.gateway.requestTransfer(request);
    await anotherEnds();
    expect(await sandbox.gateway.findTransfer(request.reference)).toMatchObject({ status: 'accepted' });
    expect(eventsOf(request.reference)).toEqual([]);
    await sandbox.post('/sandbox/payouts/settle', { reference_id: request.reference, status: 'SUCCEEDED' });
    await sandbox.receiver.waitFor(request.reference);
    expect(await sandbox.gateway.findTransfer(request.reference)).toMatchObject({ status: 'succeeded' });
  });

  itInFull('A transfer to …654321 succeeds and is then reversed', async () => {
    const request = buildTransferRequest({ accountNumber: '0000654321' });
    await sandbox.gateway.requestTransfer(request);
    await sandbox.receiver.waitFor(request.reference);
    expect(await sandbox.gateway.findTransfer(request.reference)).toMatchObject({ status: 'succeeded' });
    await sandbox.receiver.waitFor(request.reference, 2);
    expect(eventsOf(request.reference)).toEqual(['payout.succeeded', 'payout.reversed']);
    expect(await sandbox.gateway.findTransfer(request.reference)).toMatchObject({ status: 'reversed' });
  });

  test('A transfer to …900003 takes effect once and gets no response', async () => {
    const request = buildTransferRequest({ accountNumber: '0000900003' });
    for (const attempt of [sandbox.hurried.requestTransfer(request), sandbox.hurried.requestTransfer(request)]) {
      await expect(attempt).rejects.toMatchObject({ code: 'PROVIDER_UNKNOWN' });
    }
    expect(await recordsOf(request.reference)).toHaveLength(1);
    expect(await sandbox.gateway.findTransfer(request.reference)).toMatchObject({ status: 'succeeded' });
  });

  test('A transfer to …900004 has no effect and gets no response', async () => {
    const request = buildTransferRequest({ accountNumber: '0000900004' });
    await expect(sandbox.hurried.requestTransfer(request)).rejects.toMatchObject({ code: 'PROVIDER_UNKNOWN' });
    expect(await sandbox.gateway.findTransfer(request.reference)).toBeNull();
    expect(await recordsOf(request.reference)).toEqual([]);
  });

  itInFull('The first transfer to …900005 under a key has no effect and no response; the second succeeds', async () => {
    const request = buildTransferRequest({ accountNumber: '0000900005' });
    await expect(sandbox.hurried.requestTransfer(request)).rejects.toMatchObject({ code: 'PROVIDER_UNKNOWN' });
    expect(await recordsOf(request.reference)).toEqual([]);
    for (let time = 0; time < 2; time += 1) {
      expect(await sandbox.gateway.requestTransfer(request)).toMatchObject({ outcome: 'accepted' });
    }
    expect(await recordsOf(request.reference)).toHaveLength(1);
  });

  test('An idempotency key reused with another body creates no second transfer', async () => {
    const request = buildTransferRequest();
    await sandbox.gateway.requestTransfer(request);
    await expect(sandbox.gateway.requestTransfer({ ...request, amount: '25001' })).rejects.toMatchObject({
      code: 'PROVIDER_UNKNOWN',
    });
    expect(await recordsOf(request.reference)).toHaveLength(1);
  });
});

describe('Settling by hand', () => {
  test('A final transfer can be settled again by hand, with a callback each time, to test contradictions', async () => {
    const request = buildTransferRequest();
    await sandbox.gateway.requestTransfer(request);
    await sandbox.receiver.waitFor(request.reference);
    const settle = (status: string) =>
      sandbox.post('/sandbox/payouts/settle', { reference_id: request.reference, status });
    await settle('FAILED');
    await sandbox.receiver.waitFor(request.reference, 2);
    expect(await sandbox.gateway.findTransfer(request.reference)).toMatchObject({
      status: 'failed',
      failureCode: 'REJECTED_BY_CHANNEL',
    });
    await settle('SUCCEEDED');
    await sandbox.receiver.waitFor(request.reference, 3);
    expect(await sandbox.gateway.findTransfer(request.reference)).toMatchObject({
      status: 'succeeded',
      failureCode: null,
    });
    expect(eventsOf(request.reference)).toEqual(['payout.succeeded', 'payout.failed', 'payout.succeeded']);
  });

  test('Settling by hand replaces a transfer’s planned outcome, and an unknown reference returns 404', async () => {
    const request = buildTransferRequest({ accountNumber: '0000654321' });
    await sandbox.gateway.requestTransfer(request);
    await sandbox.post('/sandbox/payouts/settle', { reference_id: request.reference, status: 'FAILED' });
    await anotherEnds();
    expect(await sandbox.gateway.findTransfer(request.reference)).toMatchObject({ status: 'failed' });
    const unknown = await sandbox.post('/sandbox/payouts/settle', { reference_id: 'nobody', status: 'FAILED' });
    expect(unknown.status).toBe(404);
  });
});
