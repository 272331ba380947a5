import { defineEntity, p } from '@mikro-orm/core';
import type { OrganizationStatus } from '../../shared/organization.ts';

const OrganizationSchema = defineEntity({
  name: 'Organization',
  tableName: 'organizations',
  properties: {
    id: p.uuid().primary(),
    name: p.string().length(200),
    logo_id: p.string().length(255).nullable(),
    email: p.string().length(254),
    phone_number: p.string().length(32).nullable(),
    official_registration_number: p.string().length(64).nullable(),
    industry: p.text().nullable(),
    size: p.text().nullable(),
    status: p.text().$type<OrganizationStatus>(),
    created_at: p.datetime().defaultRaw('now()'),
    updated_at: p.datetime().defaultRaw('now()'),
  },
});

export class Organization extends OrganizationSchema.class {}
OrganizationSchema.setClass(Organization);
