import { allHandlersFinished, condition, defineUpdate, proxyActivities, setHandler } from '@temporalio/workflow';

interface BareActivities {
  callProvider(input: { reference: string }): Promise<string>;
}
const { callProvider } = proxyActivities<BareActivities>({ startToCloseTimeout: '15 seconds' });

export const awaitAnswer = defineUpdate<string>('awaitAnswer');

/** The minimal payment by workflow: one HTTP call, an early return, and a wait of a day. */
export async function barePayment(input: { reference: string }): Promise<void> {
  const answer = callProvider(input);
  setHandler(awaitAnswer, () => answer);
  await answer;
  await condition(() => false, '24 hours');
  await condition(allHandlersFinished);
}
