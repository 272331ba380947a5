import { z } from 'zod';
import { allow } from '../platform/http/access.ts';
import { uuid } from '../platform/http/fields.ts';
import { createRouteGroup } from '../platform/http/route-group.ts';
import { summaryFields } from './present-circle.ts';
import { summarizeCircles } from './summarize-circles.ts';

const routes = createRouteGroup({ prefix: '/v1/summary/saving-circles', tag: 'Saving circles' });

routes.get(
  '/',
  {
    summary: "Sum up an organization's saving circles",
    description:
      'All fields are strings. Platform callers name any organization with `organization_id`, or none for the sum of ' +
      'all; others get 401 for another than their own.',
    access: allow('read-saving-circle', {
      userTypes: ['platform', 'organization'],
      scope: "the organization's; all for platform",
    }),
    query: z.object({ organization_id: uuid().optional() }),
    answers: {
      200: z.object({ message: z.string(), ...summaryFields }),
    },
    refusals: [404],
  },
  async ({ em, caller, query, requestId }) => ({
    message: 'Summary of saving circles',
    ...(await summarizeCircles(em, { caller, organizationId: query.organization_id, requestId })),
  }),
);

export const circleSummaryRoutes = routes;
