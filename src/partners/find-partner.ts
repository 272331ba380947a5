import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { findPage, type ListWindow } from '../platform/database/find-page.ts';
import type { Listed } from '../platform/database/position.ts';
import { refuse } from '../shared/errors.ts';
import { Partner } from './partner.entity.ts';
import { PartnerKey } from './partner-key.entity.ts';
import { WebhookEndpoint } from './webhook-endpoint.entity.ts';

const missing = (): never => refuse('NOT_FOUND', 'the partner account was not found', { field: 'partner_id' });

/** The partner with this id. Throws NOT_FOUND. */
export async function getPartner(em: EntityManager, id: string): Promise<Partner> {
  return (await em.findOne(Partner, { id })) ?? missing();
}

/** The partner with this id, locked until the transaction ends. Throws NOT_FOUND. */
export async function lockPartner(tx: EntityManager, id: string): Promise<Partner> {
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  return (await tx.findOne(Partner, { id }, { lockMode, refresh: true })) ?? missing();
}

/** A page of partners. */
export function findPartners(em: EntityManager, window: ListWindow): Promise<Listed & { items: Partner[] }> {
  return findPage(em, Partner, {}, window);
}

/** Reads what a partner's detail shows besides its row. */
export async function describePartner(em: EntityManager, partner: Partner) {
  const orderBy = { created_at: 'asc', id: 'asc' } as const;
  const keys = await em.find(PartnerKey, { partner_id: partner.id }, { orderBy });
  const organizations = await em.execute<{ organization_id: string }[]>(
    `select organization_id from partner_organizations where partner_id = ? and revoked_at is null order by created_at`,
    [partner.id],
  );
  const endpoints = await em.find(WebhookEndpoint, { partner_id: partner.id }, { orderBy });
  return {
    keys,
    organizationIds: [
      ...new Set([partner.organization_id, ...organizations.map(({ organization_id }) => organization_id)]),
    ],
    endpoints,
  };
}
