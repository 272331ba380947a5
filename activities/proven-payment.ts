import type { Dependencies } from '../src/dependencies.ts';
import type { Proved, Prover } from '../src/encryption/prover.ts';
import type { Confirmation, ConfirmedPayment } from '../src/payments/payment-contract.ts';

const aboutOf = (reference: string): string => `paid ${reference.toLowerCase()}`;

/** What the provider said of a payment, on its way through the workflow: that it was paid is proved. */
export const proveConfirmation = (prover: Prover, reference: string, said: Confirmation): Confirmation =>
  said.outcome === 'paid' ? { ...said, payment: prover.prove(aboutOf(reference), said.payment) } : said;

/**
 * A payment as the provider confirmed it to a step of ours; null for one that somebody else made up at Temporal's port,
 * which settles nothing and is told in the log.
 */
export function provenPayment(
  { prover, log }: Dependencies,
  reference: string,
  payment: Proved<ConfirmedPayment>,
): ConfirmedPayment | null {
  const proven = prover.check(aboutOf(reference), payment);
  if (proven === null) log.error({ reference }, 'a payment that no step of ours has confirmed was not settled');
  return proven;
}
