import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox } from '../../dev/sandbox/start-sandbox.ts';
import type { InstrumentRequest, TransferRequest } from '../../src/platform/gateway/gateway.ts';
import { createXenditGateway } from '../../src/platform/gateway/xendit/create-xendit-gateway.ts';
import { newId } from '../../src/shared/ids.ts';
import { openReceiver } from './receiver.ts';

export const secretKey = 'xnd_development_sandbox_tests';
export const callbackToken = 'a-callback-token-of-the-tests';

/** The fields of the control endpoints' responses; each endpoint returns some. */
interface ControlAnswer {
  id: string;
  payments: { id: string; reference_id: string; status: string; payments: object[] }[];
  transfers: { id: string; reference_id: string; status: string; created: string; updated: string }[];
  webhooks: { seq: number; headers: Record<string, string>; body: string }[];
  requests: { hang_rate: number };
}

/** Opens a sandbox in this process with its own data directory, an endpoint for its callbacks, and a gateway to it. */
export async function openSandbox() {
  const dataDir = mkdtempSync(join(tmpdir(), 'sandbox-'));
  const receiver = await openReceiver();
  const sandbox = await startSandbox({ port: 0, dataDir, secretKey, callbackToken, callbackUrl: receiver.url });
  const open = (timeoutMs: number) => createXenditGateway({ secretKey, url: sandbox.url, callbackToken, timeoutMs });
  const call = async (method: string, path: string, body?: object) => {
    const answer = await fetch(sandbox.url + path, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: answer.status, body: (await answer.json()) as ControlAnswer };
  };
  return {
    url: sandbox.url,
    gateway: open(20_000),
    /** For requests that are never answered. */
    hurried: open(500),
    receiver,
    post: (path: string, body: object) => call('POST', path, body),
    get: (path: string) => call('GET', path),
    pay: (payment_code: string, amount?: number) =>
      call('POST', '/sandbox/pay', { payment_code, ...(amount === undefined ? {} : { amount }) }),
    setFaults: (faults: object) => call('PUT', '/sandbox/faults', faults),
    async close() {
      await sandbox.stop();
      await receiver.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Builds a request for an instrument with a new reference. */
export function buildInstrumentRequest(changes: Partial<InstrumentRequest> = {}): InstrumentRequest {
  return {
    reference: newId(),
    method: 'virtual_account',
    channelCode: 'BRI',
    amount: '15000.0000',
    expiresAt: new Date(Date.now() + 3_600_000),
    description: 'Top-up',
    customer: { name: 'Siti Rahmawati', phone: '081234567890' },
    returnUrl: 'http://localhost:3000/done',
    ...changes,
  };
}

/** Builds a request for a transfer with a new reference. */
export function buildTransferRequest(changes: Partial<TransferRequest> = {}): TransferRequest {
  return {
    reference: newId(),
    bankCode: 'BCA',
    accountNumber: '1234567890',
    accountHolder: 'Siti Rahmawati',
    amount: '25000.0000',
    description: 'Payout',
    ...changes,
  };
}
