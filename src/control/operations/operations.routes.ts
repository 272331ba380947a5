import { z } from 'zod';
import { type PayoutSwitch, readPayoutSwitch, switchPayouts } from '../../money-out/payouts/payout-switch.ts';
import { allow } from '../../platform/http/access.ts';
import { amount, isoDate, text, timestamp, uuid } from '../../platform/http/fields.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { type Backlog, type OverviewPorts, readOverview } from './read-overview.ts';

const routes = createRouteGroup<OverviewPorts>({ prefix: '/v1/operations', tag: 'Operations' });

const Waiting = z.object({
  what: z.string(),
  count: z.int(),
  oldest_at: timestamp().nullable(),
  age_seconds: z.int().nullable(),
});

function presentWaiting({ what, rows, oldest }: Backlog, at: Date): z.input<typeof Waiting> {
  return {
    what,
    count: rows,
    oldest_at: oldest?.toISOString() ?? null,
    age_seconds: oldest === null ? null : Math.max(0, Math.round((at.getTime() - oldest.getTime()) / 1000)),
  };
}

routes.get(
  '/overview',
  {
    summary: 'Read the operators’ overview',
    description:
      '`cases` counts items that wait for an operator, by kind and age, including zeros; `backlog` is overdue work. ' +
      '`clearing` is our balance at the provider, in our books and as reported by the provider now (null without an ' +
      'answer); they may differ by money in transit and earlier differences, which `last_comparison` evaluates. ' +
      'docs/runbook explains what to do about each kind.',
    access: allow('read-event', { userTypes: ['platform'], scope: 'all' }),
    answers: {
      200: z.object({
        message: z.string(),
        data: z
          .object({
            at: timestamp(),
            cases: z.array(Waiting),
            backlog: z.array(Waiting),
            reconciliation: z.object({ day: isoDate(), finished_at: timestamp() }).nullable(),
            clearing: z.object({
              books: amount(),
              provider: amount().nullable(),
              last_comparison: z
                .object({ day: isoDate(), measured_at: timestamp(), difference: amount(), agreed: z.boolean() })
                .nullable(),
            }),
            last_seal: z
              .object({ number: z.string(), sealed_at: timestamp(), covers_until: timestamp().nullable() })
              .nullable(),
            versions: z.object({
              amanah: z.string(),
              node: z.string(),
              postgresql: z.string(),
              temporal: z.string().nullable(),
            }),
          })
          .meta({ id: 'OperationsOverview' }),
      }),
    },
  },
  async ({ em, deps }) => {
    const { at, cases, backlog, reconciliation, clearing, last_seal: seal, versions } = await readOverview(em, deps);
    const { last_comparison: comparison } = clearing;
    return {
      message: 'Overview read',
      data: {
        at: at.toISOString(),
        cases: cases.map((kind) => presentWaiting(kind, at)),
        backlog: backlog.map((kind) => presentWaiting(kind, at)),
        reconciliation: reconciliation && {
          ...reconciliation,
          finished_at: reconciliation.finished_at.toISOString(),
        },
        clearing: {
          ...clearing,
          last_comparison: comparison && { ...comparison, measured_at: comparison.measured_at.toISOString() },
        },
        last_seal: seal && {
          number: seal.number,
          sealed_at: seal.sealed_at.toISOString(),
          covers_until: seal.covers_until?.toISOString() ?? null,
        },
        versions,
      },
    };
  },
);

const PayoutSwitchShape = z
  .object({
    enabled: z.boolean().meta({ description: 'Whether transfers and refunds are sent.' }),
    reason: z.string().nullable().meta({ description: 'Null before the first change.' }),
    changed_by: uuid().nullable().meta({ description: 'The user who last changed it.' }),
    changed_at: timestamp().nullable(),
  })
  .meta({ id: 'PayoutSwitch' });
const presentSwitch = ({ changed_at, ...rest }: PayoutSwitch): z.input<typeof PayoutSwitchShape> => ({
  ...rest,
  changed_at: changed_at?.toISOString() ?? null,
});

routes.get(
  '/payouts',
  {
    summary: 'Read whether transfers and refunds are sent',
    access: allow('read-event', { userTypes: ['platform'], scope: 'all' }),
    answers: { 200: z.object({ message: z.string(), data: PayoutSwitchShape }) },
  },
  async ({ em }) => ({ message: 'Switch read', data: presentSwitch(await readPayoutSwitch(em)) }),
);

routes.put(
  '/payouts',
  {
    summary: 'Hold or release all transfers and refunds',
    description:
      'While `enabled` is false no unsent transfer is sent, retries included: payouts of partners, withdrawals, ' +
      'disbursements and refunds. New ones are accepted, reserve their money and stay `pending`. Transfers already ' +
      'sent continue. Needs no second person.',
    access: allow('read-event', { userTypes: ['platform'], role: 'platform_super_admin', scope: 'all' }),
    body: z.strictObject({
      enabled: z.boolean(),
      reason: text(300, 3).meta({ description: 'References, never personal data.', examples: ['incident 4711'] }),
    }),
    answers: { 200: z.object({ message: z.string(), data: PayoutSwitchShape }) },
  },
  async ({ em, caller, body, requestId }) => {
    const switched = await switchPayouts(em, { ...body, caller, requestId });
    return { message: switched.enabled ? 'Payouts released' : 'Payouts held', data: presentSwitch(switched) };
  },
);

export const operationsRoutes = routes;
