import {
  allHandlersFinished,
  condition,
  defineSignal,
  defineUpdate,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';

export interface BareSteps {
  send(reference: string): Promise<void>;
  /** Returns the number to pay into. */
  request(reference: string): Promise<string>;
  settle(reference: string, path: string): Promise<void>;
  tell(reference: string): Promise<void>;
}

export const hint = defineSignal('hint');
export const awaitCode = defineUpdate<string>('awaitCode');

const { send, request, settle, tell } = proxyActivities<BareSteps>({ startToCloseTimeout: '15 seconds' });

/** The minimal payout: sent, queried after the provider's callback, one row written. */
export async function barePayout(reference: string): Promise<void> {
  let isHinted = false;
  setHandler(hint, () => {
    isHinted = true;
  });
  await send(reference);
  await condition(() => isHinted);
  await settle(reference, `/v2/payouts?reference_id=${reference}`);
}

/** The minimal collection: an instrument, the query after the callback, one row, a webhook. */
export async function bareCollection(reference: string): Promise<void> {
  let isHinted = false;
  setHandler(hint, () => {
    isHinted = true;
  });
  const code = request(reference);
  setHandler(awaitCode, () => code);
  await code;
  await condition(() => isHinted);
  await settle(reference, `/payment_requests?reference_id=${reference}`);
  await tell(reference);
  await condition(allHandlersFinished);
}
