import { randomBytes } from 'node:crypto';
import type { EntityManager, RequiredEntityData } from '@mikro-orm/postgresql';
import { Account } from '../ledger/accounts/account.entity.ts';
import { openAccount } from '../ledger/accounts/open-account.ts';
import { mayUseAccount } from '../ledger/may-use-account.ts';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import type { Sealer } from '../platform/encryption/sealer.ts';
import { recordEvent } from '../platform/events/record-event.ts';
import { type Caller, isPlatform } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import { failpoint } from '../shared/failpoint.ts';
import { newId } from '../shared/ids.ts';
import { compareMoney, formatMoney, largestShare, type Money } from '../shared/money.ts';
import type { CircleWorkflows } from './circle-contract.ts';
import type { NewCircle } from './circle-shape.ts';
import { SavingCircle } from './saving-circle.entity.ts';
import { readStartDate } from './start-date.ts';
import { columnsOf, guaranteeOf, termsAskedFor } from './terms.ts';
import { commitTo, placeOfSeed } from './turn-order.ts';

/** Refuses a contribution (IDR) whose full pot would exceed the largest amount of money. */
export function refuseTooMuch(amount: Money, capacity: number, field = 'amount'): void {
  const largest = largestShare(capacity);
  if (compareMoney(amount, largest) > 0) {
    refuse('REQUEST_INVALID', `with a capacity of ${capacity} the amount must be at most ${largest}`, { field });
  }
}

export type NewColumns = Omit<RequiredEntityData<SavingCircle>, 'id' | 'holding_account_id'> & { created_by: string };

/**
 * Creates a circle and starts its workflow; if Temporal is down, the circle's next change or the sweep after its start
 * date does. Throws FORBIDDEN unless the account is the caller's own or, for platform callers, an organization's; and
 * 400 for an invalid start date, a guarantee with more than four decimals or a pot beyond the largest amount.
 */
export async function createCircle(
  em: EntityManager,
  { sealer, workflows }: { sealer: Sealer; workflows: Pick<CircleWorkflows, 'wakeSavingCircle'> },
  { caller, circle: asked, requestId }: { caller: Caller; circle: NewCircle; requestId: string },
): Promise<SavingCircle> {
  const circle = await em.transactional(async (tx) => {
    const owner = await ownerOf(tx, caller, asked.account_id);
    const { terms: askedTerms, amount, ...others } = asked;
    refuseTooMuch(amount, asked.capacity);
    const terms = columnsOf(askedTerms === undefined ? null : termsAskedFor(askedTerms));
    guaranteeOf(terms, amount);
    const start = readStartDate(asked.start_date, await readDatabaseClock(tx));
    const columns = { ...others, ...owner, ...terms, ...start, amount: formatMoney(amount), created_by: caller.userId };
    return insertCircle(tx, sealer, columns, requestId);
  });
  await failpoint('create-circle.after');
  void workflows.wakeSavingCircle(circle.id, circle);
  return circle;
}

/** Inserts a `new` circle with its holding account and, for a lottery, the sealed seed and its commitment. */
export async function insertCircle(
  tx: EntityManager,
  sealer: Sealer,
  columns: NewColumns,
  requestId: string,
): Promise<SavingCircle> {
  const id = newId();
  const holding_account_id = newId();
  const by = { actorId: columns.created_by, requestId };
  const holding = { id: holding_account_id, kind: 'circle_holding', name: 'Saving circle', ownerId: id } as const;
  await openAccount(tx, holding, by);
  const draw = columns.turn_order === 'lottery' ? await prepareDraw(sealer, id) : {};
  const circle = tx.create(SavingCircle, { ...columns, id, holding_account_id, ...draw });
  await tx.flush();
  await recordEvent(tx, { event: 'RESOURCE_CREATED', resourceType: 'saving_circle', resourceId: id, ...by });
  return circle;
}

const seedBytes = 32;

/**
 * Creates a random seed, sealed until the draw, and its commitment, with which anyone can verify the seed afterwards.
 */
async function prepareDraw(sealer: Sealer, circleId: string) {
  const seed = randomBytes(seedBytes).toString('hex');
  return { draw_commitment: commitTo(seed), draw_seed_sealed: await sealer.seal(placeOfSeed(circleId), seed) };
}

type Owner = Pick<NewColumns, 'owner_type' | 'owner_id' | 'organization_id'>;

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
