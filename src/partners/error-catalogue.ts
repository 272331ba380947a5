import { type ErrorCode, errorStatuses } from '../shared/errors.ts';
import { guideLayout, renderLine } from './guide.ts';

interface Remedy {
  cause: string;
  remedy: string;
}

/** What each error code means to a partner, and what to do about it. */
export const partnerErrors: Readonly<Record<string, Remedy>> = {
  REQUEST_INVALID_PAYLOAD: {
    cause: 'A field, parameter or header is missing, unknown or wrong; `details` names each.',
    remedy: 'Correct the request. Nothing was done, and the idempotency key is free again.',
  },
  REQUEST_IDEMPOTENCY_KEY_REQUIRED: {
    cause: 'The operation makes something and came without `X-Idempotency-Key`.',
    remedy: 'Send a key of your own for each thing that is to be made once.',
  },
  REQUEST_IDEMPOTENCY_KEY_REUSED: {
    cause: 'The key was used for a request with another path or body.',
    remedy: 'Send the first request again to read its answer, or the new one under a key of its own.',
  },
  REQUEST_RATE_LIMITED: {
    cause:
      'This key made too many requests in ten seconds, or its replays of webhooks go on for more than ten minutes.',
    remedy: 'Wait for `Retry-After` seconds. Nothing was done.',
  },
  REQUEST_TIMEOUT: { cause: 'The body did not arrive in time.', remedy: 'Send it again under the same key.' },
  PAYLOAD_TOO_LARGE: {
    cause: 'The body is too large, or grows to more than twenty times its compressed size.',
    remedy: 'Send less, or send it uncompressed.',
  },
  METHOD_NOT_ALLOWED: { cause: 'The path does not have this method.', remedy: 'See `Allow` for those it has.' },
  AUTH_INVALID_CREDENTIALS: {
    cause:
      'The API key is unknown or revoked, or a signature is wrong, missing or older than five minutes. The message names a ' +
      'header that is missing or malformed, and a time that is off; a wrong key and a wrong signature are told alike.',
    remedy: 'Sign the very bytes that you send; check key, secret and the clock. A retry does not help.',
  },
  AUTH_PERMISSION_DENIED: {
    cause: 'The key lacks the permission that the operation names.',
    remedy: 'Use another key, or have the operator issue one with it.',
  },
  AUTH_PARTNER_INACTIVE: {
    cause: 'Your account, or its organization, is not active.',
    remedy: 'Ask the operator. What was accepted before goes on to its end.',
  },
  RESOURCE_NOT_FOUND: {
    cause: 'There is no such path, or nothing of yours with this id.',
    remedy: 'Check the id and that you use the account that made it.',
  },
  RESOURCE_NOT_LINKED: {
    cause: 'The organization is not linked to you.',
    remedy: 'Leave `organization_id` out for your own, or have the operator link it.',
  },
  KEY_ALREADY_ROTATED: {
    cause: 'The key has a successor already, or was revoked.',
    remedy: 'Rotate the successor. Where its secrets were lost, ask the operator for a new key.',
  },
  PAYMENT_ALREADY_PAID: {
    cause: 'The payment was paid before it could be cancelled.',
    remedy: 'Treat it as paid: read it again.',
  },
  PAYMENT_NOT_PAID: {
    cause: 'The payment is not paid, so there is nothing to refund.',
    remedy: 'Cancel it instead, or wait until it is paid.',
  },
  PAYOUT_BATCH_DECIDED: {
    cause: 'The batch was approved or rejected already, or its time is over; `details` says how it stands.',
    remedy: 'Read it again. One that lapsed or was rejected is made anew.',
  },
  FUNDS_INSUFFICIENT_BALANCE: {
    cause: 'The available balance does not cover the amount and its fee.',
    remedy: 'Wait for settlements, or send less. The key is free again.',
  },
  FUNDS_LIMIT_EXCEEDED: {
    cause: 'One of your limits would be passed; `details` says which, and what is left of it.',
    remedy: 'Send less, wait until the window has moved on, or have the limit raised.',
  },
  FUNDS_REFUND_EXCEEDED: {
    cause: 'More would be refunded than was paid; `details` says what is left, refunds under way counted.',
    remedy: 'Refund what is left, or wait whether a refund that is under way fails.',
  },
  FUNDS_PAYOUT_SUSPENDED: {
    cause: 'Payouts, and with them refunds by transfer, are switched off for you, or no limits are set.',
    remedy: 'Ask the operator.',
  },
  PROVIDER_REFUSED: {
    cause: 'The payment provider refused: nothing was made. The answer is kept under the key.',
    remedy: 'Do what the failure code below, in `details.failure_code`, says, under a new key.',
  },
  PROVIDER_INDETERMINATE: {
    cause: 'The provider has not answered in time: it is not known yet whether it was done.',
    remedy: 'Poll `details.status_url`, or repeat under the same key. Never send it under another.',
  },
  SERVICE_UNAVAILABLE: {
    cause: 'Something that we depend on is unavailable. The request may still begin for two minutes.',
    remedy: 'Repeat under the same key after `Retry-After` seconds.',
  },
  INTERNAL: {
    cause: 'A fault of ours.',
    remedy: 'Repeat under the same key; if it persists, tell the operator the request id.',
  },
};

/** What each failure code of a payment, payout or refund means. The list may grow: treat others like TRANSFER_ERROR. */
export const failureCodes: Readonly<Record<string, string>> = {
  INVALID_DESTINATION: 'No such account: have the number and the bank corrected.',
  ACCOUNT_NAME_MISMATCH: "The name is not the holder's: have it corrected.",
  DESTINATION_MAXIMUM_LIMIT: 'The account cannot take this amount: use another account, or a smaller amount.',
  TEMPORARY_TRANSFER_ERROR: 'The bank has an outage: make a new payout after one to three hours.',
  REJECTED_BY_CHANNEL: 'The bank or wallet refused: make a new payout later; ask the operator if it happens again.',
  INSUFFICIENT_BALANCE: 'The platform lacks funds at the provider: make a new payout later; tell the operator.',
  TRANSFER_ERROR: 'Do not retry on your own: ask the operator, with the id.',
  SLS_SENDER: 'Blocked by a sanctions list: do not try again, and ask the operator.',
  SLS_RECIPIENT: 'Blocked by a sanctions list: do not try again, and ask the operator.',
  CANCELLED: 'The provider cancelled the transfer: ask the operator before you try again.',
  SETTLED_BY_OPERATOR:
    'Two operators ended the payout as failed because the provider knows of no transfer: make a new payout.',
  RETURNED_BY_BANK: 'The bank returned the refund after it had succeeded: another refund, to another account.',
  ALREADY_REFUNDED:
    'An earlier refund of the payment, which had failed, was made after all, so nothing was sent: ask for what is left.',
  REFUND_FAILED: 'The wallet did not take it back: another refund, with a bank account, or to the wallet later.',
  REFUND_NOT_SUPPORTED: 'The wallet cannot be refunded: another refund, with a bank account.',
  INELIGIBLE_TRANSACTION: 'The provider does not refund this payment: another refund, with a bank account.',
  API_VALIDATION_ERROR: 'The provider does not take a value, such as a name: have it corrected, or ask the operator.',
  CHANNEL_CODE_NOT_SUPPORTED: 'The provider does not serve this bank or wallet: use another, and tell the operator.',
  CHANNEL_CODE_NOT_SUPPORTED_ERROR:
    'The provider does not serve this bank or wallet: use another, and tell the operator.',
  CHANNEL_NOT_ACTIVATED: 'The provider has not opened this bank or wallet yet: use another, and tell the operator.',
  MAXIMUM_AMOUNT_LIMIT_ERROR: 'The bank takes no amount this large at once: make several payouts of less.',
  MINIMUM_TRANSFER_LIMIT_ERROR: 'The bank takes no amount this small: make a payout of more.',
  MAXIMUM_TRANSFER_LIMIT_ERROR: 'The bank takes no amount this large: make several smaller payouts.',
  DENIED_PERSON_LIST_MATCHED: 'Blocked by a sanctions list: do not try again, and ask the operator.',
  ACCOUNT_ACCESS_BLOCKED: "The provider has blocked the platform's account: ask the operator before you try again.",
  FEATURE_NOT_ACTIVATED: 'The provider has not opened this to the platform: ask the operator before you try again.',
  OPERATION_NOT_ALLOWED: 'The provider does not allow this to the platform: ask the operator before you try again.',
  MAXIMUM_REFUND_AMOUNT_REACHED: 'The provider has refunded this payment already, whole or in part: ask the operator.',
  PARTIAL_REFUND_NOT_SUPPORTED: 'The wallet takes whole refunds only: another refund, with a bank account.',
  DATA_NOT_FOUND: 'The provider does not find the payment that is refunded: ask the operator.',
  DECLINED_BY_ISSUER: "The payer's bank or wallet declined: let the customer pay in another way.",
  NO_REASON_GIVEN: 'The provider named no reason. Do not retry on your own: ask the operator, with the id.',
  PAYMENT_FAILED: 'The payment failed and the provider named no reason: make a new payment.',
};

const statusOf = (code: string): number => errorStatuses[code as ErrorCode];

/** Both catalogues as a page of the guide: its contents first, by status. */
export function errorPage(): string {
  const codes = Object.keys(partnerErrors).toSorted((left, right) => statusOf(left) - statusOf(right));
  const link = (code: string) => `<a href="#${code}"><code>${code}</code></a>`;
  const byStatus = Map.groupBy(codes, statusOf);
  const contents = [...byStatus].map(([status, some]) => `<li>${status}: ${some.map(link).join(', ')}</li>`);
  const errors = codes.map((code) => {
    const { cause, remedy } = partnerErrors[code] as Remedy;
    const [why, what] = [cause, remedy].map((text) => `<dd>${renderLine(text)}</dd>`);
    return `<dt id="${code}"><code>${code}</code> (${statusOf(code)})</dt>${why}${what}`;
  });
  const failures = Object.entries(failureCodes).map(
    ([code, text]) => `<dt id="${code}"><code>${code}</code></dt><dd>${renderLine(text)}</dd>`,
  );
  return guideLayout(
    '/docs/errors',
    'Errors',
    `<h1>Errors</h1>
<p>Branch on <code>error.code</code>, never on the message. A 4xx is final: what it refused never happens later.</p>
<h2 id="contents">Contents</h2>
<ul>${contents.join('\n')}<li><a href="#failure-codes">Failure codes</a></li></ul>
<h2 id="error-codes">Error codes</h2>
<dl>${errors.join('\n')}</dl>
<h2 id="failure-codes">Failure codes</h2>
<p>Why a payment, payout or refund failed, as the provider says it, in <code>failure_code</code>. The money of a payout or
refund that failed is available again; to try again is a new one under a new key. The list may grow: treat any other like
<code>TRANSFER_ERROR</code>.</p>
<dl>${failures.join('\n')}</dl>`,
  );
}
