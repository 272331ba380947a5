import { proxyActivities } from '@temporalio/workflow';
import type { Transfer, TransferSteps } from './transfer.ts';

const steps = proxyActivities<TransferSteps>({
  startToCloseTimeout: '5s',
  retry: { initialInterval: '100ms', maximumInterval: '2s' },
});

/** Moves money to the other cell. The money stays in transit until the destination returns a verdict. */
export async function transferBetweenCells(transfer: Transfer): Promise<string> {
  await steps.sendTransfer(transfer);
  const verdict = await steps.askForVerdict(transfer);
  await steps.concludeTransfer(transfer.id, verdict);
  return verdict;
}
