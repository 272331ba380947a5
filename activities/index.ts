import type { Dependencies } from '../src/dependencies.ts';
import { createCallbackActivities } from './callbacks.ts';
import { createPaymentActivities } from './payments.ts';

/** The hands of the workflows, closed over what they work with. Their names live in histories for ever. */
export function createActivities(deps: Dependencies) {
  return { ...createPaymentActivities(deps), ...createCallbackActivities(deps) };
}

export type Activities = ReturnType<typeof createActivities>;
