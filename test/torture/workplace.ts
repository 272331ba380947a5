import { setTimeout as sleep } from 'node:timers/promises';
import type { Http } from '../support/http.ts';
import type { Cast } from './cast.ts';
import type { Answer, Client, Operation } from './client.ts';
import type { DecisionFact, RefundDecisionFact, VerdictFact } from './decision-facts.ts';
import type { EndingKind, OperationKind } from './facts.ts';
import type { Ending, Work } from './plan-work.ts';
import type { Topology } from './topology.ts';

export interface Workplace {
  topology: Topology;
  /** The two APIs as clients reach them, through proxies. */
  apis: readonly [Http, Http];
  cast: Cast;
  client: Client;
  /** The operators' decisions so far: about money in suspense, and about donations. */
  decisions: DecisionFact[];
  refundDecisions: RefundDecisionFact[];
  /** The platform users' verdicts on disbursements so far. */
  verdicts: VerdictFact[];
  /** A prefix that distinguishes the run's ids from those of other runs. */
  run: string;
  /** Records what happened, for the timeline. */
  note(text: string): void;
  /** Stops the waits of stories when the work is over. */
  over: AbortSignal;
  /** Resolves when the plan's time is over and all faults are undone. */
  healed: Promise<void>;
}

/** The part of an operation that does not depend on its caller. */
export type Asked = Pick<
  Operation,
  'path' | 'body' | 'resourceOf' | 'again' | 'about' | 'source' | 'goesTo' | 'method'
> & {
  otherBody?: Record<string, unknown>;
  name?: string;
};

/** Creates an operation of a person with a token. */
export function personal(
  { run }: Pick<Workplace, 'run'>,
  { id, keyed }: Pick<Work, 'id' | 'keyed'>,
  kind: OperationKind | EndingKind,
  token: string,
  asked: Asked,
): Operation {
  const name = asked.name ?? 'o';
  const key = keyed ? `${run}-${id}-${name}-key` : null;
  return {
    ...asked,
    work: id,
    name,
    kind,
    by: userOf(token),
    key,
    headers: () => ({ authorization: `Bearer ${token}`, ...(key !== null && { 'idempotency-key': key }) }),
  };
}

/** The user of a token, which is a JWT. */
function userOf(token: string): string {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  return String(claims.sub);
}

const patienceMs = 8_000;
/** The time-out of a request. */
export const patience = (): AbortSignal => AbortSignal.timeout(patienceMs);

/** Waits until this SQL finds a row; false if it does not in time, or the work is over first. */
export async function untilFound(
  { topology, over }: Workplace,
  { sql, params, withinMs, everyMs }: { sql: string; params: readonly unknown[]; withinMs: number; everyMs: number },
): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (Date.now() < deadline && !over.aborted) {
    const rows = await topology
      .em()
      .execute<unknown[]>(sql, params)
      .catch(() => []);
    if (rows.length > 0) return true;
    await sleep(everyMs);
  }
  return false;
}

/** The customer's payment code, whatever its field is called. */
export const codeOf = (data: Answer): string | null =>
  data?.payment_code ?? data?.qr_code ?? data?.payment_links ?? null;

const steps: Record<Ending, readonly { path: string; wrong?: boolean }[]> = {
  pay: [{ path: 'pay' }],
  'pay-twice': [{ path: 'pay' }, { path: 'pay' }],
  'pay-wrong-then-right': [{ path: 'pay', wrong: true }, { path: 'pay' }],
  'pay-wrong': [{ path: 'pay', wrong: true }],
  decline: [{ path: 'decline' }],
  expire: [{ path: 'expire' }],
  'expire-then-pay': [{ path: 'expire' }, { path: 'pay' }],
  cancel: [],
  'cancel-while-paying': [{ path: 'pay' }],
  nothing: [],
};
const betweenStepsMs = 700;

/** Performs the customer's step at the provider; if the provider is down, retries once. */
export async function atProvider(
  { topology, note }: Workplace,
  code: string | null,
  { id, amount, ending, afterMs }: { id: string; amount: number; ending: Ending; afterMs: number },
): Promise<void> {
  if (code === null) return;
  await sleep(afterMs);
  for (const { path, wrong } of steps[ending]) {
    const body = { payment_code: code, ...(wrong && { amount: amount + 7 }) };
    note(`${id}: the customer calls ${path}${wrong ? ' with a wrong amount' : ''}`);
    const signal = () => AbortSignal.timeout(5_000);
    const act = () => topology.sandbox.post(`/sandbox/${path}`, body, { signal: signal() });
    await act().catch(() =>
      sleep(betweenStepsMs)
        .then(act)
        .catch(() => note(`${id}: the provider was down`)),
    );
    await sleep(betweenStepsMs);
  }
}
