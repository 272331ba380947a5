import { type BuiltPartner, signatures } from '../support/partner.ts';
import type { Cast } from './cast.ts';
import type { Answer, Operation } from './client.ts';
import type { BankAccountFact, EndingKind, OperationKind } from './facts.ts';
import type { PaidType, Work } from './plan-work.ts';
import { type Asked, personal, type Workplace } from './workplace.ts';

/** Creates an operation of a partner, signed and under a key. */
export function ofPartner(
  { run }: Workplace,
  { id }: Work,
  kind: OperationKind | EndingKind,
  partner: BuiltPartner,
  asked: Asked,
): Operation {
  const name = asked.name ?? 'o';
  const key = `${run}-${id}-${name}-key`;
  return {
    ...asked,
    work: id,
    name,
    kind,
    by: null,
    partner: partner.id,
    key,
    headers: (raw, path) => ({
      authorization: `Bearer ${partner.apiKey}`,
      ...signatures(partner.signingSecret, { method: 'post', path, raw, key }),
      'x-idempotency-key': key,
    }),
  };
}

/** The partner of this number. */
export function partnerOf({ partners }: Cast, number: number): BuiltPartner {
  const found = partners[number];
  if (found === undefined) throw new Error(`no partner has the number ${number}`);
  return found;
}

/** The user of this number, with their accounts. */
export function personOf({ users }: Cast, number: number): Cast['users'][number] {
  const found = users[number];
  if (found === undefined) throw new Error(`nobody has the number ${number}`);
  return found;
}

/** Pays for a target of a type from a user's account; returns the body of the success, or null. */
export function payFromBalance(
  place: Workplace,
  work: Work,
  { user: number, type, amount }: { user: number; type: PaidType; amount: number },
): Promise<Answer | null> {
  const { client, cast } = place;
  const { user } = personOf(cast, number);
  const body = {
    reference_type: type,
    reference_id: cast.targets[type](number),
    source_account_id: user.accountId,
    amount,
  };
  const otherBody = { ...body, amount: amount + 1 };
  const resourceOf = (answer: Answer) => answer.data?.transaction_id;
  const asked = { path: '/v1/payments/balance', body, otherBody, resourceOf };
  return client.operate(personal(place, work, 'balance', user.token, asked), work);
}

/** Creates a payment of a partner's customer; returns the body of the success, or null. */
export function collect(
  place: Workplace,
  work: Work,
  { partner, amount, ...by }: { partner: BuiltPartner; amount: number; method: string; channel?: string },
): Promise<Answer | null> {
  const body = { amount: String(amount), external_ref: work.id, ...by };
  const otherBody = { ...body, amount: String(amount + 1000) };
  const asked = { path: '/v1/partners/payments', body, otherBody, resourceOf: (answer: Answer) => answer.data?.id };
  return place.client.operate(ofPartner(place, work, 'partner-payment', partner, asked), work);
}

/** The bank account of a piece of work; its last digits decide the outcome of a transfer to it in the sandbox. */
export const bankAccountOf = ({ id, account }: { id: string; account: string }): BankAccountFact => ({
  account: `${id.replaceAll(/\D/g, '').padStart(8, '0').slice(-8)}${account}`,
  holder: `Budi Santoso ${id}`,
});

/** A bank account in the fields of a partner's request. */
export const bankFields = ({ account, holder }: BankAccountFact) => ({
  bank_code: 'BRI',
  bank_account_number: account,
  beneficiary_name: holder,
});

/** The body of a request that finishes or refunds the resource with this id. */
export const endOf = (id: string) => ({ name: 'end', body: {}, again: true, about: id, resourceOf: () => id });
