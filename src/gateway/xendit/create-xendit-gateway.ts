import { createHash, timingSafeEqual } from 'node:crypto';
import { budgets } from '../../shared/budgets.ts';
import { type CallBudget, unlimited } from '../call-budget.ts';
import type { Gateway } from '../gateway.ts';
import { readCallback } from './callback.ts';
import { expireInstrument, findInstrument, findPayment, requestInstrument } from './instruments.ts';
import { listRecords } from './records.ts';
import type { ClientSettings } from './settings.ts';
import { digestTransfer, findTransfer, readBalance, requestTransfer } from './transfers.ts';

export interface XenditGatewayOptions {
  secretKey: string;
  /** The base URL of the provider's API. */
  url: string;
  /** What the provider sends as `x-callback-token`. */
  callbackToken: string;
  fetch?: typeof fetch;
  /** What one call may take, in milliseconds. */
  timeoutMs?: number;
  /** What all calls are taken out of; without one they are not limited. */
  budget?: CallBudget;
}

const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();

/** The gateway that speaks to Xendit, and to the sandbox, which speaks the same wire (docs/contract.md 4). */
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
    requestInstrument: (request, callOptions) => requestInstrument(settings, request, callOptions),
    findInstrument: (reference, callOptions) => findInstrument(settings, reference, callOptions),
    findPayment: (methodId, paymentId, callOptions) => findPayment(settings, methodId, paymentId, callOptions),
    expireInstrument: (methodId, callOptions) => expireInstrument(settings, methodId, callOptions),
    requestTransfer: (request, callOptions) => requestTransfer(settings, request, callOptions),
    digestTransfer,
    findTransfer: (reference, callOptions) => findTransfer(settings, reference, callOptions),
    listRecords: (period, callOptions) => listRecords(settings, period, callOptions),
    readBalance: (callOptions) => readBalance(settings, callOptions),
    readCallback,
    // Digests have one length, so neither the length nor the absence of a token shows in the time it takes.
    isCallbackToken: (token) => timingSafeEqual(digest(token ?? ''), expectedToken) && token !== undefined,
  };
}
