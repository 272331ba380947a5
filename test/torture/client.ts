import { setTimeout as sleep } from 'node:timers/promises';
import { isAtDoor } from './at-door.ts';
import type { Attempt, BankAccountFact, EndingKind, OperationKind } from './facts.ts';
import type { Manners } from './plan-work.ts';

/** The contents of one operation's request; the key, if any, belongs to the operation. */
export interface Operation {
  work: string;
  /** Distinguishes operations of one piece of work. */
  name: string;
  kind: OperationKind | EndingKind;
  /** The user who sends it; null for a partner. */
  by: string | null;
  partner?: string;
  key: string | null;
  path: string;
  body: Record<string, unknown>;
  method?: 'DELETE';
  /** Retrying is always safe, as for a request that finishes something. */
  again?: boolean;
  /** What it finishes or refunds. */
  about?: string;
  /** The account that pays, if the body does not name one. */
  source?: string;
  /** The bank account that its money goes to. */
  goesTo?: BankAccountFact;
  /** The body of a client that changes its mind, under the same key. */
  otherBody?: Record<string, unknown>;
  /** Headers for a body sent to a path; the key's are among them. */
  headers(raw: string, path: string): Record<string, string>;
  /** The id of the created resource in the body of a success. */
  resourceOf(body: Answer): string | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: the answers of nine routes; each caller reads its own
export type Answer = any;

export interface Client {
  /** Sends an operation as such a client does; returns the body of its success, or null. */
  operate(operation: Operation, manners: Manners): Promise<Answer | null>;
  /** After the faults: retries every unknown request under its key, and once what the provider refused. */
  askAgain(): Promise<void>;
  /**
   * After a restore: forgets what was sent since this instant (milliseconds of the epoch), and sends it again under its
   * key. Returns the resources that were created and now have to be created again.
   */
  askAnew(since: number): Promise<string[]>;
  readonly attempts: Attempt[];
}

const retryPauseMs = 400;
const lastPatienceMs = 30_000;
const lastTries = 8;
/** How many retry at once: more would cause each other 503s on a busy machine. */
const askingAtOnce = 24;

const isSuccess = ({ status }: Attempt): boolean => status !== null && status < 300;
/** Its outcome is unknown: no answer, or one that says so. */
const isUnknown = ({ status }: Attempt): boolean => status === null || (status >= 500 && status !== 502);
/** The provider has refused it, which is stored under the key. */
const isProvidersRefusal = ({ status }: Attempt): boolean => status === 502;
const textOf = (value: unknown): string | null => (value === undefined ? null : String(value));

/** Clients of two APIs, who record every answer. */
export function createClient(run: string, apiUrls: readonly [string, string]): Client {
  const attempts: Attempt[] = [];
  /** By what distinguishes them: a retry under a key is the same request. */
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
      // Only a complete answer counts: a broken one proves nothing.
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
    // They share one iterator: each operation is sent by one of them.
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
