import type { PartnerPayoutWorkflows } from '../payouts/payout.ts';
import { wholeRupiah } from '../shared/money.ts';
import { canonicalId } from '../shared/uuid.ts';
import { searchAttributeKeys } from './search-attributes.ts';
import type { Temporal, WorkflowRun } from './temporal.ts';
import { decisionUpdateId, updateIdOf } from './update-id.ts';

export const createPartnerPayoutWorkflows = (temporal: Temporal): PartnerPayoutWorkflows => ({
  startPartnerPayout(payoutId, opening, waitMs) {
    const run = {
      workflow: 'partnerPayout' as const,
      subject: payoutId,
      input: { payoutId, opening: temporal.prove({ kind: 'payout', resourceId: payoutId }, opening) },
      summary: `Partner payout: IDR ${opening.net} to ${opening.bankCode}, fee ${opening.fee}`,
      attributes: [
        { key: searchAttributeKeys.PayoutState, value: 'RESERVED' },
        { key: searchAttributeKeys.PartnerId, value: opening.partnerId },
        { key: searchAttributeKeys.AmountIdr, value: wholeRupiah(opening.amount) },
      ],
    };
    const update = { name: 'awaitReservation' as const, id: updateIdOf('reservation', opening) };
    return temporal.startAndAwait(run, update, waitMs);
  },
  hintPartnerPayout: (payoutId) => temporal.signalWithStart(again(payoutId), 'callbackArrived'),
  decidePartnerPayout(payoutId, decision, waitMs) {
    const update = {
      name: 'settlePayout' as const,
      id: decisionUpdateId(decision),
      args: [{ decision_id: decision.id }],
    };
    return temporal.startAndAwait(again(payoutId), update, waitMs);
  },
});

/** The workflow of a payout that has its row: it runs, or is begun again. */
const again = (payoutId: string): WorkflowRun<'partnerPayout'> => ({
  workflow: 'partnerPayout',
  subject: payoutId,
  input: { payoutId: canonicalId(payoutId) },
  summary: 'A partner payout, looked after again',
});
