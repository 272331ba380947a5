import { webhookIdOf } from '../../../src/partners/webhooks/webhook-delivery.ts';
import { must } from '../../../src/shared/assert.ts';
import { canMove } from '../../../src/shared/status-law.ts';
import { outside } from '../../support/read-instants.ts';
import { statusLaws } from '../../support/status-laws.ts';
import type { Facts, Finding, TransitionFact } from '../facts.ts';

/** Every `check_*` view is empty. */
export function checksAreEmpty({ checks }: Facts): Finding[] {
  return checks
    .filter(({ violations }) => violations > 0)
    .map(({ check, violations, sample }) => ({
      oracle: 'checks-are-empty',
      resourceId: Object.values(sample[0] ?? {}).find((value) => typeof value === 'string') ?? null,
      says: `${check} has ${violations} rows: ${JSON.stringify(sample)}`,
    }));
}

/** Final statuses, independently of the product's own tables. */
const finalStatuses: Readonly<Record<string, readonly string[]>> = {
  'payment_orders.status': ['PAID', 'FAILED', 'EXPIRED'],
  'partner_payments.status': ['PAID', 'FAILED', 'EXPIRED'],
  'donations.status': ['failed', 'refunded'],
  'payouts.status': ['failed', 'reversed'],
  'receipts.state': ['applied', 'credited', 'refunded'],
  'saving_circle_contributions.status': ['refunded'],
  'saving_circles.status': ['completed', 'cancelled'],
};

/** A row started with an initial status, followed the allowed transitions, and never left a final status. */
export function statusesMoveByTheirTables({ transitions }: Facts): Finding[] {
  const isLawful = ({ place, from, to }: TransitionFact): boolean => {
    const law = must(statusLaws[place], `${place} has a law`);
    if (from !== null && finalStatuses[place]?.includes(from)) return false;
    return from === null ? law.initial.includes(to) : canMove(law, from, to);
  };
  return transitions
    .filter((transition) => !isLawful(transition))
    .map(({ place, id, from, to, at }) => ({
      oracle: 'statuses-move-by-their-tables',
      resourceId: id,
      says: `${place} of ${id} went from ${from ?? 'nothing'} to ${to} at ${new Date(at).toISOString()}`,
    }));
}

/** The status that each type of webhook reports. */
const toldBy: Readonly<Record<string, { place: string; statuses: readonly string[] }>> = {
  'payment.succeeded': { place: 'partner_payments.status', statuses: ['PAID'] },
  'payment.failed': { place: 'partner_payments.status', statuses: ['FAILED'] },
  'payment.expired': { place: 'partner_payments.status', statuses: ['EXPIRED'] },
  'payout.succeeded': { place: 'payouts.status', statuses: ['succeeded'] },
  'payout.failed': { place: 'payouts.status', statuses: ['failed'] },
  'payout.reversed': { place: 'payouts.status', statuses: ['reversed'] },
  'refund.succeeded': { place: 'payouts.status', statuses: ['succeeded'] },
  // A refund that the bank returns becomes failed.
  'refund.failed': { place: 'payouts.status', statuses: ['failed', 'reversed'] },
};

/** The webhooks' name for a kind of payout; withdrawals have none. */
const toldAs = { partner_payout: 'payout', payment_refund: 'refund', withdrawal: null } as const;

const typeOf = (family: string | null, { place, to }: TransitionFact): string | undefined =>
  Object.keys(toldBy).find(
    (type) => type.startsWith(`${family}.`) && toldBy[type]?.place === place && toldBy[type].statuses.includes(to),
  );

/**
 * Each final status and each version of a resource was reported by one webhook with the content of that time. The
 * webhook arrived, signed for its partner, with the same bytes each time.
 */
export function webhooksArrive({ orders, payouts, made, deliveries, webhooks, transitions }: Facts): Finding[] {
  const oracle = 'webhooks-arrive';
  const received = Map.groupBy(webhooks, ({ id }) => id);
  const findings: Finding[] = [];
  const resources = [
    ...orders
      .filter(({ family }) => family === 'partner-payment')
      .map(({ id, version }) => ({ id, version, type: 'payment' as const })),
    ...payouts.flatMap(({ id, version, kind }) => (toldAs[kind] === null ? [] : [{ id, version, type: toldAs[kind] }])),
  ];
  const written = Map.groupBy(deliveries, ({ resourceType, resourceId }) => `${resourceType} ${resourceId}`);
  for (const { id, type, version } of resources) {
    const versions = (written.get(`${type} ${id}`) ?? []).map((delivery) => delivery.version).sort((a, b) => a - b);
    const wanted = Array.from({ length: version }, (_, index) => index + 1);
    if (versions.join() === wanted.join()) continue;
    const says = `${type} ${id} is at version ${version}, its webhooks are of versions ${versions.join(', ') || 'none'}`;
    findings.push({ oracle, resourceId: id, says });
  }
  const familyOf = new Map(payouts.map(({ id, kind }) => [id, toldAs[kind]]));
  const ownerOf = new Map([...orders, ...payouts].map((row) => [row.id, row.partnerId]));
  for (const transition of transitions) {
    const { place, id, to } = transition;
    const ofPayout = familyOf.has(id) ? (familyOf.get(id) ?? null) : 'payout';
    const type = typeOf(place === 'payouts.status' ? ofPayout : 'payment', transition);
    if (type === undefined) continue;
    const told = deliveries.filter((delivery) => delivery.resourceId === id && delivery.type === type).length;
    if (told !== 1)
      findings.push({ oracle, resourceId: id, says: `${id} became ${to}, and ${told} webhooks report it` });
  }
  for (const { id, resourceId, partnerId, type, version } of deliveries) {
    const arrived = received.get(webhookIdOf(id)) ?? [];
    const bodies = new Set(arrived.map(({ body }) => body));
    const find = (problem: string) =>
      findings.push({ oracle, resourceId, says: `${type} of ${resourceId}, version ${version}, ${problem}` });
    if (ownerOf.has(resourceId) && ownerOf.get(resourceId) !== partnerId) {
      find(`is for ${partnerId}, and it belongs to ${ownerOf.get(resourceId) ?? 'no partner'}`);
    }
    if (bodies.size === 0) find('never arrived');
    if (bodies.size > 1) find(`arrived with ${bodies.size} different bodies`);
    const { place, statuses } = toldBy[type] ?? { place: '', statuses: [] };
    const amount = made.find((row) => row.id === resourceId)?.amount;
    for (const body of bodies) {
      const { type: toldType, data } = JSON.parse(body);
      if (toldType !== type || data?.id !== resourceId) find(`reports ${toldType} of ${data?.id}`);
      if (data?.status !== type.split('.')[1] || data?.amount !== amount || data?.version !== version) {
        find(`says: ${data?.status}, IDR ${data?.amount}, version ${data?.version}; it is of IDR ${amount}`);
      }
    }
    if (arrived.some(({ signedBy }) => signedBy !== partnerId))
      find('arrived with a signature that is not for its partner');
    const was = transitions.some((transition) => {
      return transition.place === place && transition.id === resourceId && statuses.includes(transition.to);
    });
    if (!was) find(`was never ${statuses.join(' or ')}`);
  }
  const known = new Set(deliveries.map(({ id }) => webhookIdOf(id)));
  const strays = new Set(webhooks.flatMap(({ id, mayLackRow }) => (mayLackRow || known.has(id) ? [] : [id])));
  return [
    ...findings,
    ...[...strays].map((id) => ({ oracle, resourceId: null, says: `a webhook ${id} arrived without a row` })),
  ];
}

/**
 * No row waits without a workflow, and no workflow runs without a waiting row. Sweeps have restarted the workflows that
 * the plan removed, except those of rows due in days.
 */
export function rowsAndWorkflowsMatch({ waiting, workflows, receipts, takenWorkflows }: Facts): Finding[] {
  const oracle = 'rows-and-workflows-match';
  const running = new Set(workflows.filter(({ status }) => status === 'RUNNING').map(({ id }) => id));
  const wanted = new Set(waiting.map(({ workflowId }) => workflowId));
  const idOf = (workflowId: string) => workflowId.split('/').at(-1) ?? null;
  const booked = new Set(receipts.map(({ id }) => `unmatched-receipt/${id}`));
  // Money that a callback claims and the provider does not confirm has no row: the provider is polled for a day.
  const isClaim = (id: string) => id.startsWith('unmatched-receipt/') && !booked.has(id);
  const taken = new Set(takenWorkflows);
  const alone = waiting.filter(
    ({ workflowId, dueLater }) => !running.has(workflowId) && !(dueLater && taken.has(workflowId)),
  );
  return [
    ...alone.map(({ workflowId, status }) => ({
      oracle,
      resourceId: idOf(workflowId),
      says: `${workflowId} is ${status} in the database, without a workflow`,
    })),
    ...[...running]
      .filter((id) => !wanted.has(id) && !isClaim(id))
      .map((id) => ({ oracle, resourceId: idOf(id), says: `the workflow ${id} runs, but its row waits for nothing` })),
  ];
}

/**
 * A resource's workflow completes or waits; it never fails and is never cancelled. Only the plan terminates or resets
 * runs.
 */
export function workflowsDoNotFail({ workflows, endedRuns }: Facts): Finding[] {
  const ended = new Set(endedRuns);
  return workflows
    .filter(
      ({ runId, status }) =>
        ['FAILED', 'TIMED_OUT', 'CANCELLED'].includes(status) || (status === 'TERMINATED' && !ended.has(runId)),
    )
    .map(({ id, status }) => ({
      oracle: 'workflows-do-not-fail',
      resourceId: id.split('/').at(-1) ?? null,
      says: `the workflow ${id} is ${status}`,
    }));
}

/** Recorded instants follow the database's clock, whatever a process's clock shows. */
export function timesAreTrue({ instants, window }: Facts): Finding[] {
  const tell = (ms: number) => new Date(ms).toISOString();
  return outside(instants, window).map(({ place, earliest, latest }) => ({
    oracle: 'times-are-true',
    resourceId: null,
    says: `${place} has instants from ${tell(earliest)} to ${tell(latest)}; the run was from ${tell(window.from)} to ${tell(window.to)}`,
  }));
}

/** No process of ours exits because a dependency is down. */
export function partsLive({ died }: Facts): Finding[] {
  return died.map((says) => ({ oracle: 'parts-live', resourceId: null, says }));
}

/** After the faults everything comes to rest within the time limit; only what the provider leaves open still waits. */
export function comesToRest({ restless }: Facts): Finding[] {
  return restless.map(({ what, id, status }) => ({
    oracle: 'comes-to-rest',
    resourceId: id,
    says: `${what} ${id} is still ${status}, long after all faults had stopped`,
  }));
}
