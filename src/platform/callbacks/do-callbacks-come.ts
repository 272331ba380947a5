import type { EntityManager } from '@mikro-orm/postgresql';

/** The maximum and minimum number of recent payments to examine, and their maximum age. */
const measured = { most: 20, least: 5, hours: 2 };
/** One in this many settled payments may lack a callback, as single callbacks are sometimes late. */
const oneMayBeMissing = 10;

/** Whether the provider's callbacks arrive: nearly all recent payments had one. False if too few were paid to judge. */
export async function doCallbacksCome(em: EntityManager): Promise<boolean> {
  const [{ paid, told }] = await em.execute<[{ paid: number; told: number }]>(
    `select count(*)::int as paid, count(callback.told)::int as told
     from (select reference, provider_payment_id from receipts
       where received_at > clock_timestamp() - make_interval(hours => ?) order by received_at desc limit ?) r
     left join lateral (select true as told from gateway_callbacks c
       where c.reference = r.reference and c.provider_payment_id = r.provider_payment_id
         and c.id >= first_id_at(now() - make_interval(hours => 24 + ?)) limit 1) callback on true`,
    [measured.hours, measured.most, measured.hours],
  );
  return paid >= measured.least && paid - told <= paid / oneMayBeMissing;
}
