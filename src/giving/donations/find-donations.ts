import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import { findPage, type ListWindow } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { type Caller, isPlatform } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { Donation } from './donation.entity.ts';

/** A page of the caller's own donations, newest first. */
export const findOwnDonations = (
  em: EntityManager,
  caller: Caller,
  window: ListWindow,
): Promise<Listed & { items: Donation[] }> => findPage(em, Donation, { user_id: caller.userId }, window);

const unallocated: FilterQuery<Donation> = { type: 'open', status: 'completed', cause_id: null };

/** Returns a page of the open donations received but not yet allocated, newest first. */
export const findOpenDonations = (em: EntityManager, window: ListWindow): Promise<Listed & { items: Donation[] }> =>
  findPage(em, Donation, unallocated, window, { within: { type: 'open' } });

/** Returns a donation, for its donor and for platform. Throws NOT_FOUND, and FORBIDDEN if it is someone else's. */
export async function getDonation(em: EntityManager, caller: Caller, id: string): Promise<Donation> {
  const donation = await em.findOne(Donation, { id });
  if (donation === null) refuse('NOT_FOUND', 'the donation was not found', { field: 'id' });
  if (donation.user_id !== caller.userId && !isPlatform(caller))
    refuse('FORBIDDEN', 'the donation is not yours', { field: 'id' });
  return donation;
}
