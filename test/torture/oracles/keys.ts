import { isAtDoor } from '../at-door.ts';
import type { Attempt, Facts, Finding } from '../facts.ts';
import { byRequest, effectsOf, isRefusal, operationsOf, tell } from './answers.ts';

/** Kinds whose refusal is stored before it is returned, in the row that records what was created. */
const haveOpenings: ReadonlySet<Attempt['kind']> = new Set([
  'gateway',
  'partner-payment',
  'payout',
  'instrument',
  'subscription',
  'withdrawal',
  'disbursement',
  'refund',
]);

/**
 * A retry under a key that has created its resource is never refused; of simultaneous requests one is refused and
 * another succeeds only if the refusal came first and is stored.
 */
export function madeIsNotRefused(facts: Facts): Finding[] {
  const events = byRequest(facts.events);
  const refused = new Set(facts.guards.refusedOpenings);
  const isUnwritten = ({ kind }: Attempt, resourceId: string | null) =>
    haveOpenings.has(kind) && resourceId !== null && !refused.has(resourceId);
  return operationsOf(facts).flatMap((operation) => {
    const made = effectsOf(operation, events);
    return operation
      .filter((attempt) => attempt.key !== null && isRefusal(attempt) && !isAtDoor(attempt))
      .flatMap((attempt) =>
        made
          .filter(({ requestId, resourceId, at }) => {
            const maker = operation.find((other) => other.requestId === requestId);
            return maker?.variant === attempt.variant && (at < attempt.sentAt || isUnwritten(attempt, resourceId));
          })
          .map(({ resourceId, requestId, at }) => ({
            oracle: 'made-is-not-refused',
            resourceId,
            says: `${tell(attempt)}, although ${requestId} ${at < attempt.sentAt ? 'had made' : 'made'} ${resourceId} under the same key${at < attempt.sentAt ? ' before' : ', and no refusal is stored'}`,
          })),
      );
  });
}

/** The refusal of a key used with another body. */
const keyOfAnother = 'this key was used for a request with another body';

/** A refused balance payment leaves its key free: it belongs to another body only if that was paid. */
export function refusedKeysAreFree(facts: Facts): Finding[] {
  const events = byRequest(facts.events);
  return operationsOf(facts).flatMap((operation) => {
    if (effectsOf(operation, events).length > 0) return [];
    return operation
      .filter(({ kind }) => kind === 'balance' || kind === 'transfer')
      .filter(({ answer, status }) => status === 400 && answer.includes(keyOfAnother))
      .map((attempt) => ({
        oracle: 'refused-keys-are-free',
        resourceId: null,
        says: `${tell(attempt)}, although nothing was ever paid under the key ${attempt.key}`,
      }));
  });
}
