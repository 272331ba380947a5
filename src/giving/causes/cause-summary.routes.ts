import { z } from 'zod';
import { allow } from '../../platform/http/access.ts';
import { amount, uuid } from '../../platform/http/fields.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { summarizeCauses } from './summarize-causes.ts';

const routes = createRouteGroup({ prefix: '/v1/summary/charitable-causes', tag: 'Charitable causes' });

routes.get(
  '/',
  {
    summary: "Summarize an organization's charitable causes",
    description:
      'Platform callers may name any organization with `organization_id`, or omit it for the total of all; others get 401 ' +
      'for any but their own.',
    access: allow('read-charitable-cause', {
      userTypes: ['platform', 'organization'],
      scope: "the organization's; all for platform",
    }),
    query: z.object({ organization_id: uuid().optional() }),
    answers: {
      200: z.object({
        message: z.string(),
        organization_id: uuid().nullable(),
        organization_name: z.string().nullable(),
        total_target_amount: amount(),
        total_collected_amount: amount(),
      }),
    },
    refusals: [404],
  },
  async ({ em, caller, query }) => ({
    message: 'Summary of charitable causes',
    ...(await summarizeCauses(em, caller, query.organization_id)),
  }),
);

export const causeSummaryRoutes = routes;
