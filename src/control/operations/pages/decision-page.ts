import { html } from 'hono/html';
import type { DecisionKind, DecisionStatus } from '../../../money-out/decisions/decision.ts';
import type { Markup } from '../../../platform/http/card-page.ts';
import { complain } from './layout.ts';
import { instant, money, type Names, nameOf } from './spell.ts';

/** The fields of a decision in API responses that the pages show. */
export interface DecisionShown {
  id: string;
  kind: DecisionKind;
  status: DecisionStatus;
  payout_id: string | null;
  outcome: string | null;
  receipt_id: string | null;
  action: string | null;
  account_id: string | null;
  reconciliation_id: string | null;
  amount: string | null;
  reference: string | null;
  withdrawal_id: string | null;
  donation_id: string | null;
  provider_reference: string | null;
  user_id: string | null;
  note: string;
  evidence: { provider: object | null; books: object };
  reason: string | null;
  proposed_by: string;
  /** A list for a disbursement, which several people approve. */
  approved_by: string | string[] | null;
  rejected_by: string | null;
  created_at: string;
  ended_at: string | null;
}

/** Lists the people who took part in a decision. */
export const peopleOf = ({ proposed_by, approved_by, rejected_by }: DecisionShown): (string | null)[] =>
  [proposed_by, approved_by, rejected_by].flat();

const kindWords: Record<DecisionKind, (decision: DecisionShown) => string> = {
  settle_payout: ({ outcome, payout_id }) => `Settle payout ${payout_id} as ${outcome}`,
  settle_receipt: ({ action, account_id, receipt_id, provider_reference }) =>
    action === 'credit'
      ? `Credit receipt ${receipt_id} to account ${account_id}`
      : `Receipt ${receipt_id} was refunded at the provider${provider_reference ? ` by transfer ${provider_reference}` : ''}`,
  explain_difference: ({ reconciliation_id }) => `Explain difference ${reconciliation_id}`,
  disburse: ({ withdrawal_id }) => `Release disbursement ${withdrawal_id}`,
  book_transfer: ({ payout_id, provider_reference }) =>
    `Book the transfer ${provider_reference ?? `of payout ${payout_id}`}`,
  refund_donation: ({ donation_id }) => `Refund donation ${donation_id} to its donor`,
  erase_person: ({ user_id }) => `Erase user ${user_id}`,
  admit_approver: ({ user_id }) => `Admit user ${user_id} as an approver`,
  book_external: ({ amount, reference, account_id }) =>
    `Book ${money(amount ?? '0')} at the provider, reference ${reference}${account_id ? `, from account ${account_id}` : ''}`,
};
/** Describes the effect of a decision. */
export const saysWhat = (decision: DecisionShown): string => kindWords[decision.kind](decision);

/** The column of a list that says what is decided; in CSV, its kind. */
export const decidedColumn = {
  head: 'What',
  cell: (row: Record<string, unknown>) => saysWhat(row as unknown as DecisionShown),
  csv: ({ kind }: Record<string, unknown>) => String(kind),
};

/** Renders a decision, and the actions open to the caller. */
export function decisionPage(
  decision: DecisionShown,
  {
    names,
    userId,
    mayApprove,
    complaint,
    about,
  }: { names: Names; userId: string; mayApprove: boolean; complaint: string | null; about: Markup | string },
): Markup {
  const { status, note, reason, evidence, proposed_by, approved_by, rejected_by, created_at, ended_at } = decision;
  const approvals = [approved_by ?? []].flat();
  return html`${complain(complaint)}
<p>${saysWhat(decision)}</p>
<dl>
<dt>Status</dt><dd><strong>${status.replaceAll('_', ' ')}</strong>${reason && `: ${reason}`}</dd>
<dt>Note</dt><dd>${note}</dd>
<dt>Proposed by</dt><dd>${nameOf(names, proposed_by)}, ${instant(created_at)}</dd>
${
  approvals.length > 0 &&
  html`<dt>Approved by</dt><dd>${approvals.map((person) => nameOf(names, person)).join(', ')}</dd>`
}
${rejected_by && html`<dt>Rejected by</dt><dd>${nameOf(names, rejected_by)}</dd>`}
${ended_at && html`<dt>Ended</dt><dd>${instant(ended_at)}</dd>`}
</dl>
${about}
<h2>The provider’s status at the time of the proposal</h2>
${facts(evidence.provider)}
<h2>Our books at the time of the proposal</h2>
${facts(evidence.books)}
${status === 'pending' && stepsOf(decision, userId, mayApprove)}
<p><a href="/operations">Back to the overview</a></p>`;
}

function stepsOf({ id, kind, proposed_by, approved_by }: DecisionShown, userId: string, mayApprove: boolean): Markup {
  const approvals = [approved_by ?? []].flat();
  // A disbursement, which no operator proposed, needs two approvals; the first does not carry it out.
  const missing = (kind === 'disburse' ? 2 : 1) - approvals.length;
  if (missing === 0)
    return html`<p class="quiet">Approved, and not carried out yet: that is retried automatically.</p>`;
  if (proposed_by === userId)
    return html`<p class="quiet">You proposed this: somebody else must approve or reject it.</p>`;
  if (approvals.includes(userId))
    return html`<p class="quiet">You approved this: a second person must also approve it.</p>`;
  if (!mayApprove) return html`<p class="quiet">Approving needs the permission approve-decision.</p>`;
  return html`<div class="steps">
<form method="post" action="/operations/decisions/${id}/approve"><button>${missing === 2 ? 'Approve' : 'Approve and carry out'}</button></form>
<form method="post" action="/operations/decisions/${id}/reject"><button class="plain">Reject</button></form>
</div>`;
}

/** A value of the evidence, formatted for people. */
function spell(value: unknown): string {
  if (value === null) return 'nothing';
  const text = String(value);
  if (/^-?\d+\.\d{4}$/.test(text)) return money(text);
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? instant(text) : text;
}

const facts = (side: object | null): Markup =>
  side === null
    ? html`<p class="quiet">Nothing.</p>`
    : html`<dl>${Object.entries(side).map(
        ([name, value]) => html`<dt>${name.replaceAll('_', ' ')}</dt><dd>${spell(value)}</dd>`,
      )}</dl>`;
