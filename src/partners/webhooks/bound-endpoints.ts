import { createSemaphore } from '../../shared/concurrency.ts';
import { isDomainError } from '../../shared/errors.ts';
import type { SentWebhook } from './send-webhook.ts';

/** Maximum concurrent requests of this process to all endpoints: as many as the worker has slots for webhooks. */
const inAll = 100;
const perEndpoint = 10;
/**
 * Maximum requests for all endpoints of one partner together, including queued ones, which also occupy slots. Ten
 * endpoints that hang, or many slow requests, leave most slots for other partners.
 */
const perPartner = 30;
/** Maximum queued requests for an endpoint that answers, and their maximum wait (milliseconds). */
const inLine = 10;
const lineMs = 2_000;
/** Milliseconds between deferred requests: few for an endpoint that answers, many for one that hangs. */
const apartMs = { answering: 50, hanging: 15_000 };
const longestWaitMs = 5 * 60_000;

/** Nothing was sent because the endpoint or its partner is at its limit; retry after `waitMs` milliseconds. */
export interface Deferral {
  waitMs: number;
}

/** The endpoint of a request, and its partner. */
export interface BoundEndpoint {
  endpointId: string;
  partnerId: string;
}

export interface EndpointBounds {
  /** Runs the work if the endpoint and its partner are below their limits; otherwise returns when to retry. */
  run(endpoint: BoundEndpoint, work: () => Promise<SentWebhook>): Promise<SentWebhook | Deferral>;
}

/**
 * Prevents one endpoint or partner from occupying every slot: at most ten concurrent requests per endpoint (one while
 * its last request timed out), and thirty per partner, including queued ones.
 */
export function boundEndpoints(): EndpointBounds {
  const semaphore = createSemaphore(inAll, { perKey: perEndpoint, mostWaiting: inLine });
  const single = createSemaphore(Number.POSITIVE_INFINITY, { perKey: 1, mostWaiting: 0 });
  const ofPartner = createSemaphore(Number.POSITIVE_INFINITY, { perKey: perPartner, mostWaiting: 0 });
  const hanging = new Set<string>();
  const enterEndpoint = async (key: string) => {
    if (!hanging.has(key)) {
      const leave = await semaphore.enter({ key, waitMs: lineMs });
      // An earlier request may have timed out while this one waited.
      if (!hanging.has(key)) return leave;
      leave();
    }
    return single.enter({ key });
  };
  const enter = async ({ endpointId, partnerId }: BoundEndpoint) => {
    const leavePartner = await ofPartner.enter({ key: partnerId });
    try {
      const leaveEndpoint = await enterEndpoint(endpointId);
      return () => {
        leaveEndpoint();
        leavePartner();
      };
    } catch (error) {
      leavePartner();
      throw error;
    }
  };
  /** When the last deferred request of each endpoint is due again, by the monotonic clock. */
  const last = new Map<string, number>();
  const defer = (key: string): Deferral => {
    const now = performance.now();
    const wait = Math.max(0, (last.get(key) ?? 0) - now) + (hanging.has(key) ? apartMs.hanging : apartMs.answering);
    if (wait > longestWaitMs) return { waitMs: Math.round(longestWaitMs * (0.5 + Math.random() / 2)) };
    last.set(key, now + wait);
    return { waitMs: Math.round(wait) };
  };
  return {
    async run(endpoint, work) {
      const { endpointId: key } = endpoint;
      let leave: () => void;
      try {
        leave = await enter(endpoint);
      } catch (error) {
        if (isDomainError(error) && error.code === 'SERVICE_UNAVAILABLE') return defer(key);
        throw error;
      }
      try {
        const sent = await work();
        if (sent.timedOut) hanging.add(key);
        else if (hanging.delete(key)) last.delete(key);
        return sent;
      } finally {
        leave();
      }
    },
  };
}
