import { CreatePayoutRequestToJSON } from 'xendit-node/payout/models/index.js';
import { z } from 'zod';
import { foldForBank } from '../../../shared/bank-text.ts';
import { sha256 } from '../../../shared/digest.ts';
import type { Money } from '../../../shared/money.ts';
import {
  type CallOptions,
  type FoundTransfer,
  ProviderUnknown,
  type TransferOutcome,
  type TransferRequest,
  type TransferState,
} from '../gateway.ts';
import { payoutChannelCodeOf } from './bank-codes.ts';
import { exchange, lookUp, refusalOf } from './client.ts';
import { unsupportedChannel } from './instrument-request.ts';
import { type ClientSettings, first } from './settings.ts';
import { moneyFromWire, wireAmount } from './wire-amount.ts';

const payoutAnswer = z.object({
  id: z.string().min(1),
  referenceId: z.string(),
  amount: z.number(),
  status: z.string(),
  failureCode: z.string().nullish(),
  created: z.date().nullish().catch(null),
});

const transferStatuses: Record<string, TransferState['status']> = {
  ACCEPTED: 'accepted',
  REQUESTED: 'accepted',
  LOCKED: 'accepted',
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  CANCELLED: 'failed',
  REVERSED: 'reversed',
};

function transferOf(answer: unknown): TransferState {
  const { id, referenceId, amount, status, failureCode, created } = payoutAnswer.parse(answer);
  const known = transferStatuses[status];
  if (!known) throw new ProviderUnknown(`the provider answered with the unknown payout status ${status}`);
  return {
    providerTransferId: id,
    reference: referenceId,
    amount: moneyFromWire(amount),
    status: known,
    failureCode: failureCode ?? (status === 'CANCELLED' ? 'CANCELLED' : null),
    createdAt: created ?? null,
  };
}

/** Builds the request body, the same for every attempt; null for a bank that the provider lacks. */
function payoutBodyOf(request: TransferRequest) {
  const channelCode = payoutChannelCodeOf(request.bankCode);
  if (!channelCode) return null;
  return {
    referenceId: request.reference,
    channelCode,
    channelProperties: { accountNumber: request.accountNumber, accountHolderName: holderOf(request) },
    amount: wireAmount(request.amount),
    description: request.description,
    currency: 'IDR',
  };
}

/** Returns at most 100 characters, counted after folding: some letters become two. */
const holderOf = ({ accountHolder }: TransferRequest): string => foldForBank(accountHolder).slice(0, 100).trim();

/** SHA-256 (hex) over the body that the request sends. */
export const digestTransfer = (request: TransferRequest): string =>
  sha256(JSON.stringify(CreatePayoutRequestToJSON(payoutBodyOf(request))));

/** Sends a transfer, with its reference as the idempotency key of every attempt. */
export async function requestTransfer(
  settings: ClientSettings,
  request: TransferRequest,
  options: CallOptions = {},
): Promise<TransferOutcome> {
  const data = payoutBodyOf(request);
  if (!data) return { outcome: 'refused', code: unsupportedChannel, message: 'the provider has no such bank' };
  try {
    const transfer = await exchange(first(settings), 'request transfer', options, async (client) => {
      const created = await client.payouts.createPayout({ idempotencyKey: request.reference, data });
      const state = transferOf(created);
      if (state.reference !== request.reference || created.amount !== data.amount) {
        throw new ProviderUnknown('request transfer: the provider answered with another transfer');
      }
      return state;
    });
    return { outcome: 'accepted', transfer };
  } catch (error) {
    return refusalOf(error);
  }
}

/** The preference among several transfers or refunds of one reference: those whose money may have left come first. */
const tellingFirst: TransferState['status'][] = ['succeeded', 'accepted', 'reversed', 'failed'];

/**
 * Returns the most conclusive of the provider's transfers under a reference, and the others; null when there are none.
 */
export function mostTelling(states: TransferState[], known: string | null | undefined): FoundTransfer | null {
  const sorted = states.toSorted(
    (left, right) => tellingFirst.indexOf(left.status) - tellingFirst.indexOf(right.status),
  );
  const live = sorted.filter(({ status }) => status !== 'failed');
  const told = live.find(({ providerTransferId }) => providerTransferId === known) ?? sorted[0];
  return told === undefined ? null : { ...told, further: sorted.filter((state) => state !== told) };
}

/** Returns the provider's state of the transfer with this reference, or null if it has none. */
export async function findTransfer(
  settings: ClientSettings,
  reference: string,
  { known, ...options }: CallOptions & { known?: string | null | undefined } = {},
): Promise<FoundTransfer | null> {
  return lookUp(first(settings), 'find transfer', options, async (client) => {
    const { data } = await client.payouts.getPayouts({ referenceId: reference });
    // An answer without a list does not prove that no transfer exists.
    if (!data) throw new ProviderUnknown('find transfer: the provider answered without a list');
    return mostTelling(
      data.map(transferOf).filter((state) => state.reference === reference),
      known,
    );
  });
}

/** Reads the cash balance at the provider, IDR. */
export async function readBalance(settings: ClientSettings, options: CallOptions = {}): Promise<Money> {
  const balance = await lookUp(settings, 'read balance', options, async (client) => {
    const answer = await client.balance.getBalance({ accountType: 'CASH', currency: 'IDR' });
    return moneyFromWire(z.number().parse(answer.balance));
  });
  if (balance === null) throw new ProviderUnknown('read balance: the provider knows no balance');
  return balance;
}
