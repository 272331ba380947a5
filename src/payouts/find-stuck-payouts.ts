import type { EntityManager } from '@mikro-orm/postgresql';

export interface StuckPayout {
  payout_id: string;
  partner_id: string;
  reference: string;
  amount: string;
  unknown_since: string;
  age_seconds: number;
  reason: string;
}

interface StuckRow extends Omit<StuckPayout, 'unknown_since' | 'reason'> {
  since: string | Date;
  status: string;
  last_word: string | null;
  contradicted: boolean;
  total: string;
}

/** Why nobody can tell, in words, by the provider's last one. */
const reasons: Record<string, string> = {
  unsent: 'the provider cannot be reached; nothing was sent',
  'not known': 'the transfer was sent and the provider does not know it',
  silent: 'the transfer was sent and the provider does not answer',
  'another amount': 'the provider has a transfer of another amount',
};

/** Payouts whose outcome has been unknown for at least so many minutes, and contradicted ones; the oldest first. */
export async function findStuckPayouts(
  em: EntityManager,
  { minutes, limit, page }: { minutes: number; limit: number; page: number },
): Promise<{ items: StuckPayout[]; total: number }> {
  const rows = await em.execute<StuckRow[]>(
    `select id as payout_id, partner_id, reference, amount, status, last_word,
       coalesce(unknown_since, contradicted_at) as since, contradicted_at is not null as contradicted,
       greatest(0, extract(epoch from now() - coalesce(unknown_since, contradicted_at)))::int as age_seconds,
       count(*) over () as total
     from payouts
     where (unknown_since is not null and (? = 0 or unknown_since <= now() - make_interval(mins => ?)))
       or contradicted_at is not null
     order by coalesce(unknown_since, contradicted_at), id limit ? offset ?`,
    [minutes, minutes, limit, (page - 1) * limit],
  );
  return {
    items: rows.map(({ since, status, last_word, contradicted, total: _, ...row }) => ({
      ...row,
      unknown_since: new Date(since).toISOString(),
      reason: contradicted
        ? `contradicted: we say ${status}, the provider says ${last_word}`
        : `unknown: ${reasons[last_word ?? ''] ?? 'the provider has not been heard'}`,
    })),
    total: Number(rows[0]?.total ?? 0),
  };
}
