import type { FeeMode } from '../../partners/partner.ts';
import type { TransferState } from '../../platform/gateway/gateway.ts';
import type { Money } from '../../shared/money.ts';
import type { OpeningStamp } from '../../shared/opening.ts';
import type { Metadata } from '../../shared/plain-text.ts';
import { type StatusOf, statusLaw } from '../../shared/status-law.ts';
import type { PayoutOutcome } from '../decisions/decision.ts';

/**
 * Kinds and statuses of payouts: money that leaves for a bank account, or for the wallet that paid. All kinds share one
 * life cycle; the owner of the money, the checks before the reservation and the effects of a final status differ.
 */
export const payoutKinds = ['partner_payout', 'withdrawal', 'payment_refund'] as const;
export type PayoutKind = (typeof payoutKinds)[number];

/** The prefix of a kind's journal keys and workflow ids. */
export const payoutFamilyOf = (kind: PayoutKind): string => kind.replaceAll('_', '-');

/** The identifiers of a payout's workflow. */
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

/** The provider's answer to an attempt; set once. */
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

/** Final for partners: only the bank can still change it, by returning a successful payout. */
export const isFinalPayout = (status: PayoutStatus): boolean => status !== 'pending';

/** The failure code of a payout that an operator settled. */
export const settledByOperator = 'SETTLED_BY_OPERATOR';

/** The failure code of a payout that failed without a reason from the provider. */
export const noReasonGiven = 'NO_REASON_GIVEN';

/** The path of a payout's detail. */
export const payoutPath = (id: string): string => `/v1/partners/payouts/${id}`;

/** The destination and the partner's own texts, sealed as one text in transit and at rest. */
export interface PayoutTexts {
  /** Empty for a refund to a wallet. */
  bank_account_number: string;
  beneficiary_name: string | null;
  external_ref: string | null;
  /** For a refund. */
  reason?: string;
  /** Set by the partner; absent from withdrawals. */
  metadata?: Metadata | null;
}
export const payoutTextsPlace = (payoutId: string) => ({ table: 'payouts', column: 'texts_sealed', row: payoutId });

/** A request as passed to the workflow: ids and amounts; texts only sealed (docs/contract.md 9). */
export interface PayoutOpening {
  partnerId: string;
  feeMode: FeeMode;
  /** IDR, scale 4, as requested. */
  amount: Money;
  fee: Money;
  /** The amount that reaches the bank: whole rupiah. */
  net: Money;
  providerFee: Money;
  bankCode: string;
  textsSealed: string;
  requestId: string;
  idempotency: { keyHash: string; fingerprint: string };
  stamp: OpeningStamp;
}

/** The input of a payout's workflow. */
export interface PartnerPayoutInput {
  payoutId: string;
  /** The request; absent when the workflow resumes an existing row. */
  opening?: PayoutOpening;
}

/** The payout workflows' port for use cases; implemented in `temporal/`. */
export interface PayoutWorkflows {
  /**
   * Starts the workflow of a partner's payout, or joins the running one, and waits at most `waitMs` milliseconds until
   * the money is reserved. Null if the wait times out. Throws as the reservation does, and SERVICE_UNAVAILABLE if
   * Temporal is unavailable.
   */
  startPartnerPayout(payoutId: string, opening: PayoutOpening, waitMs: number): Promise<PayoutStatus | null>;
  /** Signals the payout's workflow, or restarts it from its row if none is running. */
  hintPayout(payout: PayoutPlace): Promise<void>;
}

/** A payout as passed to its workflow. */
export interface PayoutStanding {
  status: PayoutStatus;
  /** ISO 8601: when the transfer was first sent; before that, when the money was reserved. */
  reservedAt: string;
  /** ISO 8601: since when the transfer's outcome has been unknown; null while it is known. */
  unknownSince: string | null;
  /** Webhooks recorded by a step and still to be delivered. */
  deliveryIds: string[];
  /** Whether it waits for people's decision before it is sent. */
  isHeld?: boolean;
}

/** The provider's status of a transfer, or its absence. */
export type ProviderReport = (
  | { said: 'accepted' | 'succeeded' | 'failed' | 'reversed'; providerTransferId: string; failureCode: string | null }
  /** The request was refused and had no effect. */
  | { said: 'refused'; failureCode: string }
  /** The request was refused but was not the first: that proves nothing about earlier requests. */
  | { said: 'repeat refused'; failureCode: string }
  /** The request provably had no effect: it may be sent again with the same key, as if for the first time. */
  | ({ said: 'unsent' } & Rest)
  /** The provider, asked by reference, does not know the transfer, which may still appear: no proof of failure. */
  | {
      said: 'not known';
      /** The identical request may be repeated now. */
      repeat?: true;
    }
  /** No answer, or one that cannot be parsed. */
  | ({ said: 'silent' } & Rest)
  /** The request differs from the first one sent, or cannot be decrypted: nothing is sent. */
  | { said: 'request differs' }
  /**
   * The provider has a transfer under this reference with another `amount` (IDR, scale 4), in progress or completed.
   */
  | { said: 'another amount'; providerTransferId: string; amount: Money; isMade: boolean }
) & {
  /** Other live transfers under the reference. */
  further?: TransferState[];
};

/** Calls to the provider are limited: do not call it for this payout for `restMs` milliseconds. */
interface Rest {
  restMs?: number;
}
export const restOf = (report: ProviderReport): number => ('restMs' in report && report.restMs) || 0;

export type ProviderStatus = ProviderReport['said'];

/** Statuses that leave the outcome unknown. */
const unknowing: readonly ProviderStatus[] = [
  'repeat refused',
  'unsent',
  'not known',
  'silent',
  'another amount',
  'request differs',
];
export const isUnknown = (said: ProviderStatus): boolean => unknowing.includes(said);

/** The resource type of each kind of payout, in events and webhooks. */
export const resourceTypeOf = {
  partner_payout: 'payout',
  withdrawal: 'withdrawal',
  payment_refund: 'refund',
} as const satisfies Record<PayoutKind, string>;

/** The final outcome by the provider's status; null if the status is not final. */
export function finalOutcomeOf({ said }: Pick<ProviderReport, 'said'>): PayoutOutcome | null {
  if (said === 'succeeded' || said === 'reversed') return 'succeeded';
  return said === 'failed' || said === 'refused' ? 'failed' : null;
}

/**
 * The status to keep: the latest answer, unless it is not final and an earlier one was. Silence does not undo a final
 * status.
 */
export function lastingStatus(heard: ProviderStatus, before: ProviderStatus | null | undefined): ProviderStatus {
  const isTakenBack = before && finalOutcomeOf({ said: heard }) === null && finalOutcomeOf({ said: before }) !== null;
  return isTakenBack ? before : heard;
}

/** Whether the provider has reported a return by the bank that is not booked yet. */
export const isReturnUnbooked = ({
  status,
  last_word,
}: {
  status: PayoutStatus;
  last_word?: ProviderStatus | null;
}): boolean => status === 'succeeded' && last_word === 'reversed';

/** A settlement by hand, with evidence: by a decision of two people, or as the provider's final status proves. */
export type PayoutSettlement =
  | { decision_id: string }
  | {
      outcome: PayoutOutcome;
      /** References, never personal data. */
      note: string;
    };

/**
 * Whether the provider's status and our final status contradict each other. A transfer in progress may still reach our
 * status, unless we have returned the money.
 */
export function contradicts(status: PayoutStatus, said: ProviderStatus): boolean {
  if (status === 'succeeded') return said === 'failed' || said === 'refused' || said === 'another amount';
  if (status === 'failed') return said === 'succeeded' || said === 'accepted' || said === 'another amount';
  return status === 'reversed' && (said === 'succeeded' || said === 'another amount');
}
