import type { DecisionInHand } from '../decisions/decision.ts';
import type { OpeningStamp } from '../openings/opening.ts';
import type { FeeMode } from '../partners/partner.ts';
import type { Money } from '../shared/money.ts';
import { type StatusOf, statusLaw } from '../shared/status-law.ts';

/**
 * Pure facts about payouts: money that leaves for a bank account. Their life is one, whoever is paid out; whose money it
 * is, what is asked before it is reserved and what follows from its end differ by kind.
 */
export const payoutKinds = ['partner_payout', 'withdrawal'] as const;
export type PayoutKind = (typeof payoutKinds)[number];

/** What the journals of a kind are called by, and its workflows. */
export const payoutFamilyOf = (kind: PayoutKind): string => kind.replaceAll('_', '-');

/** A payout, by what its workflow is found with. */
export interface PayoutPlace {
  id: string;
  kind: PayoutKind;
}

export const payoutLaw = statusLaw({
  initial: ['pending'],
  transitions: {
    pending: ['succeeded', 'failed'],
    succeeded: ['reversed'],
    failed: [],
    reversed: [],
  },
});
export type PayoutStatus = StatusOf<typeof payoutLaw>;

/** How an attempt was answered, once; it has no outcome before. */
export const payoutAttemptLaw = statusLaw({
  initial: ['accepted', 'refused', 'unknown', 'unsent'],
  transitions: {
    accepted: [],
    refused: [],
    unknown: [],
    unsent: [],
  },
});
export type PayoutAttemptOutcome = StatusOf<typeof payoutAttemptLaw>;

/** What partners are told is final: only the bank moves it after that, by giving back what had succeeded. */
export const isFinalPayout = (status: PayoutStatus): boolean => status !== 'pending';

/** The failure code of a payout that an operator ended. */
export const settledByOperator = 'SETTLED_BY_OPERATOR';

/** Where a payout's detail is. */
export const payoutPath = (id: string): string => `/v1/partners/payouts/${id}`;

/** The platform's own reference, for people; the provider is given the id itself. */
export const payoutReferenceOf = (id: string, kind: PayoutKind = 'partner_payout'): string =>
  `${kind === 'withdrawal' ? 'WD' : 'PO'}-${id.replaceAll('-', '').slice(0, 20).toUpperCase()}`;

/** Where the money goes, and the partner's own reference: they travel and rest sealed, in one place. */
export interface PayoutTexts {
  bank_account_number: string;
  beneficiary_name: string | null;
  external_ref: string | null;
}
export const payoutTextsPlace = (payoutId: string) => ({ table: 'payouts', column: 'texts_sealed', row: payoutId });

/** What a request asks of the workflow: ids and amounts, and texts only sealed (docs/contract.md 9). */
export interface PayoutOpening {
  partnerId: string;
  feeMode: FeeMode;
  /** IDR, scale 4, as the partner asked. */
  amount: Money;
  fee: Money;
  /** What reaches the bank: whole rupiah. */
  net: Money;
  providerFee: Money;
  bankCode: string;
  textsSealed: string;
  requestId: string;
  idempotency: { keyHash: string; fingerprint: string };
  /** Absent in what an older release has started. */
  stamp?: OpeningStamp;
}

/** What the workflow of a payout is started with. */
export interface PartnerPayoutInput {
  payoutId: string;
  /** What the request asked for. Absent when a payout that has its row is looked after again. */
  opening?: PayoutOpening;
}

/** The workflows of payouts, as use cases meet them; made by `temporal/`, passed in. */
export interface PayoutWorkflows {
  /**
   * Starts the workflow of a partner's payout, or joins the one that runs, and waits at most `waitMs` until the money is reserved.
   * Null when the wait ended without an answer. Refuses what the reservation refuses, and with SERVICE_UNAVAILABLE when
   * Temporal is away.
   */
  startPartnerPayout(payoutId: string, opening: PayoutOpening, waitMs: number): Promise<PayoutStatus | null>;
  /** Wakes the payout's workflow, or starts it again from its row when there is none. */
  hintPayout(payout: PayoutPlace): Promise<void>;
  /**
   * Has a decision about the payout carried out by its workflow, which is started from its row when there is none, and
   * waits at most `waitMs`. Null when the wait ended without an answer. Refuses with SERVICE_UNAVAILABLE when Temporal is
   * away. What became of the decision is in its row.
   */
  decidePayout(payout: PayoutPlace, decision: DecisionInHand, waitMs: number): Promise<PayoutStatus | null>;
}

/** A payout as its workflow finds it. */
export interface PayoutStanding {
  status: PayoutStatus;
  /** ISO 8601: when the money was reserved. */
  reservedAt: string;
  /** ISO 8601: since when nobody can tell what became of the transfer; null while that is known. */
  unknownSince: string | null;
  /** Webhooks that a step wrote and that wait to be delivered. */
  deliveryIds: string[];
  /** Whether it waits for the decision of people before it is sent. */
  isHeld?: boolean;
}

/** What the provider says of a transfer, or that it says nothing. */
export type TransferWord =
  | { said: 'accepted' | 'succeeded' | 'failed' | 'reversed'; providerTransferId: string; failureCode: string | null }
  /** The request itself was turned down: nothing came of it. */
  | { said: 'refused'; failureCode: string }
  /** The request was turned down, but it was not the first: that says nothing of the earlier ones. */
  | { said: 'repeat refused'; failureCode: string }
  /** The request provably had no effect: it may be sent, under the same key, as if for the first time. */
  | ({ said: 'unsent' } & Rest)
  /** Asked by reference, the provider knows no such transfer. It may still come to know it: no proof of failure. */
  | {
      said: 'not known';
      /** The very same request may be made now. */
      repeat?: true;
    }
  /** No answer, or none that can be understood. */
  | ({ said: 'silent' } & Rest)
  /** What would be sent is not what was sent first: nothing is sent. */
  | { said: 'request differs' }
  /** The provider has a transfer of this reference in another amount. */
  | { said: 'another amount'; providerTransferId: string };

/** Calls to the provider are limited: it is not called for this payout before so many milliseconds have passed. */
interface Rest {
  restMs?: number;
}
export const restOf = (word: TransferWord): number => ('restMs' in word && word.restMs) || 0;

export type Said = TransferWord['said'];

/** Words after which nobody can tell what became of the money. */
const unknowing: readonly Said[] = [
  'repeat refused',
  'unsent',
  'not known',
  'silent',
  'another amount',
  'request differs',
];
export const isUnknown = (said: Said): boolean => unknowing.includes(said);

/** How a payout may be ended by hand. */
export const payoutOutcomes = ['succeeded', 'failed'] as const;
export type PayoutOutcome = (typeof payoutOutcomes)[number];

/** How the provider's word says that a transfer ended; null while it does not say. */
export function finalOutcomeOf({ said }: Pick<TransferWord, 'said'>): PayoutOutcome | null {
  if (said === 'succeeded' || said === 'reversed') return 'succeeded';
  return said === 'failed' || said === 'refused' ? 'failed' : null;
}

/**
 * What the provider has said of a transfer by now: what was heard, unless that says nothing of the end and it has said
 * before how the transfer ended. That is not unsaid by silence.
 */
export function saidForGood(heard: Said, before: Said | null | undefined): Said {
  const isUnsaid = before && finalOutcomeOf({ said: heard }) === null && finalOutcomeOf({ said: before }) !== null;
  return isUnsaid ? before : heard;
}

/** Whether the provider has said that the bank gave the money back, and no step has drawn the consequence yet. */
export const isReturnUnbooked = ({ status, last_word }: { status: PayoutStatus; last_word?: Said | null }): boolean =>
  status === 'succeeded' && last_word === 'reversed';

/** What ends a payout by hand: a decision of two people, or what the provider's final word proves, with the evidence. */
export type PayoutSettlement =
  | { decision_id: string }
  | {
      outcome: PayoutOutcome;
      /** References, never personal data. */
      note: string;
    };

/**
 * Whether the provider's word and a final status cannot both be true. What is on its way may still end as we say it
 * ended, unless we have given the money back.
 */
export function contradicts(status: PayoutStatus, said: Said): boolean {
  if (status === 'succeeded') return said === 'failed' || said === 'refused' || said === 'another amount';
  if (status === 'failed') return said === 'succeeded' || said === 'accepted' || said === 'another amount';
  return status === 'reversed' && said === 'succeeded';
}
