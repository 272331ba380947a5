import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { schedules } from '../../src/wiring/temporal/prepare.ts';
import { preloadModules, workflowInterceptorModules, workflowsPath } from '../../src/wiring/worker/workflow-modules.ts';
import { recordedHistories, replayHistories, workflowOf } from './replay-histories.ts';

const root = join(import.meta.dirname, '..', '..');
let copy: string;
const inCopy = (path: string) => path.replace(root, copy);
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'amanah-workflows-'));
  for (const part of ['workflows', 'src', 'package.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

const recordingsOf = (workflow: string) => recordedHistories.filter((file) => workflowOf(file) === workflow);

/** Bundles the copied workflows with one change to a file, then restores the file. */
async function bundleWith(file: string, from: string, to: string): Promise<string> {
  const path = join(copy, file);
  const text = readFileSync(path, 'utf8');
  expect(text.split(from)).toHaveLength(2);
  writeFileSync(path, text.replace(from, to));
  try {
    const { code } = await bundleWorkflowCode({
      workflowsPath: inCopy(workflowsPath),
      workflowInterceptorModules: workflowInterceptorModules.map(inCopy),
      preloadModules: preloadModules.map(inCopy),
      logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error },
    });
    const bundle = join(copy, 'bundle.js');
    writeFileSync(bundle, code);
    return bundle;
  } finally {
    writeFileSync(path, text);
  }
}

/** Changes that look harmless, are not guarded by `patched`, and would break runs started by the previous code. */
const changes: [what: string, workflow: string, file: string, from: string, to: string][] = [
  [
    'a second query before a payment is settled',
    'gatewayPayment',
    'workflows/collect-payment.ts',
    'const said: Confirmation =',
    'await steps.confirm();\n    const said: Confirmation =',
  ],
  [
    'a payout that queries before it sends',
    'partnerPayout',
    'workflows/pay-out.ts',
    "if (isPending(run) && isNew) await proceed(run, 'send');",
    "if (isPending(run) && isNew) await proceed(run, 'ask');",
  ],
  [
    'an omitted wait',
    'partnerPayment',
    'workflows/collect-payment.ts',
    'if (wait > 0) await condition(() => hints > seen, wait);',
    '',
  ],
  [
    'an instrument that looks without waiting',
    'partnerInstrument',
    'workflows/partner-instrument.ts',
    'if (!hasMore) await condition(() => hints > seen, waitMs);',
    '',
  ],
  [
    'a batch that looks twice before it begins payouts',
    'partnerPayoutBatch',
    'workflows/partner-payout-batch.ts',
    'const batch = await lookAtPayoutBatch({ batchId });',
    'await lookAtPayoutBatch({ batchId });\n    const batch = await lookAtPayoutBatch({ batchId });',
  ],
  [
    'a circle that checks without waiting',
    'savingCircle',
    'workflows/saving-circle.ts',
    'if (left > 0) await condition(() => hints > seen, left);',
    '',
  ],
  [
    'a subscription whose row is read before each payment',
    'donationSubscription',
    'workflows/donation-subscription.ts',
    'isHinted ? await look() : await pay(standing)',
    'isHinted ? await look() : await pay(await look())',
  ],
  [
    'money confirmed twice before it is in suspense',
    'unmatchedReceipt',
    'workflows/unmatched-receipt.ts',
    '  let opened = await look();\n',
    '  await look();\n  let opened = await look();\n',
  ],
  [
    'a pause before each attempt at a webhook',
    'webhookDelivery',
    'workflows/webhook-delivery.ts',
    'const seen = asked;',
    'const seen = asked;\n    await condition(() => asked > seen, 1000);',
  ],
  [
    'a refund that waits before it is sent',
    'paymentRefund',
    'workflows/payouts.ts',
    'isNew: opening !== undefined }, reserveRefund(',
    'isNew: opening === undefined }, reserveRefund(',
  ],
  [
    'a withdrawal that asks before it sends',
    'withdrawal',
    'workflows/pay-out.ts',
    "const act = step === 'send' ? sendTransfer : askTransfer;",
    "const act = step === 'ask' ? sendTransfer : askTransfer;",
  ],
  [
    'a repeated allocation',
    'donationAllocation',
    'workflows/donation-allocation.ts',
    'return await allocateDonations(request);',
    'await allocateDonations(request);\n    return await allocateDonations(request);',
  ],
  [
    'an erasure that checks twice before it waits',
    'personErasure',
    'workflows/person-erasure.ts',
    'const { status, waitMs } = await continueErasure({ erasureId });',
    'await continueErasure({ erasureId });\n    const { status, waitMs } = await continueErasure({ erasureId });',
  ],
];

describe('Incompatible workflow changes', () => {
  it('Every workflow except scheduled ones has an incompatible change in this test', async () => {
    const exported = Object.keys(await import('../../workflows/index.ts'));
    const scheduled = schedules.map(({ workflowType }) => workflowType);
    const changed = changes.map(([, workflow]) => workflow);
    expect(changed.toSorted()).toEqual(exported.filter((name) => !scheduled.includes(name)).toSorted());
  });

  it.each(changes)(
    'Replaying recorded histories detects %s',
    async (_, workflow, file, from, to) => {
      const { broken } = await replayHistories(await bundleWith(file, from, to), recordingsOf(workflow));
      // Runs that never reached the changed code replay as before.
      expect(broken).not.toEqual([]);
      expect(broken.filter((line) => !/nondeterminism|TMPRL1100/i.test(line))).toEqual([]);
    },
    180_000,
  );

  it('A changed comment in a copied workflow does not fail the replay', async () => {
    const bundle = await bundleWith(
      'workflows/gateway-payment.ts',
      '/** A gateway payment, from',
      '/** A payment, from',
    );
    const files = recordingsOf('gatewayPayment');
    expect(await replayHistories(bundle, files)).toEqual({ replayed: files.length, broken: [] });
  }, 300_000);
});
