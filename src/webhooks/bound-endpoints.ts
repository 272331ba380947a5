import { isDomainError } from '../shared/errors.ts';
import { createPlaces } from '../shared/turns.ts';
import type { SentWebhook } from './send-webhook.ts';

/** Requests to endpoints at once in this process; its worker takes no more webhooks than that either. */
const inAll = 100;
const perEndpoint = 10;
/** So many wait in line for a place at an endpoint that answers, and no longer than this (milliseconds). */
const inLine = 20;
const lineMs = 2_000;

export interface EndpointBounds {
  /** Runs the work when the partner's endpoint may have one more request, and answers null, nothing done, otherwise. */
  run(partnerId: string, work: () => Promise<SentWebhook>): Promise<SentWebhook | null>;
}

/**
 * Keeps one endpoint from holding the places of all: each has at most ten requests at a time, and a single one for as
 * long as its last answer was that its time was over.
 */
export function boundEndpoints(): EndpointBounds {
  const places = createPlaces(inAll, { perKey: perEndpoint, mostWaiting: inLine });
  const single = createPlaces(Number.POSITIVE_INFINITY, { perKey: 1, mostWaiting: 0 });
  const hanging = new Set<string>();
  const enter = async (key: string) => {
    if (!hanging.has(key)) {
      const leave = await places.enter({ key, waitMs: lineMs });
      // The one before may just have run out of time.
      if (!hanging.has(key)) return leave;
      leave();
    }
    return single.enter({ key });
  };
  return {
    async run(partnerId, work) {
      let leave: () => void;
      try {
        leave = await enter(partnerId);
      } catch (error) {
        if (isDomainError(error) && error.code === 'SERVICE_UNAVAILABLE') return null;
        throw error;
      }
      try {
        const sent = await work();
        if (sent.timedOut) hanging.add(partnerId);
        else hanging.delete(partnerId);
        return sent;
      } finally {
        leave();
      }
    },
  };
}
