import { z } from 'zod';
import type { Config } from '../../platform/config/config.ts';
import { allow, open } from '../../platform/http/access.ts';
import { created } from '../../platform/http/answer.ts';
import { clearable, email, password, text, timestamp, uuid, verbatimText } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { industryValues, organizationLaw, organizationSizeLabels } from '../../shared/organization.ts';
import type { SignUpPorts } from '../identity/create-user.ts';
import type { Organization } from '../members/organization.entity.ts';
import { getVisibleOrganization, listIndustries, listOrganizations, listSizes } from './find-organization.ts';
import { signUpOrganization } from './sign-up-organization.ts';
import { updateOrganization } from './update-organization.ts';

/** An organization in responses. */
const OrganizationAnswer = z
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

function presentOrganization(organization: Organization): z.input<typeof OrganizationAnswer> {
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

interface Ports extends SignUpPorts {
  config: Pick<Config, 'RATE_LIMIT_SIGNUPS_PER_HOUR'>;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/organizations',
  tag: 'Organizations',
  description: 'Organizations, their sizes and industries.',
});

const message = z.string();
const phoneNumber = () => text(32).regex(/^[+(\d][\d ()./-]*$/, 'must be a phone number');

routes.post(
  '/signup',
  {
    summary: 'Sign up an organization with its admin',
    description:
      'The organization starts `pending`, with one IDR account and an admin in the role `organization_admin`. 429 beyond the ' +
      'configured limit of sign-ups from one network address.',
    access: open(),
    body: z.strictObject({
      name: text(200),
      email: email(),
      phone_number: phoneNumber().optional(),
      official_registration_number: text(64).optional(),
      industry: z.enum(industryValues).optional(),
      size: z.enum(organizationSizeLabels).optional(),
      admin: z.strictObject({ name: text(200), email: email(), password: password() }),
    }),
    answers: { 201: OrganizationAnswer.extend({ message }) },
    refusals: [429],
  },
  async ({ body, em, deps, ctx, requestId }) => {
    const { organization } = await signUpOrganization(em, deps, {
      name: body.name,
      email: body.email,
      phoneNumber: body.phone_number,
      officialRegistrationNumber: body.official_registration_number,
      industry: body.industry,
      size: body.size,
      admin: body.admin,
      origin: { address: ctx.ip, perHour: deps.config.RATE_LIMIT_SIGNUPS_PER_HOUR },
      requestId,
    });
    return created({ message: 'Organization signed up', ...presentOrganization(organization) });
  },
);

routes.get(
  '/',
  {
    summary: 'List organizations',
    access: allow('read-organization', { userTypes: ['platform'], scope: 'all' }),
    query: listQuery(),
    answers: { 200: z.object({ message, organizations: z.array(OrganizationAnswer), ...pageFields }) },
  },
  async ({ query, caller, em, requestId }) => {
    const { organizations, ...listed } = await listOrganizations(em, { caller, requestId, ...query });
    return {
      message: 'Organizations found',
      organizations: organizations.map(presentOrganization),
      ...presentPage(query, listed),
    };
  },
);

const referenceData = { userTypes: ['platform', 'organization'], scope: 'all' } as const;
const Size = z.object({ id: z.guid(), label: z.enum(organizationSizeLabels), range: z.string() });
const Industry = z.object({ id: z.guid(), value: z.enum(industryValues), label: z.string() });

routes.get(
  '/sizes',
  {
    summary: 'The sizes an organization may have',
    access: allow('read-organization', referenceData),
    query: listQuery(),
    answers: { 200: z.object({ message, sizes: z.array(Size), ...pageFields }) },
  },
  async ({ query, em }) => {
    const { rows, ...listed } = await listSizes(em, query);
    return { message: 'Sizes found', sizes: rows, ...presentPage(query, listed) };
  },
);

routes.get(
  '/industries',
  {
    summary: 'The industries an organization may belong to',
    access: allow('read-organization', referenceData),
    query: listQuery(),
    answers: { 200: z.object({ message, industries: z.array(Industry), ...pageFields }) },
  },
  async ({ query, em }) => {
    const { rows, ...listed } = await listIndustries(em, query);
    return { message: 'Industries found', industries: rows, ...presentPage(query, listed) };
  },
);

const organizationId = z.object({ organization_id: uuid() });

routes.get(
  '/:organization_id',
  {
    summary: 'Read an organization',
    access: allow('read-organization', { scope: 'platform: all; others: their own organization' }),
    params: organizationId,
    answers: { 200: OrganizationAnswer.extend({ message }) },
  },
  async ({ params, caller, em }) => {
    const organization = await getVisibleOrganization(em, caller, params.organization_id);
    return { message: 'Organization found', ...presentOrganization(organization) };
  },
);

routes.patch(
  '/:organization_id',
  {
    summary: 'Change an organization',
    description:
      'Editing an organization other than your own: 401, except for a platform super admin. `status` is set by the super admin; an organization’s own admins may only set `inactive`.',
    access: allow('update-organization', { scope: 'super admin: all; others: their own organization (401 otherwise)' }),
    params: organizationId,
    body: z.strictObject({
      name: text(200).optional(),
      logo_id: clearable(verbatimText(255)),
      email: email().optional(),
      phone_number: clearable(phoneNumber()),
      official_registration_number: clearable(text(64)),
      status: z.enum(organizationLaw.statuses).optional(),
    }),
    answers: { 200: OrganizationAnswer.extend({ message }) },
  },
  async ({ params, body, caller, em, requestId }) => {
    const organization = await updateOrganization(em, {
      caller,
      requestId,
      organizationId: params.organization_id,
      changes: body,
    });
    return { message: 'Organization updated', ...presentOrganization(organization) };
  },
);

export const organizationsRoutes = routes;
