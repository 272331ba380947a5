import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../dev/ports.ts';
import { createXenditGateway } from '../../src/platform/gateway/xendit/create-xendit-gateway.ts';
import { eventually } from '../support/eventually.ts';
import { itInFull } from '../support/full.ts';
import { buildInstrumentRequest, buildTransferRequest, callbackToken, secretKey } from './open-sandbox.ts';
import { openReceiver } from './receiver.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'sandbox-restart-'));
let receiver: Awaited<ReturnType<typeof openReceiver>>;
let port: number;
let child: ChildProcess;

async function start(): Promise<void> {
  child = spawn(process.execPath, ['--no-warnings', join(import.meta.dirname, '../../dev/sandbox/main.ts')], {
    env: {
      SANDBOX_PORT: String(port),
      SANDBOX_DATA_DIR: dataDir,
      SANDBOX_CALLBACK_URL: receiver.url,
      SANDBOX_CALLBACK_TOKEN: callbackToken,
      SANDBOX_SECRET_KEY: secretKey,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [message] = await once(child, 'message');
  expect(message).toBe('ready');
}

async function end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  const exited = once(child, 'exit');
  child.kill(signal);
  const [code, ended] = await exited;
  return { code, signal: ended };
}

const gatewayOf = () =>
  createXenditGateway({ secretKey, url: `http://127.0.0.1:${port}`, callbackToken, timeoutMs: 20_000 });

const control = (method: string, path: string, body: object) =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Returns a callback's state as stored by the sandbox. */
function stateOf(webhookId: string): unknown {
  using file = new DatabaseSync(join(dataDir, 'sandbox.db'), { readOnly: true });
  return file.prepare('select state from callbacks where webhook_id = ?').get(webhookId)?.state;
}

beforeAll(async () => {
  receiver = await openReceiver();
  port = await findFreePort();
  await start();
});
afterAll(async () => {
  if (child.exitCode === null && child.signalCode === null) await end('SIGKILL');
  await receiver.close();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('The sandbox as a process', () => {
  test('The sandbox’s data, keys and faults survive kill -9, and a pending transfer continues', async () => {
    const gateway = gatewayOf();
    const request = buildInstrumentRequest();
    const transfer = buildTransferRequest({ accountNumber: '0000131313' });
    const underWay = buildTransferRequest({ accountNumber: '0000654321' });
    const issued = await gateway.requestInstrument(request);
    await gateway.requestTransfer(transfer);
    await gateway.requestTransfer(underWay);
    await control('PUT', '/sandbox/faults', { callbacks: { copies: 2 } });
    await end('SIGKILL');
    await start();
    expect(await gateway.requestInstrument(request)).toEqual(issued);
    expect(await gateway.findTransfer(transfer.reference)).toMatchObject({ status: 'accepted' });
    const faults = await fetch(`http://127.0.0.1:${port}/sandbox/faults`);
    expect(await faults.json()).toMatchObject({ callbacks: { copies: 2 } });
    await control('PUT', '/sandbox/faults', {});
    await receiver.waitFor(underWay.reference, 2);
    await eventually(
      () => gateway.findTransfer(underWay.reference),
      (found) => found?.status === 'reversed',
    );
  });

  itInFull('A failed callback is resent once within ten seconds of the sandbox’s next start', async () => {
    const gateway = gatewayOf();
    const request = buildInstrumentRequest();
    const issued = await gateway.requestInstrument(request);
    if (issued.outcome !== 'accepted') throw new Error(issued.code);
    receiver.answerWith(500);
    await control('POST', '/sandbox/pay', { payment_code: issued.instrument.paymentCode });
    const [refused] = await receiver.waitFor(request.reference);
    // Wait until retries have grown their interval past the restart.
    await sleep(1_500);
    await end('SIGKILL');
    const before = receiver.of(request.reference).length;
    receiver.answerWith(200);
    await start();
    const startedAt = Date.now();
    const all = await receiver.waitFor(request.reference, before + 1);
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    expect(all.at(-1)?.webhookId).toBe(refused?.webhookId);
    expect(all.at(-1)?.text).toBe(refused?.text);
    // Wait until the answer is stored, because otherwise the sandbox would send the callback again.
    await eventually(
      async () => stateOf(String(refused?.webhookId)),
      (state) => state === 'delivered',
    );
    await end('SIGKILL');
    await start();
    await sleep(500);
    expect(receiver.of(request.reference)).toHaveLength(before + 1);
  });

  itInFull('A callback is resent until it gets a 2xx, and not afterwards', async () => {
    const gateway = gatewayOf();
    const request = buildTransferRequest();
    receiver.answerWith(503, 503, 204);
    await gateway.requestTransfer(request);
    await receiver.waitFor(request.reference, 3);
    await sleep(1_000);
    expect(receiver.of(request.reference)).toHaveLength(3);
  });

  test('The sandbox exits on SIGTERM and when its parent disconnects', async () => {
    expect(await end('SIGTERM')).toEqual({ code: 0, signal: null });
    await start();
    const exited = once(child, 'exit');
    child.disconnect();
    expect((await exited)[0]).toBe(0);
  });

  test('The sandbox reports a missing setting in one sentence', async () => {
    const failing = spawn(process.execPath, [join(import.meta.dirname, '../../dev/sandbox/main.ts')], {
      env: { SANDBOX_PORT: '0' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    failing.stderr?.on('data', (chunk) => {
      said += String(chunk);
    });
    const [code] = await once(failing, 'close');
    expect(code).toBe(1);
    expect(said).toMatch(/^The sandbox cannot start: .*SANDBOX_DATA_DIR.*\n$/);
  });
});
