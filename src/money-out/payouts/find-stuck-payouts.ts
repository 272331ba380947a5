import type { EntityManager } from '@mikro-orm/postgresql';
import {
  comesAfter,
  cutPage,
  type Listed,
  type Placed,
  paramsOf,
  positionOf,
  startOfPage,
} from '../../platform/database/position.ts';
import { firstSentAt } from './attempts.ts';
import type { PayoutKind } from './payout.ts';

export interface StuckPayout {
  /** Null for an unknown transfer. */
  payout_id: string | null;
  kind: PayoutKind | null;
  /** The provider's id of a transfer that we did not request. */
  provider_id: string | null;
  /** Null for payouts that belong to no partner. */
  partner_id: string | null;
  reference: string;
  amount: string;
  unknown_since: string;
  age_seconds: number;
  reason: string;
}

interface StuckRow extends Omit<StuckPayout, 'unknown_since' | 'reason'>, Placed {
  beyond: 'DOUBLE_TRANSFER' | 'UNKNOWN_TRANSFER' | null;
  since: string | Date;
  status: string;
  last_word: string | null;
  attempts: number;
  contradicted: boolean;
}

/** Why the outcome is unknown, by the provider's last status. */
const reasons: Record<string, string> = {
  unsent: 'the provider is unreachable; nothing was sent',
  'repeat refused': 'a repeated request was refused; the first may still be carried out',
  'not known': 'the transfer was requested, but the provider does not know it',
  silent: 'the transfer was sent and the provider gives no usable answer',
  'another amount': 'the provider has a transfer of another amount',
  accepted: 'the provider accepted the transfer over a day ago and has not completed it',
  'request differs': 'the request differs from the first one, or can no longer be decrypted; nothing is sent',
};

/** 'request differs' after a request that may have been carried out. */
const reasonNotAgain = 'the transfer was requested, but the request can no longer be repeated or decrypted';

const reasonOf = (lastWord: string | null, attempts: number): string =>
  lastWord === 'request differs' && attempts > 0
    ? reasonNotAgain
    : (reasons[lastWord ?? ''] ?? 'the provider has not answered');

const reasonOfBeyond = (kind: 'DOUBLE_TRANSFER' | 'UNKNOWN_TRANSFER', providerId: string | null): string =>
  kind === 'DOUBLE_TRANSFER'
    ? `${kind}: the provider has a further transfer under this reference, ${providerId}`
    : `${kind}: the provider has a transfer that we did not request, ${providerId}`;

/** SQL: when the provider accepted the payout, at the earliest. */
export const acceptedSince = `coalesce(${firstSentAt('payouts.id')}, created_at)`;

/** SQL: operators settled it as failed; its money counts as spent until the provider reports the outcome. */
export const isUnheard = "status = 'failed' and has_left and booked_at is null and explained_word is null";

/** Accepted payouts count as stuck one day after they were sent. */
const since = `coalesce(unknown_since, contradicted_at, finalized_at, ${acceptedSince} + interval '1 day')`;
const stuck = `stuck as (
  select id, id as payout_id, kind, partner_id, reference, amount, status, last_word, contradicted_at, ${since} as since,
    null as provider_id, null as beyond
  from payouts
  where (unknown_since is not null and (? = 0 or unknown_since <= now() - make_interval(mins => ?)))
    or contradicted_at is not null or (${isUnheard})
    or (status = 'pending' and last_word = 'accepted' and created_at < now() - interval '1 day'
      and ${acceptedSince} < now() - interval '1 day' - make_interval(mins => ?))
  union all
  select r.id, r.resource_id, p.kind, p.partner_id, coalesce(p.reference, r.reference), (r.theirs ->> 'amount')::numeric(20, 4),
    null, null, null, r.created_at, r.subject, r.kind
  from reconciliations r left join payouts p on p.id = r.resource_id
  where r.state = 'open' and r.kind in ('DOUBLE_TRANSFER', 'UNKNOWN_TRANSFER'))`;

/**
 * Stuck payouts, oldest first, with `next` if more follow: outcome unknown for at least `minutes` minutes; accepted and
 * still open a day and `minutes` minutes after sending; contradicted; settled by people as failed though the money may
 * have left; and unrequested transfers. Throws REQUEST_INVALID if `after` is not the id of one of them; a payout that
 * is no longer stuck has no position.
 */
export async function findStuckPayouts(
  em: EntityManager,
  { minutes, limit, page, after }: { minutes: number; limit: number; page: number; after?: string | undefined },
): Promise<Listed & { items: StuckPayout[] }> {
  const position = positionOf('since', 'id');
  // Ignores `minutes`: a payout that has been stuck for less also has a position in the order.
  const start = await startOfPage(after, (id) =>
    em.execute<Placed[]>(`with ${stuck} select ${position} as position from stuck where id = ?`, [0, 0, 0, id]),
  );
  const read = await em.execute<StuckRow[]>(
    `with ${stuck}
     select payout_id, kind, partner_id, reference, amount::text as amount, status, last_word, since, provider_id, beyond,
       contradicted_at is not null as contradicted,
       (select count(*)::int from payout_attempts a where a.payout_id = stuck.payout_id and a.outcome is distinct from 'unsent')
         as attempts, greatest(0, extract(epoch from now() - since))::int as age_seconds,
       ${position} as position
     from stuck ${start === undefined ? '' : `where ${comesAfter('since', 'id', 'asc')}`}
     order by since, id limit ? offset ?`,
    [
      ...[minutes, minutes, minutes],
      ...(start === undefined ? [] : paramsOf(start)),
      ...[limit + 1, start === undefined ? (page - 1) * limit : 0],
    ],
  );
  const [counted] = await em.execute<{ total: number }[]>(`with ${stuck} select count(*)::int as total from stuck`, [
    minutes,
    minutes,
    minutes,
  ]);
  const { rows, next } = cutPage(read, limit);
  return {
    items: rows.map(({ since, status, last_word, contradicted, attempts, beyond, ...row }) => ({
      ...row,
      unknown_since: new Date(since).toISOString(),
      reason: beyond
        ? reasonOfBeyond(beyond, row.provider_id)
        : contradicted
          ? `contradicted: we say ${status}, the provider says ${last_word}`
          : `${status === 'failed' ? 'settled as failed, outcome unreported' : 'unknown'}: ${reasonOf(last_word, attempts)}${attempts > 1 ? ` (requested ${attempts} times, under one key)` : ''}`,
    })),
    total: counted?.total ?? 0,
    next,
  };
}
