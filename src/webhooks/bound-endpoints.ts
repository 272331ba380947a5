import { createSemaphore } from '../shared/concurrency.ts';
import { isDomainError } from '../shared/errors.ts';
import type { SentWebhook } from './send-webhook.ts';

/** Requests to endpoints at once in this process; its worker takes no more webhooks than that either. */
const inAll = 100;
const perEndpoint = 10;
/** All the endpoints of one partner together: ten that hang leave most of the places to others. */
const perPartner = 30;
/** So many wait in line for a place at an endpoint that answers, and no longer than this (milliseconds). */
const inLine = 20;
const lineMs = 2_000;
/** Those who find no place come again one after another: at an endpoint that answers soon, at one that hangs slowly. */
const apartMs = { answering: 50, hanging: 15_000 };
const longestWaitMs = 5 * 60_000;

/** Nothing was sent, as the endpoint has as many requests as it may have; come again after so many milliseconds. */
export interface Deferral {
  waitMs: number;
}

/** Where a request goes, and whose endpoint that is. */
export interface BoundEndpoint {
  endpointId: string;
  partnerId: string;
}

export interface EndpointBounds {
  /** Runs the work when the endpoint, and its partner, may have one more request. */
  run(endpoint: BoundEndpoint, work: () => Promise<SentWebhook>): Promise<SentWebhook | Deferral>;
}

/**
 * Keeps one endpoint, and one partner, from holding the places of all: each endpoint has at most ten requests at a time,
 * and a single one for as long as its last answer was that its time was over; those of one partner have thirty.
 */
export function boundEndpoints(): EndpointBounds {
  const semaphore = createSemaphore(inAll, { perKey: perEndpoint, mostWaiting: inLine });
  const single = createSemaphore(Number.POSITIVE_INFINITY, { perKey: 1, mostWaiting: 0 });
  const ofPartner = createSemaphore(Number.POSITIVE_INFINITY, { perKey: perPartner, mostWaiting: 0 });
  const hanging = new Set<string>();
  const enterEndpoint = async (key: string) => {
    if (!hanging.has(key)) {
      const leave = await semaphore.enter({ key, waitMs: lineMs });
      // The one before may just have run out of time.
      if (!hanging.has(key)) return leave;
      leave();
    }
    return single.enter({ key });
  };
  const enter = async ({ endpointId, partnerId }: BoundEndpoint) => {
    const leaveEndpoint = await enterEndpoint(endpointId);
    try {
      const leavePartner = await ofPartner.enter({ key: partnerId });
      return () => {
        leavePartner();
        leaveEndpoint();
      };
    } catch (error) {
      leaveEndpoint();
      throw error;
    }
  };
  /** When the last one of an endpoint is to come again, by the monotonic clock. */
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
