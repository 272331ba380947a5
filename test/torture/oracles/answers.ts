import { compareMoney } from '../../../src/shared/money.ts';
import { isAtDoor } from '../at-door.ts';
import type { Decided } from '../decision-facts.ts';
import type { Attempt, EffectEvent, EndFact, Facts, Finding, OperationKind } from '../facts.ts';

/** The event of an operation, recorded in the operation's transaction. */
export const doneBy: Record<Attempt['kind'], { event: string; resourceType: string } | null> = {
  balance: { event: 'RESOURCE_CREATED', resourceType: 'transaction' },
  transfer: { event: 'RESOURCE_CREATED', resourceType: 'transaction' },
  gateway: { event: 'RESOURCE_CREATED', resourceType: 'payment_order' },
  'partner-payment': { event: 'RESOURCE_CREATED', resourceType: 'partner_payment' },
  payout: { event: 'RESOURCE_CREATED', resourceType: 'payout' },
  'payout-batch': { event: 'RESOURCE_CREATED', resourceType: 'payout_batch' },
  instrument: { event: 'RESOURCE_CREATED', resourceType: 'partner_instrument' },
  circle: { event: 'RESOURCE_CREATED', resourceType: 'saving_circle' },
  contribution: { event: 'CONTRIBUTION_MADE', resourceType: 'saving_circle_contribution' },
  subscription: { event: 'RESOURCE_CREATED', resourceType: 'donation_subscription' },
  allocation: { event: 'RESOURCE_UPDATED', resourceType: 'donation_allocation' },
  withdrawal: { event: 'RESOURCE_CREATED', resourceType: 'withdrawal' },
  disbursement: { event: 'RESOURCE_CREATED', resourceType: 'withdrawal' },
  refund: { event: 'RESOURCE_CREATED', resourceType: 'refund' },
  // These create nothing.
  cancel: null,
  stop: null,
  'cancel-circle': null,
  release: null,
  'refund-donation': null,
} satisfies Record<OperationKind, object> & Record<string, object | null>;
const isEnding = ({ kind }: Attempt): boolean => doneBy[kind] === null;

export const isSuccess = ({ status }: Attempt): boolean => status !== null && status >= 200 && status < 300;
/** Whether a request was answered with 4xx. */
export const isRefusal = ({ status }: Attempt): boolean => status !== null && status >= 400 && status < 500;

export const tell = ({ kind, requestId, status, answer }: Attempt): string =>
  `${kind} ${requestId} was answered ${status ?? 'nothing'} (${answer.slice(0, 160)})`;

export function byRequest(events: readonly EffectEvent[]): Map<string, EffectEvent[]> {
  const found = new Map<string, EffectEvent[]>();
  for (const event of events) found.set(event.requestId, [...(found.get(event.requestId) ?? []), event]);
  return found;
}

/** Operations that create something, each with all its requests. */
export const operationsOf = ({ attempts }: Facts): Attempt[][] => [
  ...Map.groupBy(
    attempts.filter((attempt) => !isEnding(attempt)),
    ({ operation }) => operation,
  ).values(),
];

/** The effects of one operation, that is of all requests that share its key. */
export function effectsOf(operation: readonly Attempt[], events: Map<string, EffectEvent[]>): EffectEvent[] {
  return operation.flatMap(({ requestId, kind }) =>
    (events.get(requestId) ?? []).filter(
      ({ event, resourceType }) => event === doneBy[kind]?.event && resourceType === doneBy[kind]?.resourceType,
    ),
  );
}

/** A request answered with 4xx never has an effect, then or later. */
export function refusedHasNoEffect(facts: Facts): Finding[] {
  const oracle = 'refused-has-no-effect';
  const events = byRequest(facts.events);
  const done = facts.attempts
    // A cancellation overtaken by the payment is recorded although it is refused.
    .filter((attempt) => isRefusal(attempt) && !(mayBeOutrun(attempt) && isOutrun(attempt)))
    .flatMap((attempt) =>
      (events.get(attempt.requestId) ?? [])
        .filter(({ impact }) => impact !== 'LOW')
        .map(({ event, resourceType, resourceId }) => ({
          oracle,
          resourceId,
          says: `${tell(attempt)}, and yet it caused ${event} of ${resourceType} ${resourceId}`,
        })),
    );
  // The refusal of a retry also proves that the earlier attempt had no effect.
  const later = operationsOf(facts).flatMap((operation) => {
    const made = effectsOf(operation, events);
    return operation
      .filter((attempt) => attempt.key !== null && isRefusal(attempt) && !isAtDoor(attempt))
      .flatMap((refused) =>
        made
          .filter(({ requestId, begunAt, at }) => {
            const maker = operation.find((other) => other.requestId === requestId);
            return maker?.variant === refused.variant && begunAt < refused.sentAt && at > refused.endedAt;
          })
          .map(({ requestId, resourceId }) => ({
            oracle,
            resourceId,
            says: `${tell(refused)}, and yet ${requestId}, started before it under the same key, created ${resourceId} afterwards`,
          })),
      );
  });
  // A created resource names its request, but may lack its event.
  const refused = new Map(
    facts.attempts.flatMap((attempt) => (isRefusal(attempt) ? [[attempt.requestId, attempt] as const] : [])),
  );
  const made = facts.asked.flatMap(({ kind, id, requestId }) => {
    const attempt = refused.get(requestId ?? '');
    if (attempt === undefined) return [];
    return [{ oracle, resourceId: id, says: `${tell(attempt)}, and yet it created the ${kind} ${id}` }];
  });
  return [...done, ...later, ...made];
}
const isOutrun = ({ status }: Attempt): boolean => status === 400 || status === 409;
/** Other ending requests record their event only in the transaction of their effect. */
const mayBeOutrun = ({ kind }: Attempt): boolean => kind === 'cancel';

/** From this many operations of a kind on, at least one should succeed. */
const surelyDone = 20;

/**
 * Clients and decisions get through: of each frequent kind of request, at least one succeeded. Otherwise the run proves
 * little.
 */
export function clientsGetThrough({ attempts, decisions, refundDecisions, verdicts }: Facts): Finding[] {
  const find = (kind: string, asked: number): Finding => ({
    oracle: 'clients-get-through',
    resourceId: null,
    says: `${kind} was requested ${asked} times, and no request succeeded`,
  });
  const ofClients = [...Map.groupBy(attempts, ({ kind }) => kind)]
    .filter(
      ([, asked]) => new Set(asked.map(({ operation }) => operation)).size >= surelyDone && !asked.some(isSuccess),
    )
    .map(([kind, asked]) => find(kind, asked.length));
  const approvals = (decided: readonly Decided[]) => decided.flatMap((one) => one.approvals);
  const ofPeople = Object.entries({
    'the approval of a decision about money in suspense': approvals(decisions),
    'the approval of a donation’s refund': approvals(refundDecisions),
    'the approval of a disbursement': verdicts.filter(({ verdict }) => verdict === 'approve'),
    'the rejection of a disbursement': verdicts.filter(({ verdict }) => verdict === 'reject'),
  })
    .filter(([, told]) => told.length >= surelyDone && !told.some(({ status }) => status === 200))
    .map(([what, told]) => find(what, told.length));
  return [...ofClients, ...ofPeople];
}

/** No resource exists without a request, and no request created two. */
export function effectsWereAskedFor({ asked, attempts }: Facts): Finding[] {
  const oracle = 'effects-were-asked-for';
  const known = new Set(attempts.map(({ requestId }) => requestId));
  const strays = asked
    .filter(({ requestId }) => requestId === null || !known.has(requestId))
    .map(({ kind, id, requestId }) => ({
      oracle,
      resourceId: id,
      says: `the ${kind} ${id} names the request ${requestId ?? '(none)'}, which no client sent`,
    }));
  const twins = [...Map.groupBy(asked, ({ kind, requestId }) => `${kind} ${requestId}`).values()]
    .filter(({ length }) => length > 1)
    .map((same) => ({
      oracle,
      resourceId: same[0]?.id ?? null,
      says: `the request ${same[0]?.requestId} created ${same.map(({ kind, id }) => `the ${kind} ${id}`).join(' and ')}`,
    }));
  return [...strays, ...twins];
}

/**
 * A resource that an answer reports as finished is finished; a refusal to finish one matches its status. After the
 * faults, a retry returns one or the other.
 */
export function endsAreKept({ attempts, ends }: Facts): Finding[] {
  const standing = new Map(ends.map((end) => [end.id, end]));
  const endings = attempts.filter(isEnding);
  const told = new Set(
    endings.filter((attempt) => isSuccess(attempt) || isRefusal(attempt)).map(({ operation }) => operation),
  );
  return endings.flatMap((attempt) => {
    const end = standing.get(attempt.target ?? '');
    const others = endings.filter(({ target, requestId }) => {
      return target === attempt.target && requestId !== attempt.requestId;
    });
    if (end !== undefined && told.has(attempt.operation) && mayStand(attempt, end, others)) return [];
    return [
      {
        oracle: 'ends-are-kept',
        resourceId: attempt.target,
        says: `${tell(attempt)}, and ${attempt.target} is ${end?.status ?? 'missing'}`,
      },
    ];
  });
}

const endedAs: Partial<Record<EndFact['kind'], string>> = {
  circle: 'cancelled',
  subscription: 'stopped',
  goal: 'closed',
  donation: 'refunded',
};

/**
 * Whether the status is consistent with this answer, and with the answers to others who tried to finish the resource.
 */
function mayStand(attempt: Attempt, { kind, status }: EndFact, others: readonly Attempt[]): boolean {
  const isPayment = kind === 'order' || kind === 'payment';
  if (isSuccess(attempt)) {
    if (isPayment) return status === 'EXPIRED' || status === 'FAILED';
    return status === endedAs[kind];
  }
  // A rejection before processing proves nothing, and is retried.
  if (!isRefusal(attempt) || attempt.status === 401 || attempt.status === 429) return true;
  if (isPayment) return isOutrun(attempt) && status === 'PAID';
  // Another request released the goal.
  if (kind === 'goal') return attempt.status === 400 && status === 'closed' && !others.every(isRefusal);
  // The donation cannot be refunded, or already was.
  if (kind === 'donation') return attempt.status === 400;
  // A cancelled circle is refused like a completed one.
  return kind === 'circle' && attempt.status === 400 && (status === 'completed' || status === 'cancelled');
}

/** A success has exactly one effect, the one in the answer; no request has two. */
export function successHasOneEffect(facts: Facts): Finding[] {
  const events = byRequest(facts.events);
  return operationsOf(facts).flatMap((operation) => {
    const made = effectsOf(operation, events);
    const twice = operation
      .filter(
        (attempt) => !isSuccess(attempt) && made.filter(({ requestId }) => requestId === attempt.requestId).length > 1,
      )
      .map((attempt) => ({
        oracle: 'success-has-one-effect',
        resourceId: attempt.resourceId,
        says: `${tell(attempt)}, and was done more than once`,
      }));
    const successes = operation.filter(isSuccess).flatMap((attempt) => {
      const own = attempt.key === null ? made.filter(({ requestId }) => requestId === attempt.requestId) : made;
      const named = own.filter(({ resourceId }) => resourceId === attempt.resourceId);
      if (own.length === 1 && named.length === 1) return [];
      const ids = own.map(({ resourceId }) => resourceId).join(', ') || 'nothing';
      return [
        {
          oracle: 'success-has-one-effect',
          resourceId: attempt.resourceId,
          says: `${tell(attempt)} and named ${attempt.resourceId}, but its effects are: ${ids}`,
        },
      ];
    });
    return [...twice, ...successes];
  });
}

/** A key created at most one resource, for one body, whatever was retried or lost. */
export function keyHasOneResource(facts: Facts): Finding[] {
  const events = byRequest(facts.events);
  return operationsOf(facts).flatMap((operation) => {
    const [first] = operation;
    if (first === undefined || first.key === null) return [];
    const findings: Finding[] = [];
    const made = effectsOf(operation, events);
    if (made.length > 1) {
      findings.push({
        oracle: 'key-has-one-resource',
        resourceId: made[0]?.resourceId ?? null,
        says: `the key ${first.key} (${first.kind}) created ${made.map(({ requestId, resourceId }) => `${resourceId} for ${requestId}`).join(' and ')}`,
      });
    }
    const [maker] = made.map(({ requestId }) => operation.find((attempt) => attempt.requestId === requestId));
    for (const attempt of operation.filter(isSuccess)) {
      if (maker === undefined || attempt.variant === maker.variant) continue;
      findings.push({
        oracle: 'key-has-one-resource',
        resourceId: attempt.resourceId,
        says: `${tell(attempt)} under the key ${attempt.key}, which belongs to the other body of ${maker.requestId}`,
      });
    }
    return findings;
  });
}

/** The same key and body get the same answer, byte for byte. */
export function replaysAreTheSame(facts: Facts): Finding[] {
  return operationsOf(facts).flatMap((operation) => {
    const answers = operation.filter((attempt) => attempt.key !== null && isSuccess(attempt));
    const [first] = answers;
    return answers
      .filter(({ answer, variant }) => variant === first?.variant && answer !== first.answer)
      .map((attempt) => ({
        oracle: 'replays-are-the-same',
        resourceId: attempt.resourceId,
        says: `${attempt.kind} ${attempt.requestId} was answered ${attempt.answer} and ${first?.requestId}, under the same key, ${first?.answer}`,
      }));
  });
}

/** A refusal by the provider is final under its key: the request is never executed later. */
export function providersRefusalIsKept(facts: Facts): Finding[] {
  return operationsOf(facts).flatMap((operation) =>
    operation
      .filter(({ key, status }) => key !== null && status === 502)
      .flatMap((refused) =>
        operation
          .filter(
            (attempt) => isSuccess(attempt) && attempt.variant === refused.variant && attempt.sentAt > refused.endedAt,
          )
          .map((attempt) => ({
            oracle: 'providers-refusal-is-kept',
            resourceId: attempt.resourceId,
            says: `${tell(attempt)}, although the provider had already refused ${refused.requestId}`,
          })),
      ),
  );
}

/** A resource reported as created is in the books, with the requested amount and target. */
export function answersTellTheBooks({ attempts, made }: Facts): Finding[] {
  const books = new Map(made.map((row) => [row.id, row]));
  return attempts
    .filter((attempt) => isSuccess(attempt) && attempt.kind !== 'allocation' && !isEnding(attempt))
    .flatMap((attempt) => {
      const { resourceId, amount, target } = attempt;
      const row = books.get(resourceId ?? '');
      const told = toldAmount(attempt);
      const problems = [
        ...(row === undefined ? ['it does not exist'] : []),
        ...(row && amount !== null && compareMoney(row.asked, amount) !== 0
          ? [`IDR ${amount} was requested, and the books have ${row.asked}`]
          : []),
        ...(row && told !== undefined && compareMoney(row.amount, told) !== 0
          ? [`it reports IDR ${told}, and the books have ${row.amount}`]
          : []),
        ...(row && target !== null && !row.targets.includes(target)
          ? [`it was requested for ${target}, and the books have ${row.targets.join(' or ')}`]
          : []),
      ];
      return problems.map((problem) => ({
        oracle: 'answers-tell-the-books',
        resourceId,
        says: `${tell(attempt)}, but ${problem}`,
      }));
    });
}

/** The amount in an answer, whatever the field is called. */
function toldAmount({ answer }: Attempt): string | undefined {
  const body = JSON.parse(answer);
  const { amount, nominal, contribution_amount } = body.data ?? body;
  const told = amount ?? nominal ?? contribution_amount;
  return told === undefined ? undefined : String(told);
}

/** After the faults, retrying under the same key returns the outcome of a request without an answer. */
export function askingTells(facts: Facts): Finding[] {
  return operationsOf(facts).flatMap((operation) => {
    const last = operation.findLast(({ variant, key }) => key !== null && variant === 'same');
    const isTold = last !== undefined && isRefusal(last) && !isAtDoor(last);
    if (last === undefined || isSuccess(last) || isTold || last.status === 502) return [];
    if (operation.some((attempt) => attempt.variant === 'same' && isSuccess(attempt))) return [];
    return [
      {
        oracle: 'asking-tells',
        resourceId: last.resourceId,
        says: `${tell(last)}, long after all faults had stopped; the outcome of the key ${last.key} is unknown`,
      },
    ];
  });
}
