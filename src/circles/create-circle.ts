import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../ledger/accounts/account.entity.ts';
import { mayUseAccount } from '../ledger/may-use-account.ts';
import type { Sealer } from '../platform/encryption/sealer.ts';
import { createOnce } from '../platform/openings/create-once.ts';
import { stampOpening } from '../platform/openings/idempotency-keys.ts';
import { budgets } from '../shared/budgets.ts';
import { type Caller, isPlatform } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { compareMoney, formatMoney, largestShare, type Money } from '../shared/money.ts';
import type { OpeningStamp } from '../shared/opening.ts';
import type { CircleOpening, CircleWorkflows } from './circle-contract.ts';
import type { NewCircle } from './circle-shape.ts';
import { findCircle } from './find-circle.ts';
import { placeOfName } from './open-circle.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { defaultCapacity } from './saving-circle.ts';
import { readStartDate } from './start-date.ts';
import { columnsOf, guaranteeOf, termsAskedFor } from './terms.ts';

export interface CircleCreation {
  caller: Caller;
  circle: NewCircle;
  requestId: string;
}

/** Refuses a contribution (IDR) whose pot, with all places taken, would exceed the largest amount of money. */
export function refuseTooMuch(amount: Money, capacity: number, field = 'amount'): void {
  const largest = largestShare(capacity);
  if (compareMoney(amount, largest) > 0) {
    refuse('REQUEST_INVALID', `with a capacity of ${capacity} the amount must be at most ${largest}`, { field });
  }
}

/**
 * Creates a circle by starting its workflow, and waits at most ten seconds for its row. Throws what can be refused before
 * it exists: FORBIDDEN for an account that is not the caller's own or, for platform callers, an organization's; 400 for
 * the start date, and for a guarantee with more than four decimals; and SERVICE_UNAVAILABLE when nothing could be started.
 */
export async function createCircle(
  em: EntityManager,
  { sealer, workflows }: { sealer: Sealer; workflows: Pick<CircleWorkflows, 'startSavingCircle'> },
  creation: CircleCreation,
): Promise<SavingCircle> {
  const circleId = newId();
  const waitMs = budgets.requests.circleRow;
  const stamp = await stampOpening(em, { livesMs: waitMs });
  const unavailable = 'The saving circle could not be started; try again';
  return createOnce(
    em,
    { resourceId: circleId, kind: 'saving_circle', stamp, unavailable },
    {
      find: (place) => findCircle(place, circleId),
      prepare: () => prepareCircle(em, sealer, { circleId, stamp, ...creation }),
      // Its id is of this request alone: no run of it is older than its row.
      start: (opening) => workflows.startSavingCircle(circleId, opening, waitMs).then(() => null),
    },
  );
}

/** The input of a circle's workflow; throws as `createCircle`. */
export async function prepareCircle(
  em: EntityManager,
  sealer: Sealer,
  { circleId, caller, circle, requestId, stamp }: CircleCreation & { circleId: string; stamp: OpeningStamp },
): Promise<Omit<CircleOpening, 'stamp'>> {
  const owner = await ownerOf(em, caller, circle.account_id);
  const { name, terms: asked, capacity = defaultCapacity } = circle;
  refuseTooMuch(circle.amount, capacity);
  const terms = asked === undefined ? null : termsAskedFor(asked);
  guaranteeOf(terms, circle.amount);
  const { startDate, startsAt } = readStartDate(circle.start_date, new Date(stamp.askedAt));
  const columns = {
    account_id: circle.account_id,
    visibility: circle.visibility ?? 'private',
    round_interval: circle.round_interval ?? 'monthly',
    turn_order: circle.turn_order ?? 'joining',
    ...owner,
    ...columnsOf(terms),
    created_by: caller.userId,
    capacity,
    amount: formatMoney(circle.amount),
    start_date: startDate,
  };
  const nameSealed = await sealer.seal(placeOfName(circleId), name);
  return { circle: columns, nameSealed, startsAt: startsAt.toISOString(), requestId };
}

type Owner = Pick<CircleOpening['circle'], 'owner_type' | 'owner_id' | 'organization_id'>;

async function ownerOf(em: EntityManager, caller: Caller, accountId: string): Promise<Owner> {
  const account = await em.findOne(Account, { id: accountId });
  if (account === null) refuse('NOT_FOUND', 'the account was not found', { field: 'account_id' });
  const organizationId = account.kind === 'organization' ? (account.organization_id ?? null) : null;
  const usable = isPlatform(caller) ? organizationId !== null : mayUseAccount(caller, account);
  if (!usable) refuse('FORBIDDEN', 'your saving circle cannot use this account', { field: 'account_id' });
  return organizationId === null
    ? { owner_type: 'individual', owner_id: caller.userId, organization_id: caller.organizationId }
    : { owner_type: 'organization', owner_id: organizationId, organization_id: organizationId };
}
