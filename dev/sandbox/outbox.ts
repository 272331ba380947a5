import { randomUUID } from 'node:crypto';
import { type forgeries, readFaults } from './faults.ts';
import type { Job } from './scheduler.ts';
import type { Store } from './store.ts';

export const businessId = '5f27a14a9bf05c73dd040bc8';

const mostInFlight = 50;
const answerTimeoutMs = 10_000;
const longestIntervalMs = 60_000;
/** A callback undelivered for this long is retried only at the next start. */
const giveUpAfterMs = 24 * 60 * 60 * 1000;
const keepDeliveredMs = 24 * 60 * 60 * 1000;
/** Shuffled callbacks may overtake each other within this time. */
const shuffleWindowMs = 500;

/** 1, 2, 4 ... 60 seconds. */
const intervalAfter = (attempts: number): number =>
  Math.min(longestIntervalMs, 1_000 * 2 ** Math.min(attempts - 1, 10));

/** The state of a forged callback with a wrong token; other forged callbacks have the state `forged`. */
const wrongToken = 'forged with a wrong token';

interface Callback {
  event: string;
  data: { status: string };
}

/** Forges a callback; for the fault `token`, only its token is wrong. */
function forge({ event, data }: Callback, forgery: (typeof forgeries)[number]): Callback {
  if (forgery === 'amount') return { event, data: { ...data, amount: 1_234_567 } as Callback['data'] };
  if (forgery === 'token') return { event, data };
  const status = data.status === 'SUCCEEDED' ? 'FAILED' : 'SUCCEEDED';
  return { event: event.replace(/\.\w+$/, `.${status.toLowerCase()}`), data: { ...data, status } };
}

/**
 * Queues a callback with its final body, within the transaction of the change it reports. Every copy is its own row
 * with the same `webhook-id`. A forged callback is queued before it, with an id of its own.
 */
export function queueCallback(store: Store, event: string, data: { status: string }): void {
  const { copies, delay_ms, shuffle, drop, forge: forgery } = readFaults(store).callbacks;
  const now = Date.now();
  const write = (callback: Callback) =>
    JSON.stringify({
      event: callback.event,
      business_id: businessId,
      created: new Date(now).toISOString(),
      api_version: null,
      data: callback.data,
    });
  const add = (webhookId: string, body: string, state: string, dueAt: number | null) =>
    store.run(
      'insert into callbacks (webhook_id, body, state, created, due_at) values (?, ?, ?, ?, ?)',
      webhookId,
      body,
      state,
      now,
      dueAt,
    );
  if (forgery !== undefined) {
    const forged = write(forge({ event, data }, forgery));
    add(randomUUID(), forged, forgery === 'token' ? wrongToken : 'forged', now);
  }
  const body = write({ event, data });
  const webhookId = randomUUID();
  for (let copy = 0; copy < copies; copy += 1) {
    const jitterMs = shuffle ? Math.floor(Math.random() * shuffleWindowMs) : 0;
    if (drop) add(webhookId, body, 'dropped', null);
    else add(webhookId, body, 'waiting', now + delay_ms + jitterMs);
  }
}

export interface OutboxOptions {
  store: Store;
  /** The URL for callbacks; while it is undefined they wait. */
  url: () => string | undefined;
  token: string;
  /** Called when a delivery has finished and the next may begin. */
  onSettled: () => void;
}

export interface Outbox extends Job {
  stop(): Promise<void>;
}

/**
 * Sends queued callbacks at least once: only a 2xx completes a callback, and a start retries all unfinished ones.
 * Forged callbacks are sent once.
 */
export function openOutbox({ store, url, token, onSettled }: OutboxOptions): Outbox {
  const stopping = new AbortController();
  const inFlight = new Set<Promise<void>>();
  const startedAt = Date.now();
  store.transaction(() => {
    store.run(
      "delete from callbacks where state in ('delivered', 'dropped') and created < ?",
      startedAt - keepDeliveredMs,
    );
    store.run("update callbacks set state = 'waiting', due_at = ? where state in ('waiting', 'given_up')", startedAt);
  });

  const send = async (target: string, seq: number, webhookId: string, body: string, state: string): Promise<void> => {
    let status: number | null = null;
    try {
      const answer = await fetch(target, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-callback-token': state === wrongToken ? 'forged' : token,
          'webhook-id': webhookId,
        },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(answerTimeoutMs)]),
      });
      status = answer.status;
      await answer.body?.cancel();
    } catch {
      // No connection or no answer in time counts as a failed delivery.
    }
    if (stopping.signal.aborted) return;
    if (state !== 'waiting' || (status !== null && status >= 200 && status < 300)) {
      store.run(
        "update callbacks set state = 'delivered', due_at = null, attempts = attempts + 1, last_status = ? where seq = ?",
        status,
        seq,
      );
      return;
    }
    const row = store.get('select created, attempts from callbacks where seq = ?', seq);
    const attempts = Number(row?.attempts ?? 0) + 1;
    const tooOld = Date.now() - Math.max(Number(row?.created ?? 0), startedAt) > giveUpAfterMs;
    store.run(
      'update callbacks set state = ?, due_at = ?, attempts = ?, last_status = ? where seq = ?',
      tooOld ? 'given_up' : 'waiting',
      tooOld ? null : Date.now() + intervalAfter(attempts),
      attempts,
      status,
      seq,
    );
  };

  return {
    run(now) {
      const target = url();
      const room = mostInFlight - inFlight.size;
      if (target === undefined || room <= 0) return;
      const due = store.all(
        'select seq, webhook_id, body, state from callbacks where due_at <= ? order by due_at, seq limit ?',
        now,
        room,
      );
      // A row without a due time is in flight; if the process dies, the next start finds it waiting.
      store.transaction(() => {
        for (const { seq } of due) store.run('update callbacks set due_at = null where seq = ?', Number(seq));
      });
      for (const { seq, webhook_id, body, state } of due) {
        const sending = send(target, Number(seq), String(webhook_id), String(body), String(state)).finally(() => {
          inFlight.delete(sending);
          if (!stopping.signal.aborted) onSettled();
        });
        inFlight.add(sending);
      }
    },
    nextAt() {
      if (url() === undefined || inFlight.size >= mostInFlight) return null;
      const row = store.get('select min(due_at) as due_at from callbacks where due_at is not null');
      return row?.due_at == null ? null : Number(row.due_at);
    },
    async stop() {
      stopping.abort();
      await Promise.allSettled(inFlight);
    },
  };
}
