import { cancellationSignal } from '@temporalio/activity';
import { closePartnerPayment } from '../src/money-in/collections/close-partner-payment.ts';
import { openPartnerPayment } from '../src/money-in/collections/open-partner-payment.ts';
import type { PartnerPaymentOpening } from '../src/money-in/collections/partner-payment.ts';
import { requestPartnerInstrument } from '../src/money-in/collections/request-partner-instrument.ts';
import { releasePartnerPayment, settlePartnerPayment } from '../src/money-in/collections/settle-partner-payment.ts';
import { collectInstrumentPayments } from '../src/money-in/partner-instruments/collect-instrument-payments.ts';
import { obtainPaymentCode } from '../src/money-in/partner-instruments/obtain-payment-code.ts';
import { openPartnerInstrument } from '../src/money-in/partner-instruments/open-partner-instrument.ts';
import type { PartnerInstrumentOpening } from '../src/money-in/partner-instruments/partner-instrument.ts';
import { confirmInstrument } from '../src/money-in/payments/confirm-payment.ts';
import { expireInstrument } from '../src/money-in/payments/obtain-instrument.ts';
import type { ConfirmedPayment } from '../src/money-in/payments/payment-contract.ts';
import type { Proved } from '../src/platform/encryption/prover.ts';
import { provenOpening } from '../src/platform/openings/prove-opening.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';
import { boundLocal } from './bound-local.ts';
import { proveConfirmation, provenPayment } from './proven-payment.ts';
import { step } from './step.ts';

interface Payment {
  paymentId: string;
}

interface Instrument {
  instrumentId: string;
}

const instrumentOf = (id: string) => ({ table: 'partner_payments', id }) as const;

/** Activities of partners' payments and reusable instruments, one per business step; each is idempotent by its id. */
export function createCollectionActivities(deps: Dependencies) {
  const { gateways, sealer, prover, config, workflows } = deps;
  return {
    openPartnerPayment: step(
      deps,
      'openPartnerPayment',
      (em, { paymentId, opening, at }: Payment & { opening: Proved<PartnerPaymentOpening> | null; at: string }) => {
        const place = { kind: 'partner_payment', resourceId: paymentId } as const;
        return openPartnerPayment(em, sealer, {
          paymentId,
          opening: opening && provenOpening(prover, place, opening),
          at,
        });
      },
    ),
    requestPartnerInstrument: boundLocal(
      deps,
      'requestPartnerInstrument',
      step(deps, 'requestPartnerInstrument', (em, { paymentId }: Payment) => {
        const ports = { gateways, sealer, publicUrl: config.PUBLIC_URL };
        return requestPartnerInstrument(em, ports, { paymentId, signal: cancellationSignal() });
      }),
    ),
    confirmPartnerPayment: step(
      deps,
      'confirmPartnerPayment',
      async (em, { paymentId, briefly }: Payment & { briefly?: boolean }) =>
        proveConfirmation(
          prover,
          paymentId,
          await confirmInstrument(em, gateways, { ...instrumentOf(paymentId), briefly, signal: cancellationSignal() }),
        ),
    ),
    expirePartnerInstrument: step(deps, 'expirePartnerInstrument', (em, { paymentId }: Payment) =>
      expireInstrument(em, gateways, { ...instrumentOf(paymentId), signal: cancellationSignal() }),
    ),
    settlePartnerPayment: step(
      deps,
      'settlePartnerPayment',
      (em, { paymentId, payment }: Payment & { payment: Proved<ConfirmedPayment> }) => {
        const proven = provenPayment(deps, paymentId, payment);
        return settlePartnerPayment(em, { sealer, workflows }, { paymentId, payment: proven });
      },
    ),
    closePartnerPayment: step(
      deps,
      'closePartnerPayment',
      (em, input: Payment & { status: 'FAILED' | 'EXPIRED'; failureCode: string | null }) =>
        closePartnerPayment(em, sealer, input),
    ),
    releasePartnerPayment: step(deps, 'releasePartnerPayment', (em, input: Payment) =>
      releasePartnerPayment(em, sealer, input, { skipsTime: config.TEMPORAL_SKIPS_TIME }),
    ),
    openPartnerInstrument: step(
      deps,
      'openPartnerInstrument',
      (em, { instrumentId, opening }: Instrument & { opening: Proved<PartnerInstrumentOpening> | null }) => {
        const place = { kind: 'partner_instrument', resourceId: instrumentId } as const;
        return openPartnerInstrument(em, { instrumentId, opening: opening && provenOpening(prover, place, opening) });
      },
    ),
    obtainPaymentCode: step(deps, 'obtainPaymentCode', (em, { instrumentId }: Instrument) =>
      obtainPaymentCode(em, { gateways, sealer }, { instrumentId, signal: cancellationSignal() }),
    ),
    collectInstrumentPayments: step(deps, 'collectInstrumentPayments', (em, { instrumentId }: Instrument) =>
      collectInstrumentPayments(em, { gateways, sealer }, { instrumentId, signal: cancellationSignal() }),
    ),
  };
}
