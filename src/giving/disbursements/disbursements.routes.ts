import { z } from 'zod';
import { payoutLaw } from '../../money-out/payouts/payout.ts';
import { findDisbursements } from '../../money-out/withdrawals/find-withdrawals.ts';
import { DisbursementShape, presentDisbursement } from '../../money-out/withdrawals/present-disbursement.ts';
import { allow } from '../../platform/http/access.ts';
import { uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { getVisibleCause } from '../causes/find-cause.ts';

const routes = createRouteGroup({ prefix: '/v1/charitable-causes', tag: 'Charitable causes' });

routes.get(
  '/:id/disbursements',
  {
    summary: 'List the disbursements of a charitable cause, newest first',
    description: 'For everybody who may read the cause.',
    access: allow('read-charitable-cause', { scope: 'causes that the caller may read' }),
    params: z.object({ id: uuid() }),
    query: listQuery().extend({ status: z.enum(payoutLaw.statuses).optional() }),
    answers: {
      200: z.object({ message: z.string(), data: z.object({ items: z.array(DisbursementShape), ...pageFields }) }),
    },
    refusals: [404],
  },
  async ({ em, caller, params: { id }, query }) => {
    const cause = await getVisibleCause(em, caller, id);
    const { items, ...listed } = await findDisbursements(em, cause.id, query);
    return {
      message: 'Disbursements found',
      data: { items: items.map(presentDisbursement), ...presentPage(query, listed) },
    };
  },
);

export const disbursementsRoutes = routes;
