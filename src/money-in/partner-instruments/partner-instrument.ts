import type { Money } from '../../shared/money.ts';
import type { OpeningStamp } from '../../shared/opening.ts';
import { type StatusOf, statusLaw } from '../../shared/status-law.ts';
import type { StrayPayment } from '../payments/payment-contract.ts';

/** Status transitions and types of reusable account numbers and QR codes (docs/contract.md 8). */
export const partnerInstrumentLaw = statusLaw({ initial: ['active'], transitions: { active: ['closed'], closed: [] } });
export type PartnerInstrumentStatus = StatusOf<typeof partnerInstrumentLaw>;

export const instrumentMethods = ['virtual_account', 'qris'] as const;
export type InstrumentMethod = (typeof instrumentMethods)[number];

/** The path of an instrument's detail. */
export const instrumentPath = (id: string): string => `/v1/partners/instruments/${id}`;

/** The customer's name and the partner's own texts, sealed together. */
export interface InstrumentTexts {
  customer_name: string | null;
  metadata: Readonly<Record<string, string>> | null;
}
export const instrumentTextsPlace = (id: string) => ({ table: 'partner_instruments', column: 'texts_sealed', row: id });

/** The request as passed to the workflow; texts only sealed. */
export interface PartnerInstrumentOpening {
  partnerId: string;
  channelId: number;
  /** IDR, scale 4, of each payment; null for any amount. */
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
  /** The request; absent when the workflow resumes an existing row. */
  opening?: PartnerInstrumentOpening;
}

/** The result of polling an instrument. */
export interface InstrumentLook {
  status: PartnerInstrumentStatus;
  deliveryIds: string[];
  /** Money paid to the instrument that cannot become a payment. */
  strays: StrayPayment[];
  /** Payments whose net is pending until the settlement delay is over. */
  waiting: string[];
  /** Whether the next poll has more payments to read. */
  hasMore: boolean;
  /** Whether the provider's callbacks arrive; if so, it is polled less often. */
  callbacksCome: boolean;
  /** The row has no payment code because a restored database lacks it. */
  lacksCode?: true;
}

/** The port to the workflows of instruments; implemented in `temporal/`. */
export interface PartnerInstrumentWorkflows {
  /**
   * Starts the instrument's workflow, or joins the running one, and waits at most `waitMs` for the provider's code.
   * Null if the wait times out. Throws what the first step refuses, and SERVICE_UNAVAILABLE.
   */
  startPartnerInstrument(
    instrumentId: string,
    /** Null for an existing row. */
    opening: PartnerInstrumentOpening | null,
    waitMs: number,
  ): Promise<PartnerInstrumentStatus | null>;
  /** Signals the instrument's workflow, or restarts it from its row. */
  hintPartnerInstrument(instrumentId: string): Promise<void>;
}
