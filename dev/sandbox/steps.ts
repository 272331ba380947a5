import type { Job } from './scheduler.ts';
import type { Row, Store } from './store.ts';

/** A status that a document reaches automatically, `afterMs` after its creation or its previous step. */
export interface Step<Status extends string> {
  afterMs: number;
  status: Status;
  failureCode: string | null;
}

/** When the first step is due, in epoch milliseconds; null when no automatic step is left. */
export const dueAt = ({ steps: [next] }: { steps: Step<string>[] }): number | null =>
  next ? Date.now() + next.afterMs : null;

/** Whether only a person can settle the transfer or refund. */
export const isForHand = ({ status, steps }: { status: string; steps: Step<string>[] }): boolean =>
  ['ACCEPTED', 'PENDING'].includes(status) && steps.length === 0;

/** The tables whose documents take steps. */
type Stepping = 'transfers' | 'refunds';

/** Brings every scheduled step in a table forward by this many milliseconds; returns how many documents wait. */
export function hastenSteps(store: Store, table: Stepping, ms: number): number {
  const waiting = store.all(`select id, next_at, document from ${table} where next_at is not null`);
  for (const row of waiting) {
    const due = Number(row.next_at);
    // Time beyond the first step's wait is deducted from the following steps.
    let left = ms - Math.max(0, due - Date.now());
    const waited: { steps: Step<string>[] } = JSON.parse(String(row.document));
    const [first, ...later] = waited.steps;
    const steps = later.map((step) => {
      const afterMs = Math.max(0, step.afterMs - Math.max(0, left));
      left -= step.afterMs;
      return { ...step, afterMs };
    });
    const document = JSON.stringify({ ...waited, steps: first ? [first, ...steps] : steps });
    store.run(`update ${table} set next_at = ?, document = ? where id = ?`, due - ms, document, String(row.id));
  }
  return waiting.length;
}

const mostForHands = 1_000;

/**
 * Returns a page of a table and its row count: first the rows that wait for a person, then the others, each newest
 * first.
 */
export function listForPage<T>(store: Store, table: Stepping, limit: number, documentIn: (row: Row) => T) {
  const forHand = `next_at is null and document ->> 'status' in ('ACCEPTED', 'PENDING')`;
  const list = (where: string, most: number) =>
    store.all(`select document from ${table} where ${where} order by seq desc limit ?`, most);
  return {
    rows: [...list(forHand, mostForHands), ...list(`not (${forHand})`, limit)].map(documentIn),
    total: Number(store.get(`select count(*) as total from ${table}`)?.total),
  };
}

const stepsPerTurn = 200;

/** The job that advances the documents of a table when their next step is due. */
export function stepJob<Status extends string, Document extends { steps: Step<Status>[] }>(
  store: Store,
  table: Stepping,
  documentIn: (row: Row) => Document,
  become: (
    store: Store,
    document: Document,
    changes: Omit<Step<Status>, 'afterMs'> & { steps: Step<Status>[] },
  ) => void,
): Job {
  return {
    run: (now) =>
      store.transaction(() => {
        const due = store.all(
          `select document from ${table} where next_at <= ? order by next_at limit ?`,
          now,
          stepsPerTurn,
        );
        for (const document of due.map(documentIn)) {
          const [step, ...steps] = document.steps;
          if (step) become(store, document, { status: step.status, failureCode: step.failureCode, steps });
        }
      }),
    nextAt() {
      const row = store.get(`select min(next_at) as next_at from ${table} where next_at is not null`);
      return row?.next_at == null ? null : Number(row.next_at);
    },
  };
}
