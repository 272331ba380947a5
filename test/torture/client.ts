import { setTimeout as sleep } from 'node:timers/promises';
import { isAtDoor } from './at-door.ts';
import type { Attempt, BankAccountFact, EndingKind, OperationKind } from './facts.ts';
import type { Manners } from './plan-work.ts';

/** An operation: one request with its retries, which share its key, if any. */
export interface Operation {
  work: string;
  /** Distinguishes operations of one piece of work. */
  name: string;
  kind: OperationKind | EndingKind;
  /** The user who sends the request; null for a partner. */
  by: string | null;
  partner?: string;
  key: string | null;
  path: string;
  body: Record<string, unknown>;
  method?: 'DELETE';
  /** Whether a retry is safe even without a key, as for a request that finishes a resource. */
  again?: boolean;
  /** The id of the resource that it finishes or refunds. */
  about?: string;
  /** The account that pays, if the body does not name one. */
  source?: string;
  /** The bank account that the money is sent to. */
  goesTo?: BankAccountFact;
  /** A different body, sent under the same key by a client that changes its mind. */
  otherBody?: Record<string, unknown>;
  /** The headers for a body sent to a path, including the key. */
  headers(raw: string, path: string): Record<string, string>;
  /** The id of the created resource in the body of a success. */
  resourceOf(body: Answer): string | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: the answers of nine routes; each caller reads its own
export type Answer = any;

export interface Client {
  /** Sends an operation as a client with these manners; returns the body of its success, or null. */
  operate(operation: Operation, manners: Manners): Promise<Answer | null>;
  /** After the faults: retries requests with an unknown outcome, and once those that the provider refused. */
  askAgain(): Promise<void>;
  /**
   * After a restore: forgets the requests sent since this instant (epoch milliseconds), and sends them again under
   * their keys. Returns the ids of the resources that had been created.
   */
  askAnew(since: number): Promise<string[]>;
  readonly attempts: Attempt[];
}

const retryPauseMs = 400;
const lastPatienceMs = 30_000;
const lastTries = 8;
/** How many operations are retried concurrently: more would cause 503s on a busy machine. */
const askingAtOnce = 24;

const isSuccess = ({ status }: Attempt): boolean => status !== null && status < 300;
/** Whether the outcome is unknown: there is no answer, or a 5xx other than 502. */
const isUnknown = ({ status }: Attempt): boolean => status === null || (status >= 500 && status !== 502);
/** Whether the provider refused the request, which is stored under the key. */
const isProvidersRefusal = ({ status }: Attempt): boolean => status === 502;
const textOf = (value: unknown): string | null => (value === undefined ? null : String(value));

/** Creates a client of two APIs that records every answer. */
export function createClient(run: string, apiUrls: readonly [string, string]): Client {
  const attempts: Attempt[] = [];
  /** By piece of work and name. */
  const operations = new Map<string, Operation>();
  let sent = 0;

  async function ask(
    operation: Operation,
    { api, patienceMs, variant }: { api: number; patienceMs: number; variant: Attempt['variant'] },
  ): Promise<Attempt> {
    const { work, name, kind, by, key, path } = operation;
    const requestId = `${run}-${work}-${name}-${sent}`;
    sent += 1;
    const content = (variant === 'same' ? operation.body : operation.otherBody) ?? {};
    const raw = JSON.stringify(content);
    const attempt: Attempt = {
      work,
      operation: `${work}/${name}`,
      kind,
      requestId,
      by,
      partner: operation.partner ?? null,
      key,
      variant,
      amount: textOf(content.amount ?? content.contribution_amount),
      target: textOf(
        operation.about ??
          content.reference_id ??
          content.destination_account_id ??
          content.external_ref ??
          content.cause_id ??
          content.saving_circle_id ??
          content.bank_account_id,
      ),
      source: textOf(operation.source ?? content.source_account_id),
      goesTo: operation.goesTo ?? null,
      sentAt: Date.now(),
      endedAt: 0,
      status: null,
      answer: '',
      resourceId: null,
    };
    attempts.push(attempt);
    try {
      const answer = await fetch(new URL(path, apiUrls[api % 2]), {
        method: operation.method ?? 'POST',
        headers: { 'content-type': 'application/json', 'x-request-id': requestId, ...operation.headers(raw, path) },
        body: raw,
        signal: AbortSignal.timeout(patienceMs),
      });
      const text = await answer.text();
      attempt.answer = text;
      // Only a complete answer counts: an incomplete one proves nothing.
      const body: Answer = JSON.parse(text);
      attempt.status = answer.status;
      if (isSuccess(attempt)) attempt.resourceId = operation.resourceOf(body) ?? null;
    } catch (error) {
      attempt.status = null;
      attempt.answer = `no answer: ${Error.isError(error) ? `${error.message} ${String(error.cause ?? '')}` : error}`;
    }
    attempt.endedAt = Date.now();
    return attempt;
  }

  async function askUntilKnown(unknown: readonly Operation[]): Promise<void> {
    const waiting = unknown.values();
    const askNext = async () => {
      for (const operation of waiting) {
        for (let round = 0; round < lastTries; round += 1) {
          const answer = await ask(operation, { api: round, patienceMs: lastPatienceMs, variant: 'same' });
          if (!isUnknown(answer) && !isAtDoor(answer)) break;
          await sleep(retryPauseMs * (round + 1));
        }
      }
    };
    // The loops share one iterator, so each operation is sent by one of them.
    await Promise.all(Array.from({ length: askingAtOnce }, askNext));
  }

  return {
    attempts,
    async operate(operation, { api, patienceMs, retries, twin, otherBody }) {
      operations.set(`${operation.work}/${operation.name}`, operation);
      const first = ask(operation, { api, patienceMs, variant: 'same' });
      const others = twin ? [ask(operation, { api: api + 1, patienceMs, variant: 'same' })] : [];
      let answers = await Promise.all([first, ...others]);
      if (otherBody && operation.key !== null && operation.otherBody !== undefined) {
        await ask(operation, { api: api + 1, patienceMs, variant: 'other' });
      }
      const mayRepeat = operation.key !== null || operation.again === true;
      for (let retry = 1; retry <= retries && mayRepeat && answers.every(isUnknown); retry += 1) {
        await sleep(retryPauseMs * retry);
        answers = [await ask(operation, { api: api + retry, patienceMs, variant: 'same' })];
      }
      const success = answers.find(isSuccess);
      return success === undefined ? null : JSON.parse(success.answer);
    },
    async askAgain() {
      const unknown = [...operations.values()].filter(({ key, again, work, name }) => {
        const own = attempts.filter(({ operation, variant }) => operation === `${work}/${name}` && variant === 'same');
        const last = own.at(-1);
        return (
          (key !== null || again === true) &&
          last !== undefined &&
          (isUnknown(last) || isAtDoor(last) || isProvidersRefusal(last)) &&
          !own.some(isSuccess)
        );
      });
      await askUntilKnown(unknown);
    },
    async askAnew(since) {
      const forgotten = attempts.filter(({ sentAt }) => sentAt >= since);
      for (const attempt of forgotten) attempts.splice(attempts.indexOf(attempt), 1);
      const lost = new Set(forgotten.map(({ operation }) => operation));
      await askUntilKnown([...operations].flatMap(([id, operation]) => (lost.has(id) ? [operation] : [])));
      return forgotten.flatMap(({ resourceId }) => resourceId ?? []);
    },
  };
}
