import { upsertSearchAttributes } from '@temporalio/workflow';
import type { PayoutStatus, ProviderStatus } from '../src/money-out/payouts/payout.ts';
import { operatorsAfterMs } from '../src/shared/asking-intervals.ts';
import { formatWesternIndonesia } from '../src/shared/clock.ts';
import { searchAttributeKeys } from '../src/wiring/temporal/search-attributes.ts';
import { tellDetails } from './go-on.ts';

export interface PayoutProgress {
  payoutId: string;
  status: PayoutStatus;
  /** The provider's last status. */
  said: ProviderStatus | null;
  /** ISO 8601. */
  reservedAt: string;
  /** ISO 8601. */
  unknownSince: string | null;
  /** Milliseconds until the next poll of the provider; 0 during a poll or after the last. */
  waitMs: number;
}

const statusTexts: Record<ProviderStatus, string> = {
  accepted: 'The provider has accepted the transfer but not completed it yet',
  succeeded: 'The provider reports that the transfer succeeded',
  failed: 'The provider reports that the transfer failed',
  reversed: 'The provider reports that the bank has returned the transfer',
  refused: 'The provider refused the transfer',
  'repeat refused': 'OUTCOME UNKNOWN: the provider refused the repeated request; the first may still be carried out',
  unsent: 'UNKNOWN TO THE PROVIDER: no request was accepted, nothing was sent; the same request is repeated',
  'not known': 'OUTCOME UNKNOWN: the transfer was requested, and the provider does not know it',
  silent: 'OUTCOME UNKNOWN: the transfer was sent, and the provider gives no usable answer',
  'another amount': 'OUTCOME UNKNOWN: the provider has a transfer of another amount under this reference',
  'request differs':
    'STOPPED: the request differs from the first one, or can no longer be decrypted, so it is not sent',
};

/** How long until an accepted transfer is listed for operators. */
const acceptedTooLongMs = 24 * 3_600_000;

const local = (instant: number): string => `${formatWesternIndonesia(new Date(instant))} (UTC+7)`;

/** The state by which operators search: `PayoutState = 'OPERATOR'` means an outcome unknown for ten minutes. */
function stateOf({ status, said, unknownSince }: PayoutProgress, now: number): string {
  if (status !== 'pending') return status.toUpperCase();
  if (unknownSince !== null) return now - Date.parse(unknownSince) >= operatorsAfterMs ? 'OPERATOR' : 'UNKNOWN';
  return said === null || said === 'unsent' ? 'RESERVED' : 'ACCEPTED';
}

/**
 * Shows operators, in the web UI and its search, what a payout waits for, for how long, and the provider's last status.
 * `told` is the previously shown state: an unchanged one adds nothing to the history.
 */
export function tellPayout(progress: PayoutProgress, told: string): string {
  const { payoutId, status, said, unknownSince, waitMs } = progress;
  const now = Date.now();
  const state = stateOf(progress, now);
  if (state !== told) upsertSearchAttributes([{ key: searchAttributeKeys.PayoutState, value: state }]);
  const statusText = said === null ? 'The money is reserved; the transfer is being sent' : statusTexts[said];
  const since = unknownSince === null ? '' : ` Outcome unknown since ${local(Date.parse(unknownSince))}.`;
  const next = waitMs > 0 ? ` Asks the provider after each callback, and at the latest at ${local(now + waitMs)}.` : '';
  const isLong = state === 'ACCEPTED' && now - Date.parse(progress.reservedAt) >= acceptedTooLongMs;
  const operator = [
    ...(state === 'OPERATOR' ? ['The money stays reserved.'] : []),
    ...(isLong ? ['Sent more than a day ago: ask the provider.'] : []),
  ].map((beginning) => ` ${beginning} Two people can decide the outcome on its page: /operations/payouts/${payoutId}`);
  tellDetails(
    status === 'pending'
      ? `${statusText}.${since}${next}${operator.join('')}`
      : `Ended: ${status}.${said === null ? '' : ` ${statusText}.`}`,
  );
  return state;
}
