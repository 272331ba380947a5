import { type ErrorCode, errorStatuses } from '../shared/errors.ts';
import { guideLayout, renderLine } from './guide.ts';

interface Remedy {
  cause: string;
  remedy: string;
}

/** The meaning of each error code for a partner, and what to do. */
export const partnerErrors: Readonly<Record<string, Remedy>> = {
  REQUEST_INVALID_PAYLOAD: {
    cause: 'A field, parameter or header is missing, unknown or wrong; `details` names each.',
    remedy: 'Correct the request. Nothing was done, and you can reuse the idempotency key.',
  },
  REQUEST_IDEMPOTENCY_KEY_REQUIRED: {
    cause: 'The operation creates something, and the request had no `X-Idempotency-Key`.',
    remedy: 'Send a new key of your own for each resource that you create.',
  },
  REQUEST_IDEMPOTENCY_KEY_REUSED: {
    cause: 'The key was used for a request with another path or body, or too long ago.',
    remedy: 'Send the first request again to get its response, or send the new one with a new key.',
  },
  REQUEST_RATE_LIMITED: {
    cause:
      'This key made too many requests in ten seconds, or you made too many bank account checks in a day, or your ' +
      'webhook replays need more than ten minutes to send.',
    remedy: 'Wait for `Retry-After` seconds. Nothing was done.',
  },
  REQUEST_TIMEOUT: { cause: 'The body did not arrive in time.', remedy: 'Retry with the same key.' },
  PAYLOAD_TOO_LARGE: {
    cause: 'The body is too large, or expands to more than twenty times its compressed size.',
    remedy: 'Send less, or send it uncompressed.',
  },
  METHOD_NOT_ALLOWED: { cause: 'The path does not support this method.', remedy: 'See `Allow` for those it supports.' },
  AUTH_INVALID_CREDENTIALS: {
    cause:
      'The API key is unknown or revoked, or a signature is wrong, missing, used before or older than five minutes. ' +
      'The message names a missing or malformed header, or a time that is off; a wrong key and a wrong signature ' +
      'get the same message.',
    remedy: 'Sign exactly the bytes that you send; check key, secret and clock. A retry does not help.',
  },
  AUTH_PERMISSION_DENIED: {
    cause: 'The key lacks the permission that the operation names.',
    remedy: 'Use another key, or have the operator issue one with it.',
  },
  AUTH_PARTNER_INACTIVE: {
    cause: 'Your account, or its organization, is not active.',
    remedy: 'Ask the operator. Requests accepted earlier still complete.',
  },
  RESOURCE_NOT_FOUND: {
    cause: 'The path does not exist, or you have no resource with this id.',
    remedy: 'Check the id, and that you use the account that created it.',
  },
  RESOURCE_NOT_LINKED: {
    cause: 'The organization is not linked to you.',
    remedy: 'Leave out `organization_id` for your own organization, or ask the operator to link it.',
  },
  KEY_ALREADY_ROTATED: {
    cause: 'The key already has a successor, or was revoked.',
    remedy: 'Rotate the successor. If you lost its secrets, ask the operator for a new key.',
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
    cause:
      'The batch was already approved or rejected, or has lapsed; `details` has its status. `needs_approval` means ' +
      'that it was paid, but we lost the record of its approval.',
    remedy: 'Read it again. If it lapsed or was rejected, create a new batch; if it needs approval, approve it again.',
  },
  FUNDS_INSUFFICIENT_BALANCE: {
    cause: 'The available balance does not cover the amount and its fee.',
    remedy: 'Wait for settlements, or send less. You can reuse the key.',
  },
  FUNDS_LIMIT_EXCEEDED: {
    cause: 'The request would exceed one of your limits; `details` names it and what remains.',
    remedy: 'Send less, wait until the limit resets, or ask the operator to raise it.',
  },
  FUNDS_REFUND_EXCEEDED: {
    cause:
      'The refund exceeds what remains of the payment; `details` has the remainder, which excludes refunds in progress.',
    remedy: 'Refund what remains, or wait to see whether a refund in progress fails.',
  },
  FUNDS_PAYOUT_SUSPENDED: {
    cause: 'Payouts and refunds by transfer are switched off for you, or no limits are set.',
    remedy: 'Ask the operator.',
  },
  PROVIDER_REFUSED: {
    cause: 'The payment provider refused: nothing was created. The same key keeps returning this response.',
    remedy: 'Look up `details.failure_code` below, and send a new request with a new key.',
  },
  PROVIDER_INDETERMINATE: {
    cause: 'The provider did not respond in time, so the outcome is unknown.',
    remedy: 'Poll `details.status_url`, or retry with the same key. Never send it with another key.',
  },
  SERVICE_UNAVAILABLE: {
    cause: 'A system that we depend on is unavailable. The request may still start within two minutes.',
    remedy: 'Retry with the same key after `Retry-After` seconds.',
  },
  INTERNAL: {
    cause: 'A bug on our side.',
    remedy: 'Retry with the same key; if it persists, send the operator the request id.',
  },
};

/**
 * The meaning of each failure code of a payment, payout or refund. The list may grow: treat unknown codes like
 * TRANSFER_ERROR.
 */
export const failureCodes: Readonly<Record<string, string>> = {
  INVALID_DESTINATION: 'The account does not exist: ask for the right number and bank.',
  ACCOUNT_NAME_MISMATCH: "The name is not the account holder's: ask for the right one.",
  DESTINATION_MAXIMUM_LIMIT: 'The account cannot receive this amount: use another account, or a smaller amount.',
  TEMPORARY_TRANSFER_ERROR: 'The bank has an outage: create a new payout after one to three hours.',
  REJECTED_BY_CHANNEL: 'The bank or wallet refused: create a new payout later; ask the operator if it happens again.',
  INSUFFICIENT_BALANCE: 'The platform lacks funds at the provider: create a new payout later; tell the operator.',
  TRANSFER_ERROR: 'Do not retry on your own: ask the operator, quoting the id.',
  SLS_SENDER: 'Blocked by a sanctions list: do not try again, and ask the operator.',
  SLS_RECIPIENT: 'Blocked by a sanctions list: do not try again, and ask the operator.',
  CANCELLED: 'The provider cancelled the transfer: ask the operator before you try again.',
  SETTLED_BY_OPERATOR:
    'Two operators settled the payout as failed because the provider has no transfer for it: create a new payout.',
  RETURNED_BY_BANK: 'The bank returned the refund after it had succeeded: create another refund, to another account.',
  ALREADY_REFUNDED:
    'An earlier refund that had failed was paid after all, so nothing was sent: refund only what remains.',
  REFUND_FAILED: 'The wallet rejected the refund: create another one, to a bank account, or to the wallet later.',
  REFUND_NOT_SUPPORTED: 'The wallet cannot be refunded: create another refund, to a bank account.',
  INELIGIBLE_TRANSACTION: 'The provider does not refund this payment: create another refund, to a bank account.',
  API_VALIDATION_ERROR: 'The provider rejects a value, such as a name: correct it, or ask the operator.',
  CHANNEL_CODE_NOT_SUPPORTED: 'The provider does not support this bank or wallet: use another, and tell the operator.',
  CHANNEL_CODE_NOT_SUPPORTED_ERROR:
    'The provider does not support this bank or wallet: use another, and tell the operator.',
  CHANNEL_NOT_ACTIVATED: 'The provider has not activated this bank or wallet yet: use another, and tell the operator.',
  MAXIMUM_AMOUNT_LIMIT_ERROR: 'The amount is too large for one transfer to this bank: create several smaller payouts.',
  MINIMUM_TRANSFER_LIMIT_ERROR: 'The amount is too small for this bank: create a larger payout.',
  MAXIMUM_TRANSFER_LIMIT_ERROR: 'The amount is too large for this bank: create several smaller payouts.',
  DENIED_PERSON_LIST_MATCHED: 'Blocked by a sanctions list: do not try again, and ask the operator.',
  ACCOUNT_ACCESS_BLOCKED: "The provider has blocked the platform's account: ask the operator before you try again.",
  FEATURE_NOT_ACTIVATED: 'The provider has not activated this for the platform: ask the operator before you try again.',
  OPERATION_NOT_ALLOWED: 'The provider does not let the platform do this: ask the operator before you try again.',
  MAXIMUM_REFUND_AMOUNT_REACHED: 'The provider has already refunded this payment in full or in part: ask the operator.',
  PARTIAL_REFUND_NOT_SUPPORTED: 'The wallet only supports full refunds: create another refund, to a bank account.',
  DATA_NOT_FOUND: 'The provider cannot find the payment to refund: ask the operator.',
  DECLINED_BY_ISSUER: "The payer's bank or wallet declined: ask the customer to pay another way.",
  NO_REASON_GIVEN: 'The provider gave no reason. Do not retry on your own: ask the operator, quoting the id.',
  PAYMENT_FAILED: 'The payment failed and the provider gave no reason: create a new payment.',
};

const statusOf = (code: string): number => errorStatuses[code as ErrorCode];

/** Both catalogues as a page of the guide, with a table of contents by status. */
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
<p>Branch on <code>error.code</code>, never on the message. A 4xx is final: the refused request never takes effect later.</p>
<h2 id="contents">Contents</h2>
<ul>${contents.join('\n')}<li><a href="#failure-codes">Failure codes</a></li></ul>
<h2 id="error-codes">Error codes</h2>
<dl>${errors.join('\n')}</dl>
<h2 id="failure-codes">Failure codes</h2>
<p>The provider's reason why a payment, payout or refund failed is in <code>failure_code</code>. The money of a failed payout
or refund is available again; to retry, create a new one with a new key. The list may grow: treat unknown codes like
<code>TRANSFER_ERROR</code>.</p>
<dl>${failures.join('\n')}</dl>`,
  );
}
