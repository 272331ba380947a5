import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../ledger/accounts/account.entity.ts';
import { mayUseAccount } from '../ledger/may-use-account.ts';
import { readPayer } from '../people/identity/read-payer.ts';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { recordEvent } from '../platform/events/record-event.ts';
import type { Caller } from '../shared/caller.ts';
import { refuse, withFieldNames } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { textArray } from '../shared/postgres.ts';
import { thenWake } from '../shared/then-wake.ts';
import { isOpenTo, mayManageCircle, requireManager } from './circle-access.ts';
import type { CircleWorkflows } from './circle-contract.ts';
import { CircleMember } from './circle-member.entity.ts';
import { isInvited } from './find-circle.ts';
import { lockLiveCircle } from './lock-circle.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { drawsWithEntropy, needsConsent, termsOf } from './terms.ts';

interface Joining {
  caller: Caller;
  circleId: string;
  /** The accounts to add, all or none; absent: the caller joins with its oldest account. */
  accountIds: string[] | undefined;
  /** The joining member's consent to debits of the account for contributions after the member's turn. */
  consent?: boolean | undefined;
  /** The joining member's value for a lottery that draws with it: 16 to 64 hex characters. */
  entropy?: string | undefined;
  requestId: string;
}

interface Joiner {
  accountId: string;
  userId: string;
}

/**
 * Adds members to a `new` circle, in the order of the accounts, all or none, and wakes its workflow. Creator and admins
 * add others; a caller to whom the circle is open adds itself. Throws NOT_FOUND, FORBIDDEN, and 400 when the circle is
 * not `new` or is full, when an account or its user is a member already, or when its terms require what only the member
 * can give.
 */
export function addMembers(
  em: EntityManager,
  { workflows }: { workflows: Pick<CircleWorkflows, 'wakeSavingCircle'> },
  joining: Joining,
): Promise<CircleMember[]> {
  const { caller, circleId, accountIds, requestId } = joining;
  return thenWake(
    em.transactional(async (tx) => {
      const circle = await withFieldNames({ id: 'saving_circle_id' }, () => lockJoinable(tx, joining));
      if (circle.status !== 'new') {
        refuse('REQUEST_INVALID', `members can only join a new saving circle; this one is ${circle.status}`, {
          field: 'saving_circle_id',
        });
      }
      const joiners =
        accountIds === undefined ? [await oneself(tx, caller)] : await ownersOf(tx, caller, [...new Set(accountIds)]);
      await refuseUnfit(tx, circle, joiners, accountIds);
      const joiningBy = acceptTerms(circle, joiners, joining);
      const consented_at = joiningBy.consents ? await readDatabaseClock(tx) : null;
      const members = await insertMembers(tx, circle, { joiners, consented_at, entropy: joiningBy.entropy });
      await recordEvent(tx, {
        event: 'RESOURCE_UPDATED',
        resourceType: 'saving_circle',
        resourceId: circle.id,
        actorId: caller.userId,
        requestId,
        data: { members_added: members.map(({ id }) => id) },
      });
      return members;
    }),
    () => workflows.wakeSavingCircle(circleId, 'circleChanged'),
  );
}

/** Adds the members in their order, which is the order of joining, by one statement whatever their number. */
async function insertMembers(
  tx: EntityManager,
  circle: SavingCircle,
  { joiners, consented_at, entropy }: { joiners: Joiner[]; consented_at: Date | null; entropy: string | null },
): Promise<CircleMember[]> {
  const rows = joiners.map(({ accountId, userId }, place) => ({
    id: newId(),
    account_id: accountId,
    user_id: userId,
    place,
  }));
  await tx.execute(
    `insert into saving_circle_members (id, saving_circle_id, account_id, user_id, entropy, consented_at)
     select id, ?, account_id, user_id, ?, ?::timestamptz
     from jsonb_to_recordset(?::jsonb) as joiner (id uuid, account_id uuid, user_id uuid, place integer) order by place`,
    [circle.id, entropy, consented_at, JSON.stringify(rows)],
  );
  return tx.find(CircleMember, { id: { $in: rows.map(({ id }) => id) } }, { orderBy: { joining_order: 'asc' } });
}

/**
 * What the terms require of a joining member: consent to debits, a value for the draw. Members give both only for
 * themselves, and they are stored only where required.
 */
function acceptTerms(circle: SavingCircle, joiners: Joiner[], { caller, consent, entropy }: Joining) {
  const terms = termsOf(circle);
  const consents = needsConsent(terms);
  const draws = drawsWithEntropy(circle.turn_order, terms);
  if ((consents || draws) && joiners.some(({ userId }) => userId !== caller.userId)) {
    refuse('REQUEST_INVALID', 'members join this saving circle by themselves', { field: 'account_ids' });
  }
  if (consents && consent !== true) {
    refuse(
      'REQUEST_INVALID',
      'must be true: members who have received go on paying, by debits of the account if necessary',
      {
        field: 'consent',
      },
    );
  }
  if (draws && entropy === undefined) refuse('REQUEST_INVALID', 'is required', { field: 'entropy' });
  return { consents, entropy: draws ? (entropy ?? null) : null };
}

/** The circle, locked, if the caller may join it this way: creator and admins add others, anybody joins an open one. */
async function lockJoinable(tx: EntityManager, { caller, circleId, accountIds }: Joining): Promise<SavingCircle> {
  const circle = await lockLiveCircle(tx, circleId);
  if (accountIds !== undefined) requireManager(caller, circle);
  else if (!mayManageCircle(caller, circle) && !isOpenTo(caller, circle) && !(await isInvited(tx, circle, caller))) {
    refuse('FORBIDDEN', 'you may not join this saving circle', { field: 'id' });
  }
  return circle;
}

/** Throws FORBIDDEN, too, where they were suspended since they asked. */
async function oneself(tx: EntityManager, caller: Caller): Promise<Joiner> {
  await readPayer(tx, caller.userId);
  const where =
    caller.userType === 'organization'
      ? { kind: 'organization' as const, organization_id: caller.organizationId }
      : { kind: 'user' as const, user_id: caller.userId };
  const account = await tx.findOne(Account, where, { orderBy: { created_at: 'asc', id: 'asc' } });
  if (account === null) refuse('REQUEST_INVALID', 'you have no account to join with', { field: 'account_ids' });
  return { accountId: account.id, userId: caller.userId };
}

/**
 * The owners of the accounts, in the order asked for. An organization's account joins for the admin who names it; a
 * suspended user could not pay a round, and is refused. Waits for a suspension under way; a later one waits.
 */
export async function ownersOf(
  tx: EntityManager,
  caller: Caller,
  accountIds: string[],
  field = 'account_ids',
): Promise<Joiner[]> {
  const accounts = new Map((await tx.find(Account, { id: { $in: accountIds } })).map((found) => [found.id, found]));
  const owners = [...accounts.values()].flatMap(({ user_id }) => user_id ?? []);
  const held = "select id from users where id = any(?::uuid[]) and status = 'active' order by id for key share";
  const active = new Set((await tx.execute<{ id: string }[]>(held, [textArray(owners)])).map(({ id }) => id));
  return accountIds.map((accountId) => {
    const account = accounts.get(accountId);
    if (account === undefined) refuse('NOT_FOUND', `the account ${accountId} was not found`, { field });
    const { kind, user_id } = account;
    if (kind === 'user' && user_id && active.has(user_id)) return { accountId, userId: user_id };
    if (mayUseAccount(caller, account)) return { accountId, userId: caller.userId };
    return refuse('REQUEST_INVALID', `the account ${accountId} belongs to nobody who can be a member`, { field });
  });
}

async function refuseUnfit(tx: EntityManager, circle: SavingCircle, joiners: Joiner[], asked: string[] | undefined) {
  const already = (accountId: string): never =>
    refuse('REQUEST_INVALID', `the account ${accountId} or its user is a member already`, { field: 'account_ids' });
  const members = await tx.find(CircleMember, { saving_circle_id: circle.id });
  const users = new Set(members.map(({ user_id }) => user_id));
  const accounts = new Set(members.map(({ account_id }) => account_id));
  for (const { accountId, userId } of joiners) {
    if (users.has(userId) || accounts.has(accountId)) already(accountId);
    users.add(userId);
    accounts.add(accountId);
  }
  const twice = asked?.find((id, index) => asked.indexOf(id) !== index);
  if (twice !== undefined) already(twice);
  if (members.length + joiners.length > circle.capacity) {
    refuse('REQUEST_INVALID', `the saving circle is full, it has ${circle.capacity} places`, {
      field: 'saving_circle_id',
    });
  }
}
