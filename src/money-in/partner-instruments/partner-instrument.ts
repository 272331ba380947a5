import type { Money } from '../../shared/money.ts';
import type { OpeningStamp } from '../../shared/opening.ts';
import { type StatusOf, statusLaw } from '../../shared/status-law.ts';
import type { StrayPayment } from '../payments/payment-contract.ts';

/** Pure facts about account numbers and QR codes that customers keep and pay again and again (docs/contract.md 8). */
export const partnerInstrumentLaw = statusLaw({ initial: ['active'], transitions: { active: ['closed'], closed: [] } });
export type PartnerInstrumentStatus = StatusOf<typeof partnerInstrumentLaw>;

export const instrumentMethods = ['virtual_account', 'qris'] as const;
export type InstrumentMethod = (typeof instrumentMethods)[number];

/** The path of an instrument's detail. */
export const instrumentPath = (id: string): string => `/v1/partners/instruments/${id}`;

/** Whom it names, and the partner's own: sealed together. */
export interface InstrumentTexts {
  customer_name: string | null;
  metadata: Readonly<Record<string, string>> | null;
}
export const instrumentTextsPlace = (id: string) => ({ table: 'partner_instruments', column: 'texts_sealed', row: id });

/** The request as the workflow gets it: texts only sealed. */
export interface PartnerInstrumentOpening {
  partnerId: string;
  channelId: number;
  /** IDR, scale 4, of each payment; null for any. */
  amount: Money | null;
  externalRef: string | null;
  textsSealed: string | null;
  requestId: string;
  idempotency: { keyHash: string; fingerprint: string };
  stamp: OpeningStamp;
}

/** The input of an instrument's workflow. */
export interface PartnerInstrumentInput {
  instrumentId: string;
  /** What the request asked for. Absent when the workflow resumes an instrument that has its row. */
  opening?: PartnerInstrumentOpening;
}

/** What a look at an instrument found and did. */
export interface InstrumentLook {
  status: PartnerInstrumentStatus;
  deliveryIds: string[];
  /** Money under it that cannot become a payment of it. */
  strays: StrayPayment[];
  /** Payments whose net waits out the settlement delay. */
  waiting: string[];
  /** Whether more payments are left for the next look. */
  hasMore: boolean;
  /** The provider's callbacks come, so that it is asked less often. */
  callbacksCome: boolean;
  /** Its row has no payment code: a restore took it back. */
  lacksCode?: true;
}

/** The port to the workflows of instruments; implemented in `temporal/`. */
export interface PartnerInstrumentWorkflows {
  /**
   * Starts the instrument's workflow, or joins the running one, and waits at most `waitMs` for what the provider makes.
   * Null when the wait ended without an answer. Throws what the first step refuses, and SERVICE_UNAVAILABLE.
   */
  startPartnerInstrument(
    instrumentId: string,
    /** Null for one that has its row. */
    opening: PartnerInstrumentOpening | null,
    waitMs: number,
  ): Promise<PartnerInstrumentStatus | null>;
  /** Wakes the instrument's workflow, or starts it again from its row. */
  hintPartnerInstrument(instrumentId: string): Promise<void>;
}
