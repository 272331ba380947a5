import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../ledger/accounts/account.entity.ts';
import { mayUseAccount } from '../ledger/may-use-account.ts';
import { readPayer } from '../people/identity/read-payer.ts';
import { tell } from '../people/mail/tell.ts';
import { emailDigest } from '../people/members/profile.ts';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import type { Sealer } from '../platform/encryption/sealer.ts';
import type { Caller } from '../shared/caller.ts';
import { refuse, withFieldNames } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { textArray } from '../shared/postgres.ts';
import {
  type Asking,
  type AskingForPlace,
  changeCircle,
  getPlace,
  lockLiveCircle,
  recordChange,
  requireStatus,
  type WakingCircles,
} from './change-circle.ts';
import { isOpenTo, mayManageCircle, requireManager } from './circle-access.ts';
import { CircleMember } from './circle-member.entity.ts';
import { isInvited } from './find-circle.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { drawsWithEntropy, needsConsent, requireConsent } from './terms.ts';

interface Joining extends Asking {
  /** The accounts to add, all or none; if absent, the caller joins with its oldest account. */
  accountIds: string[] | undefined;
  /** The joining member's consent to debits of the account for contributions after the member's turn. */
  consent?: boolean | undefined;
  /** The joining member's value for a lottery that draws with it: 16 to 64 hex characters. */
  entropy?: string | undefined;
}

interface Joiner {
  accountId: string;
  userId: string;
}

/**
 * Adds members to a `new` circle in the order of the accounts, all or none, and signals its workflow. Managers add
 * others; a caller to whom the circle is open, or who is invited, may join. Throws NOT_FOUND, FORBIDDEN, and 400 if the
 * circle is not `new` or is full, an account or its user is already a member, or members must accept its terms in
 * person.
 */
export function addMembers(em: EntityManager, ports: WakingCircles, joining: Joining): Promise<CircleMember[]> {
  const { caller, accountIds } = joining;
  const add = async (tx: EntityManager, circle: SavingCircle) => {
    if (accountIds !== undefined) requireManager(caller, circle);
    else if (!mayManageCircle(caller, circle) && !isOpenTo(caller, circle) && !(await isInvited(tx, circle, caller))) {
      refuse('FORBIDDEN', 'you may not join this saving circle', { field: 'id' });
    }
    requireStatus(circle, 'new', 'members can only join a new saving circle', 'saving_circle_id');
    const joiners = accountIds === undefined ? [await oneself(tx, caller)] : await ownersOf(tx, caller, accountIds);
    const already = await refuseMembers(tx, circle, joiners, 'account_ids');
    if (already + joiners.length > circle.capacity) {
      refuse('REQUEST_INVALID', `the saving circle is full: it has ${circle.capacity} places`, {
        field: 'saving_circle_id',
      });
    }
    const accepted = { saving_circle_id: circle.id, ...(await acceptTerms(tx, circle, joiners, joining)) };
    const members = joiners.map(({ accountId: account_id, userId: user_id }) =>
      tx.create(CircleMember, { id: newId(), account_id, user_id, ...accepted }),
    );
    await tx.flush();
    await recordChange(tx, circle.id, { members_added: members.map(({ id }) => id) }, { by: joining });
    return members;
  };
  return withFieldNames({ id: 'saving_circle_id' }, () => changeCircle(em, ports, joining, add));
}

/** Removes a member, for the member or a manager. Throws NOT_FOUND, FORBIDDEN, and 400 once the circle is not `new`. */
export function removeMember(em: EntityManager, ports: WakingCircles, leaving: AskingForPlace): Promise<CircleMember> {
  return changeCircle(em, ports, leaving, async (tx, circle) => {
    const member = await getPlace(tx, circle, leaving);
    requireStatus(circle, 'new', 'members can only leave a new saving circle');
    await tx.nativeDelete(CircleMember, { id: member.id });
    const { id, user_id, account_id } = member;
    await recordChange(tx, circle.id, { member_removed: id, user_id, account_id }, { by: leaving });
    return member;
  });
}

/**
 * Returns a member's consent to debits and value for the draw, where the circle needs them. Throws 400 if one is
 * missing or the member does not join in person.
 */
async function acceptTerms(
  tx: EntityManager,
  circle: SavingCircle,
  joiners: Joiner[],
  { caller, consent, entropy }: Joining,
) {
  const draws = drawsWithEntropy(circle);
  if ((needsConsent(circle) || draws) && joiners.some(({ userId }) => userId !== caller.userId)) {
    refuse('REQUEST_INVALID', 'members must join this saving circle themselves', { field: 'account_ids' });
  }
  const consents = requireConsent(circle, consent);
  if (draws && entropy === undefined) refuse('REQUEST_INVALID', 'is required', { field: 'entropy' });
  return { consented_at: consents ? await readDatabaseClock(tx) : null, entropy: draws ? (entropy ?? null) : null };
}

/**
 * Returns the caller with their oldest account. Throws FORBIDDEN if the caller has been suspended since the request
 * began.
 */
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
 * Returns the accounts with their owners, in order; an organization's account joins for the admin who names it. Refuses
 * suspended users, who could not pay. A concurrent suspension waits for the lock.
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
    return refuse('REQUEST_INVALID', `the account ${accountId} cannot join: its owner cannot be a member`, { field });
  });
}

/** Refuses an account or user that is already a member or is named twice. Returns the number of members. */
export async function refuseMembers(
  tx: EntityManager,
  { id }: SavingCircle,
  joiners: readonly Joiner[],
  field: string,
): Promise<number> {
  const members = await tx.find(CircleMember, { saving_circle_id: id });
  const taken = new Set(members.flatMap(({ user_id, account_id }) => [user_id, account_id]));
  for (const { accountId, userId } of joiners) {
    if (taken.has(userId) || taken.has(accountId)) {
      refuse('REQUEST_INVALID', `the account ${accountId} or its user is a member already`, { field });
    }
    taken.add(userId).add(accountId);
  }
  return members.length;
}

/**
 * Invites users of the circle's organization by id or e-mail, for its managers. Invited users get one e-mail, may read
 * the circle while it is `new`, and join by themselves. Throws NOT_FOUND, FORBIDDEN, and REQUEST_INVALID if the circle
 * is not `new` or an invited person is not an active user of its organization.
 */
export async function inviteMembers(
  em: EntityManager,
  sealer: Sealer,
  asking: Asking & { userIds: string[]; emails: string[] },
): Promise<void> {
  const { caller, circleId, userIds, emails } = asking;
  const digests = await Promise.all(emails.map((email) => emailDigest(sealer, email)));
  await em.transactional(async (tx) => {
    const circle = await withFieldNames({ id: 'saving_circle_id' }, () => lockLiveCircle(tx, circleId));
    requireManager(caller, circle);
    requireStatus(circle, 'new', 'people can only be asked to join a new saving circle', 'saving_circle_id');
    const found = await tx.execute<{ id: string; email_digest: string }[]>(
      `select id, email_digest from users where (id = any(?::uuid[]) or email_digest = any(?::text[]))
         and organization_id = ? and status = 'active' order by id for key share`,
      [textArray(userIds), textArray(digests), circle.organization_id ?? null],
    );
    const known = new Set(found.flatMap(({ id, email_digest }) => [id, email_digest]));
    const stranger = userIds.find((id) => !known.has(id.toLowerCase()));
    const unreached = emails.find((_, index) => !known.has(digests[index] as string));
    const unknown = stranger ?? unreached;
    if (unknown !== undefined)
      refuse('REQUEST_INVALID', `${unknown} is not an active user of the circle's organization`, {
        field: stranger === undefined ? 'emails' : 'user_ids',
      });
    const invited = await tx.execute<{ user_id: string }[]>(
      `insert into saving_circle_invitations (saving_circle_id, user_id, created_by)
       select ?, id, ? from unnest(?::uuid[]) as id on conflict do nothing returning user_id`,
      [circleId, caller.userId, textArray(found.map(({ id }) => id))],
    );
    const asked = invited.map(({ user_id }) => user_id);
    if (asked.length === 0) return;
    await tell(tx, { kind: 'circle_invitation', resourceId: circleId, turnNumber: null, userIds: asked });
    await recordChange(tx, circleId, { invited: asked }, { by: asking });
  });
}
