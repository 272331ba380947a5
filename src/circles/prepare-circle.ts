import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../ledger/accounts/account.entity.ts';
import { mayUseAccount } from '../ledger/may-use-account.ts';
import type { Sealer } from '../platform/encryption/sealer.ts';
import { type Caller, isPlatform } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import { compareMoney, formatMoney, largestShare, type Money } from '../shared/money.ts';
import type { OpeningStamp } from '../shared/opening.ts';
import type { CircleOpening } from './circle-contract.ts';
import { placeOfName } from './open-circle.ts';
import {
  type CircleOwnerType,
  type CircleVisibility,
  defaultCapacity,
  type RoundInterval,
  type TurnOrder,
} from './saving-circle.ts';
import { readStartDate } from './start-date.ts';
import { type AskedTerms, guaranteeOf, termsAskedFor } from './terms.ts';

export interface NewCircle {
  account_id: string;
  name: string;
  capacity?: number | undefined;
  start_date: string;
  /** IDR. */
  amount: Money;
  visibility?: CircleVisibility | undefined;
  round_interval?: RoundInterval | undefined;
  turn_order?: TurnOrder | undefined;
  terms?: AskedTerms | undefined;
}

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
 * Every check that can refuse a circle before it exists: the account, which must be the caller's own or, for platform
 * callers, an organization's (FORBIDDEN), the start date, and a guarantee with more than four decimals. Returns the
 * input of the circle's workflow.
 */
export async function prepareCircle(
  em: EntityManager,
  sealer: Sealer,
  { circleId, caller, circle, requestId, stamp }: CircleCreation & { circleId: string; stamp: OpeningStamp },
): Promise<Omit<CircleOpening, 'stamp'>> {
  const owner = await ownerOf(em, caller, circle.account_id);
  const capacity = circle.capacity ?? defaultCapacity;
  refuseTooMuch(circle.amount, capacity);
  const terms = circle.terms === undefined ? null : termsAskedFor(circle.terms);
  guaranteeOf(terms, circle.amount);
  const { startDate, startsAt } = readStartDate(circle.start_date, new Date(stamp.askedAt));
  return {
    ...owner,
    nameSealed: await sealer.seal(placeOfName(circleId), circle.name),
    accountId: circle.account_id,
    createdBy: caller.userId,
    capacity,
    amount: formatMoney(circle.amount),
    visibility: circle.visibility ?? 'private',
    roundInterval: circle.round_interval ?? 'monthly',
    turnOrder: circle.turn_order ?? 'joining',
    terms,
    startDate,
    startsAt: startsAt.toISOString(),
    requestId,
  };
}

interface Owner {
  ownerType: CircleOwnerType;
  ownerId: string;
  organizationId: string | null;
}

async function ownerOf(em: EntityManager, caller: Caller, accountId: string): Promise<Owner> {
  const account = await em.findOne(Account, { id: accountId });
  if (account === null) refuse('NOT_FOUND', 'the account was not found', { field: 'account_id' });
  const organizationId = account.kind === 'organization' ? (account.organization_id ?? null) : null;
  const usable = isPlatform(caller) ? organizationId !== null : mayUseAccount(caller, account);
  if (!usable) refuse('FORBIDDEN', 'your saving circle cannot use this account', { field: 'account_id' });
  return organizationId === null
    ? { ownerType: 'individual', ownerId: caller.userId, organizationId: caller.organizationId }
    : { ownerType: 'organization', ownerId: organizationId, organizationId };
}
