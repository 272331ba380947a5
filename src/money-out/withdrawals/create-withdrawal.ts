import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import {
  claimFor,
  findFirstAnswer,
  keepFirstAnswer,
  type SentAnswer,
} from '../../platform/openings/idempotency-keys.ts';
import type { Caller } from '../../shared/caller.ts';
import { withdrawalIdFor } from '../../shared/ids.ts';
import { formatMoney } from '../../shared/money.ts';
import { createReservationTurns } from '../payouts/reserve-in-turn.ts';
import { findWithdrawal } from './find-withdrawals.ts';
import { prepareWithdrawal, type WithdrawalRequest } from './prepare-withdrawal.ts';
import { answerWithdrawal } from './present-withdrawal.ts';
import type { WithdrawalTerms, WithdrawalWorkflows } from './withdrawal.ts';

const reserveInTurn = createReservationTurns();

const notInTime = 'The withdrawal could not be reserved in time; try again';

interface Asking {
  caller: Caller;
  accountId: string;
  body: WithdrawalRequest;
  key: string | undefined;
  requestId: string;
}

/**
 * Creates a withdrawal and waits until its money is reserved. Returns the response, or the first one under the
 * idempotency key. Throws as `prepareWithdrawal` and `reserveWithdrawal` do, IDEMPOTENCY_KEY_REUSED for the key of
 * another request, and SERVICE_UNAVAILABLE if nothing was reserved in time.
 */
export async function createWithdrawal(
  em: EntityManager,
  ports: { config: WithdrawalTerms; sealer: Sealer; workflows: WithdrawalWorkflows },
  { caller, accountId, body, key, requestId }: Asking,
): Promise<SentAnswer> {
  const id = withdrawalIdFor(caller.userId, key);
  const asked = { ...body, amount: formatMoney(body.amount) };
  const claim = claimFor(caller.userId, key, `/v1/accounts/${accountId}/withdrawals`, asked);
  const idempotency = claim && { keyHash: claim.keyHash, fingerprint: claim.fingerprint };
  const first = claim && (await findFirstAnswer(em.fork(), claim));
  if (first !== null) return first;
  const found = await reserveInTurn(
    em,
    {
      resourceId: id,
      kind: 'withdrawal',
      claim,
      turnOf: accountId,
      unavailable: notInTime,
    },
    {
      find: (place) => findWithdrawal(place, id),
      prepare: () => prepareWithdrawal(em, ports, { id, caller, accountId, body, idempotency, requestId }),
      start: (opening, waitMs) => ports.workflows.startWithdrawal(id, opening, waitMs),
    },
  );
  // The start may have joined another request's withdrawal with the same key; then the response is a replay.
  const replayed = found.payout.request_id !== requestId;
  const answer = { ...answerWithdrawal(found), replayed };
  return { ...(await keepFirstAnswer(em.fork(), claim, answer)), replayed };
}
