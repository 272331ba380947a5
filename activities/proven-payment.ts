import type { Confirmation, ConfirmedPayment } from '../src/money-in/payments/payment-contract.ts';
import type { Proved, Prover } from '../src/platform/encryption/prover.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';

const aboutOf = (reference: string): string => `paid ${reference.toLowerCase()}`;

/** Adds a proof to the provider's confirmation of a payment before it passes through the workflow. */
export const proveConfirmation = (prover: Prover, reference: string, said: Confirmation): Confirmation =>
  said.outcome === 'paid' ? { ...said, payment: prover.prove(aboutOf(reference), said.payment) } : said;

/**
 * Returns a payment that one of our steps confirmed with the provider. For a payment forged by somebody with access to
 * Temporal, logs an error and returns null, which settles nothing.
 */
export function provenPayment(
  { prover, log }: Dependencies,
  reference: string,
  payment: Proved<ConfirmedPayment>,
): ConfirmedPayment | null {
  const proven = prover.check(aboutOf(reference), payment);
  if (proven === null) log.error({ reference }, 'did not settle a payment that no step of ours has confirmed');
  return proven;
}
