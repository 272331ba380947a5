import { createHash, timingSafeEqual } from 'node:crypto';
import { budgets } from '../../../shared/budgets.ts';
import { type CallBudget, unlimited } from '../call-budget.ts';
import type { CallOptions, FoundTransfer, Gateway } from '../gateway.ts';
import { checkBankAccount } from './bank-account-checks.ts';
import { readCallback } from './callback.ts';
import { expireInstrument, findInstrument, findPayment, requestInstrument } from './instruments.ts';
import { listRecords } from './records.ts';
import { digestRefund, findRefund, findRefundById, requestRefund } from './refunds.ts';
import { findReusable, listPaymentsUnder, requestReusable } from './reusable.ts';
import type { ClientSettings } from './settings.ts';
import { digestTransfer, findTransfer, readBalance, requestTransfer } from './transfers.ts';

export interface XenditGatewayOptions {
  secretKey: string;
  /** The base URL of the provider's API. */
  url: string;
  /** The `x-callback-token` that the provider sends. */
  callbackToken: string;
  fetch?: typeof fetch;
  /** The time-out of one call, in milliseconds. */
  timeoutMs?: number;
  /** The budget of all calls; unlimited when absent. */
  budget?: CallBudget;
}

const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();

/** Creates the gateway for Xendit, and for the sandbox, which has the same wire format (docs/contract.md 4). */
export function createXenditGateway(options: XenditGatewayOptions): Gateway {
  const settings: ClientSettings = {
    secretKey: options.secretKey,
    url: options.url,
    fetch: options.fetch ?? fetch,
    timeoutMs: options.timeoutMs ?? budgets.provider.call,
    budget: options.budget ?? unlimited,
    payout: false,
  };
  const expectedToken = digest(options.callbackToken);
  return {
    provider: 'xendit',
    requestInstrument: (request, callOptions) => requestInstrument(settings, request, callOptions),
    findInstrument: (reference, callOptions) => findInstrument(settings, reference, callOptions),
    findPayment: (methodId, paymentId, callOptions) => findPayment(settings, methodId, paymentId, callOptions),
    requestReusable: (request, callOptions) => requestReusable(settings, request, callOptions),
    findReusable: (reference, callOptions) => findReusable(settings, reference, callOptions),
    listPaymentsUnder: (methodId, callOptions) => listPaymentsUnder(settings, methodId, callOptions),
    expireInstrument: (methodId, callOptions) => expireInstrument(settings, methodId, callOptions),
    requestTransfer: (request, callOptions) =>
      'refundOf' in request
        ? requestRefund(settings, request, callOptions)
        : requestTransfer(settings, request, callOptions),
    digestTransfer: (request) => ('refundOf' in request ? digestRefund(request) : digestTransfer(request)),
    findTransfer: (reference, { refundOf, ...callOptions } = {}) =>
      refundOf
        ? findRefund(settings, { reference, refundOf }, callOptions)
        : findTransferOrRefund(settings, reference, callOptions),
    listRecords: (period, callOptions) => listRecords(settings, period, callOptions),
    checkBankAccount: (question, callOptions) => checkBankAccount(settings, question, callOptions),
    readBalance: (callOptions) => readBalance(settings, callOptions),
    readCallback,
    // Digests have equal length, so the response time reveals neither the token's length nor its absence.
    isCallbackToken: (token) => timingSafeEqual(digest(token ?? ''), expectedToken) && token !== undefined,
  };
}

/** Finds the transfer with the reference or, failing that, the refund with the `known` id. */
async function findTransferOrRefund(
  settings: ClientSettings,
  reference: string,
  { known, ...options }: CallOptions & { known?: string | null | undefined },
): Promise<FoundTransfer | null> {
  const transfer = await findTransfer(settings, reference, { known, ...options });
  return transfer ?? (known ? findRefundById(settings, { reference, id: known }, options) : null);
}
