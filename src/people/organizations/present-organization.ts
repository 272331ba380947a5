import { z } from 'zod';
import { timestamp } from '../../platform/http/fields.ts';
import { organizationLaw } from '../../shared/organization.ts';
import type { Organization } from '../members/organization.entity.ts';

/** An organization in answers. */
export const OrganizationAnswer = z
  .object({
    id: z.guid(),
    name: z.string(),
    logo_id: z.string().nullable(),
    email: z.string(),
    phone_number: z.string().nullable(),
    official_registration_number: z.string().nullable(),
    industry: z.string().nullable(),
    size: z.string().nullable(),
    status: z.enum(organizationLaw.statuses),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Organization' });

export function presentOrganization(organization: Organization): z.input<typeof OrganizationAnswer> {
  const { id, name, email, status } = organization;
  return {
    id,
    name,
    logo_id: organization.logo_id ?? null,
    email,
    phone_number: organization.phone_number ?? null,
    official_registration_number: organization.official_registration_number ?? null,
    industry: organization.industry ?? null,
    size: organization.size ?? null,
    status,
    created_at: organization.created_at.toISOString(),
    updated_at: organization.updated_at.toISOString(),
  };
}
