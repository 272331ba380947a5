import type { EntityManager } from '@mikro-orm/postgresql';
import type { TimelineItem } from '../../partners/timeline.ts';
import { decisionLivesHours } from '../decisions/decision.ts';
import { findMadeAttempts } from '../payouts/attempts.ts';
import type { ToldPayout } from '../payouts/handling.ts';
import type { Payout } from '../payouts/payout.entity.ts';
import { readDecision } from '../payouts/undecided.ts';

interface DisbursementRow {
  cause: string;
  decision_id: string | null;
  proposed_at: Date | string | null;
  /** Why it was not sent although approved. */
  lapsed: string | null;
}

interface Step {
  event: string;
  reason: string | null;
  created_at: Date | string;
}

/** The timeline's entries about a disbursement: its cause and its decision. Null for other withdrawals. */
export async function tellDisbursement(em: EntityManager, payout: Payout): Promise<ToldPayout | null> {
  const [row] = await em.execute<DisbursementRow[]>(
    `select c.name as cause, d.id as decision_id, d.created_at as proposed_at,
       case d.status when 'carried_out' then d.evidence #>> '{books,lapsed}' end as lapsed
     from withdrawals w join charitable_causes c on c.id = w.cause_id left join decisions d on d.withdrawal_id = w.id
     where w.id = ?`,
    [payout.id],
  );
  if (row === undefined) return null;
  const said = { name: 'disbursement', origin: `the charitable cause "${row.cause}"` };
  if (row.decision_id === null || row.proposed_at === null) {
    return { ...said, items: [], next: await findNext(em, payout, payout.created_at) };
  }
  const proposedAt = new Date(row.proposed_at);
  return {
    ...said,
    items: [
      {
        at: proposedAt,
        type: 'decision',
        text: 'Two of our operators must approve it before it is sent.',
      },
      ...(await findSteps(em, row.decision_id)),
      ...(row.lapsed === null || !payout.finalized_at ? [] : [tellLapse(payout.finalized_at, row.lapsed)]),
    ],
    next: await findNext(em, payout, proposedAt),
  };
}

const tellLapse = (at: Date, reason: string): TimelineItem => ({
  at,
  type: 'decision',
  text: `It may no longer be sent: ${reason}.`,
});

async function findSteps(em: EntityManager, decisionId: string): Promise<TimelineItem[]> {
  const steps = await em.execute<Step[]>(
    `select event, data ->> 'reason' as reason, created_at from events
     where resource_id = ? and resource_type = 'decision'
       and event in ('DECISION_APPROVED', 'DECISION_REJECTED', 'DECISION_LAPSED') order by id`,
    [decisionId],
  );
  return steps.map(({ event, reason, created_at }, earlier) => ({
    at: new Date(created_at),
    type: 'decision',
    text: textOf(event, { reason, isFirst: earlier === 0 }),
  }));
}

function textOf(event: string, { reason, isFirst }: { reason: string | null; isFirst: boolean }): string {
  if (event === 'DECISION_REJECTED') return 'One of our operators rejected it.';
  if (event === 'DECISION_LAPSED') return `It can no longer be approved: ${reason}.`;
  return isFirst ? 'The first of two operators approved it.' : 'A second operator approved it.';
}

async function findNext(em: EntityManager, payout: Payout, proposedAt: Date): Promise<ToldPayout['next']> {
  const { isHeld, failureCode } = await readDecision(em, payout);
  if (failureCode !== null && !payout.provider_transfer_id) {
    const wasRequested = (await findMadeAttempts(em, payout.id)).length > 0;
    const text = wasRequested
      ? 'It is not requested again. The provider is asked what became of the request; the money stays reserved until that is known.'
      : 'It may no longer be sent: it will fail, and the money will return to the account.';
    return { at: payout.look_again_at ?? null, text };
  }
  if (!isHeld) return null;
  return {
    at: new Date(proposedAt.getTime() + decisionLivesHours('disburse') * 3_600_000),
    text: 'It fails unless two of our operators approve it by then. The money stays reserved.',
  };
}
