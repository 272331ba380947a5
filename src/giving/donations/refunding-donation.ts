import { Donation } from '../../giving/donations/donation.entity.ts';
import { giveBack, lockRefund, readRefund, whyNotRefundable } from '../../giving/donations/refund-donation.ts';
import { actorOf } from '../../money-out/decisions/carry-out.ts';
import type { Decision } from '../../money-out/decisions/decision.entity.ts';
import { type DecisionHandling, refused } from '../../money-out/decisions/handling.ts';
import { must } from '../../shared/assert.ts';
import { refuse } from '../../shared/errors.ts';

const field = 'donation_id';

/**
 * The decision to refund a donation to its donor, by two people. The donation must be refundable when proposed and when
 * the decision is carried out; its age counts at the proposal, as the approval may take another day.
 */
export const refundingDonation: DecisionHandling<'refund_donation'> = {
  async look(em, _, { donation_id: id }) {
    const facts = (await readRefund(em, id)) ?? refuse('NOT_FOUND', 'the donation was not found', { field });
    const why = whyNotRefundable(facts, { byDecision: true });
    if (why !== null) refuse('REQUEST_INVALID', why, { field });
    const { status, amount, cause_id, paid_at, account_id, refund_account_id } = facts;
    const paidAt = new Date(must(paid_at, 'a refundable donation was paid')).toISOString();
    return {
      evidence: { provider: null, books: { status, amount, cause_id, paid_at: paidAt, account_id, refund_account_id } },
      isProven: false,
    };
  },
  hold: (tx, decision) => lockRefund(tx, donationOf(decision)),
  async whyMoved(tx, { donation_id }) {
    const { status } = await tx.findOneOrFail(Donation, { id: donation_id ?? '' }, { refresh: true });
    return status === 'completed' ? null : `the donation is now ${status}`;
  },
  async act(tx, _, decision) {
    const facts = must(await readRefund(tx, donationOf(decision), decision.created_at), 'donations are never deleted');
    const why = whyNotRefundable(facts, { byDecision: true });
    if (why !== null) return refused(why);
    await giveBack(tx, facts, { actorId: actorOf(decision), requestId: null, decisionId: decision.id });
    return undefined;
  },
};

const donationOf = ({ donation_id }: Decision): string =>
  must(donation_id, 'a decision about a refund names a donation');
