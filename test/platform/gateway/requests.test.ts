import { createHash } from 'node:crypto';
import type { Gateway } from '../../../src/platform/gateway/gateway.ts';
import { createXenditGateway } from '../../../src/platform/gateway/xendit/create-xendit-gateway.ts';
import { buildTransferRequest } from '../../sandbox/open-sandbox.ts';
import { openStubProvider, type StubAnswer } from './stub-provider.ts';

/** Tests which requests provably had no effect, and that the contents of a request never change. */
let provider: Awaited<ReturnType<typeof openStubProvider>>;
let gateway: Gateway;
const options = { secretKey: 'xnd_development_requests', callbackToken: 'a-callback-token', timeoutMs: 20_000 };

beforeAll(async () => {
  provider = await openStubProvider();
  gateway = createXenditGateway({ ...options, url: provider.url });
});
afterAll(() => provider.close());

const unknown = { code: 'PROVIDER_UNKNOWN' };

describe('Requests rejected by the provider with 429', () => {
  const limited = (header?: string): StubAnswer => ({
    status: 429,
    body: { error_code: 'RATE_LIMIT_EXCEEDED' },
    ...(header !== undefined && { headers: { 'retry-after': header } }),
  });
  const outcomeOf = (answer: StubAnswer) => {
    provider.answer(() => answer);
    return gateway.requestTransfer(buildTransferRequest()).catch((error) => error);
  };

  test.each([
    ['17', 17_000],
    ['0', 1_000],
    ['9999999', 60_000],
    ['soon', 5_000],
    [undefined, 5_000],
    ['Sun, 01 Jan 2023 00:00:00 GMT', 1_000],
  ])('A request that gets a 429 counts as never sent, and is retried after Retry-After: %s', async (header, restMs) => {
    expect(await outcomeOf(limited(header))).toMatchObject({ ...unknown, neverSent: true, restMs });
  });

  test('A 429 from an intermediary does not prove that the request was not executed', async () => {
    expect(await outcomeOf({ status: 429, body: '<html>' })).toMatchObject({ neverSent: false, restMs: 0 });
  });

  test('A 429 to the second of two requests does not prove that nothing was executed', async () => {
    provider.answer(({ method }) => (method === 'POST' ? { status: 500, body: {} } : limited('3')));
    const error = await gateway.expireInstrument('pm-1').catch((thrown) => thrown);
    expect(error).toMatchObject({ ...unknown, neverSent: false, restMs: 3_000 });
  });
});

describe('Requested transfers', () => {
  test('A transfer’s digest stays the same across deployments and covers everything that is sent', async () => {
    const request = buildTransferRequest({ reference: '0198c0de-0000-7000-8000-000000000001' });
    const digest = gateway.digestTransfer(request);
    // Open payouts store this digest: a change stops all their retries.
    expect(digest).toBe('858a3bddd0775e6c1a5b8a2a3da910d4b373e19b1fd1073e37aa2b95f726b0ea');
    const others = [
      { reference: '0198c0de-0000-7000-8000-000000000002' },
      { bankCode: 'BRI' },
      { accountNumber: '1234567891' },
      { accountHolder: 'Siti Rahmawat' },
      { amount: '25001' },
      { description: 'Payouts' },
    ].map((change) => gateway.digestTransfer({ ...request, ...change }));
    expect(new Set([digest, ...others]).size).toBe(others.length + 1);
    provider.answer(() => ({ status: 500, body: {} }));
    await gateway.requestTransfer(request).catch(() => {});
    const sent = JSON.stringify(provider.seen[0]?.body);
    expect(createHash('sha256').update(sent).digest('hex')).toBe(digest);
  });

  test('A transfer is not requested if a check right before the call forbids it', async () => {
    provider.answer(() => ({ status: 500, body: {} }));
    const error = await gateway
      .requestTransfer(buildTransferRequest(), { beforeSend: async () => false })
      .catch((thrown) => thrown);
    expect(error).toMatchObject({ ...unknown, neverSent: true, restMs: 0 });
    expect(provider.seen).toEqual([]);
  });
});
