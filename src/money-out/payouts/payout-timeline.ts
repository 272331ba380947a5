import type { EntityManager } from '@mikro-orm/postgresql';
import { findCallbackItems, findWebhookItems, presentTimeline, type TimelineItem } from '../../partners/timeline.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { overdueGraceMs } from '../../shared/asking-intervals.ts';
import { journalKeys } from '../../shared/ids.ts';
import { addMoney, type Money } from '../../shared/money.ts';
import { textArray } from '../../shared/postgres.ts';
import { findMadeAttempts, firstSentAt } from './attempts.ts';
import { isFrozen } from './frozen-request.ts';
import type { PayoutKinds } from './handling.ts';
import { showPayoutTexts } from './open-payout-texts.ts';
import type { Payout } from './payout.entity.ts';
import {
  contradicts,
  isUnknown,
  noReasonGiven,
  type PayoutKind,
  type PayoutStatus,
  type ProviderStatus,
  payoutFamilyOf,
  resourceTypeOf,
  settledByOperator,
} from './payout.ts';
import { arePayoutsHeld } from './payout-switch.ts';
import { mayRepeatInMs } from './repeating.ts';

/**
 * The provider's status in words. `it` is "transfer", or "refund" to the wallet that paid; `wasSent` is whether a
 * request had been sent by then.
 */
const statusTexts = (it: string, wasSent: boolean): Record<ProviderStatus, string> => ({
  accepted: `The provider accepted the ${it}.`,
  succeeded: `The provider reports that the ${it} succeeded.`,
  failed: `The provider reports that the ${it} failed`,
  reversed: `The provider reports that the bank has returned the ${it}.`,
  refused: `The provider refused the ${it}`,
  'repeat refused': 'The outcome is unknown: the provider refused the repeated request',
  unsent: `The provider could not be asked for the ${it}. Nothing has been sent yet.`,
  'not known': wasSent
    ? `The outcome is unknown: the provider does not know the ${it} (yet).`
    : `The provider has no such ${it}: nothing was sent.`,
  silent: 'The outcome is unknown: the provider gave no usable answer.',
  'another amount': 'The outcome is unknown: the provider reports another amount.',
  'request differs': wasSent
    ? `The outcome is unknown: the ${it} was requested, and that request can no longer be repeated.`
    : `The ${it} can no longer be requested as first prepared; nothing is sent.`,
});

/** What the request asks of the provider. */
const askedOf = ({ bank_code }: Payout): string => (bank_code === null ? 'refund' : 'transfer');

/** The name of each kind of payout, and the source of its money. */
const namesOf: Record<PayoutKind, { name: string; source: string }> = {
  partner_payout: { name: 'payout', source: 'available balance' },
  withdrawal: { name: 'withdrawal', source: 'account' },
  payment_refund: { name: 'refund', source: 'available balance' },
};

/**
 * The history of a payout in plain words, and its next step. The same request may be repeated for `resendHours` hours
 * after the first attempt. With `sealer`, names the beneficiary if there is one.
 */
export async function tellPayoutTimeline(
  em: EntityManager,
  payout: Payout,
  { resendHours, payoutKinds, sealer }: { resendHours: number; payoutKinds: PayoutKinds; sealer?: Sealer },
) {
  const { id, created_at: at, reference } = payout;
  const reserved = addMoney(payout.net_amount, payout.fee);
  const resourceType = resourceTypeOf[payout.kind];
  const { tell } = payoutKinds[payout.kind];
  const told = (await tell?.(em, payout)) ?? null;
  const { source } = namesOf[payout.kind];
  const name = told?.name ?? namesOf[payout.kind].name;
  const beneficiary = sealer && (await showPayoutTexts(sealer, payout)).beneficiary_name;
  const place = beneficiary ? `${placeOf(payout)} for ${beneficiary}` : placeOf(payout);
  const items: TimelineItem[] = [
    {
      at,
      type: 'request',
      text: `A ${name} of IDR ${payout.amount} ${told ? `from ${told.origin} ` : ''}to ${place} was requested (${reference}).`,
    },
    { at, type: 'reservation', text: `IDR ${reserved} was reserved from the ${source}.` },
    ...(told?.items ?? []),
    ...(await findAttempts(em, payout)),
    ...(await findProviderStatuses(em, payout, name)),
    ...(await findCallbackItems(em, payout)),
    ...(await findLedgerItems(em, payout, name)),
    ...(await findBooking(em, payout)),
    ...(resourceType === 'withdrawal' ? [] : await findWebhookItems(em, resourceType, id)),
  ];
  return presentTimeline(items, told?.next ?? (await findNext(em, payout, { resendHours, payoutKinds, name })));
}

/** The destination of the payout's money, in words. */
const placeOf = ({ bank_code }: Payout): string => bank_code ?? 'the wallet that paid';

async function findNext(
  em: EntityManager,
  payout: Payout,
  { resendHours, payoutKinds, name }: { resendHours: number; payoutKinds: PayoutKinds; name: string },
) {
  const { id, status, asked_at, look_again_at, unknown_since, last_word } = payout;
  if (payout.contradicted_at) {
    const text = `The provider now reports otherwise, and our operators are investigating. The ${name} stays ${status}, and no money moves.`;
    return { at: null, text };
  }
  if (status !== 'pending') return null;
  const it = askedOf(payout);
  if ((await payoutKinds[payout.kind].heldBy?.(em, payout))?.isBarred) {
    const asked = asked_at ? 'The provider is asked again, and the ' : 'The ';
    return {
      at: look_again_at ?? null,
      text: `${asked}${it} will not be sent: an earlier refund of the payment was paid after all.`,
    };
  }
  const made = await findMadeAttempts(em, id);
  const isHeld = await arePayoutsHeld(em);
  if (isHeld && made.length === 0 && last_word !== 'request differs') {
    const text = `The platform holds all transfers for now; the ${it} is sent once they are released. The money stays reserved.`;
    return { at: null, text };
  }
  if (!asked_at && payout.batch_id && !look_again_at) {
    return { at: null, text: `The ${it} waits for its turn in its batch. The money stays reserved.` };
  }
  if (!asked_at) {
    return { at: look_again_at ?? null, text: `The ${it} is being sent; it is checked again by then.` };
  }
  const at = look_again_at ? new Date(look_again_at.getTime() - overdueGraceMs) : null;
  if (made.length === 0 && (!last_word || last_word === 'unsent')) {
    return {
      at,
      text: `Nothing has been sent to the provider yet; the ${it} is sent then. The money stays reserved.`,
    };
  }
  if (made.length === 0 && last_word === 'request differs') {
    return {
      at: null,
      text: 'Nothing was sent, and nothing will be; our operators are investigating. The money stays reserved.',
    };
  }
  if (!isHeld && last_word === 'not known' && isFrozen(payout) && !payout.provider_transfer_id) {
    const inMs = mayRepeatInMs(made, resendHours);
    if (inMs !== null) return { at, text: repeatText(inMs, it) };
  }
  return unknown_since
    ? { at, text: 'The provider is asked again; the money stays reserved until the outcome is known.' }
    : { at, text: 'The provider is asked again unless it calls back first.' };
}

/** In whole seconds; `inMs` is by the database's clock. */
function repeatText(inMs: number, it: string): string {
  const asked = `The provider is asked again; if it still does not know the ${it}, the same request is repeated`;
  const wait = inMs > 0 ? `, in ${Math.ceil(inMs / 1000)} seconds at the earliest` : '';
  return `${asked} under the same key${wait}. The money stays reserved.`;
}

async function findAttempts(em: EntityManager, payout: Payout): Promise<TimelineItem[]> {
  const rows = await em.execute<{ sent_at: Date | string }[]>(
    `select sent_at from payout_attempts where payout_id = ? and outcome is distinct from 'unsent' order by number`,
    [payout.id],
  );
  const it = askedOf(payout);
  const first =
    it === 'refund'
      ? 'The provider was asked to return the money to the wallet that paid.'
      : 'The provider was asked to make the transfer.';
  return rows.map(({ sent_at }, earlier) => ({
    at: new Date(sent_at),
    type: 'provider',
    text:
      earlier === 0
        ? first
        : `The provider did not know the ${it}: the same request was repeated under the same key (${earlier + 1}).`,
  }));
}

/** A payout's status at a given time, from its row. */
function statusAt({ status, succeeded_at, finalized_at }: Payout, at: Date): PayoutStatus {
  if (finalized_at && at >= finalized_at) return status;
  return succeeded_at && at >= succeeded_at ? 'succeeded' : 'pending';
}

interface Contradiction {
  status: PayoutStatus;
  said: ProviderStatus;
}

/** Presents a provider status that contradicts the final status as a contradiction, not as the payout's outcome. */
function contradictionText(payout: Payout, name: string, { status, said }: Contradiction): string {
  const what = said === 'another amount' ? 'reported another amount' : `reported the ${askedOf(payout)} as "${said}"`;
  return `After the final status the provider ${what}: the ${name} stays ${status}, and no money moved.`;
}

/** The provider's statuses. Omits inconclusive ones received once the payout was final. */
async function findProviderStatuses(em: EntityManager, payout: Payout, name: string): Promise<TimelineItem[]> {
  const { id, finalized_at } = payout;
  const rows = await em.execute<
    { said: ProviderStatus; failure_code: string | null; at: Date | string; was_sent: boolean }[]
  >(
    `select said, failure_code, at, coalesce(at >= ${firstSentAt('payout_words.payout_id')}, false) as was_sent
     from payout_words where payout_id = ? order by id limit 200`,
    [id],
  );
  return rows.flatMap(({ said, failure_code, at: instant, was_sent: wasSent }): TimelineItem[] => {
    const at = new Date(instant);
    const status = statusAt(payout, at);
    if (contradicts(status, said))
      return [{ at, type: 'provider', text: contradictionText(payout, name, { status, said }) }];
    if (finalized_at && at >= finalized_at && isUnknown(said)) return [];
    const hasReason = said === 'failed' || said === 'refused' || said === 'repeat refused';
    const words = statusTexts(askedOf(payout), wasSent)[said];
    return [{ at, type: 'provider', text: hasReason ? `${words}: ${failure_code ?? 'no reason given'}.` : words }];
  });
}

/** The journal of each final status: how it moved the money, and what that means. */
async function findLedgerItems(em: EntityManager, payout: Payout, name: string): Promise<TimelineItem[]> {
  const rows = await em.execute<{ step: string; created_at: Date | string }[]>(
    `select split_part(k.business_key, '/', 3) as step, j.created_at
     from journal_keys k join journals j on j.id = k.journal_id where k.business_key = any(?::text[])`,
    [
      textArray(
        (['spent', 'returned', 'reversed'] as const).map((step) =>
          journalKeys.payout(payoutFamilyOf(payout.kind), payout.id, step),
        ),
      ),
    ],
  );
  return rows.flatMap(({ step, created_at }): TimelineItem[] => {
    const at = new Date(created_at);
    const [ledger = '', outcome = ''] = endTexts(step, payout, name);
    return [
      { at, type: 'ledger', text: ledger },
      { at, type: 'outcome', text: outcome },
    ];
  });
}

/** The amount that two people booked for a payout whose final status here differs. */
async function findBooking(
  em: EntityManager,
  { kind, source_account_id, provider_transfer_id, booked_at: at }: Payout,
): Promise<TimelineItem[]> {
  if (!at) return [];
  const [booked] = await em.execute<{ taken: Money }[]>(
    `select coalesce(-sum(p.amount), 0)::numeric(20, 4)::text as taken
     from booked_transfers b join postings p on p.journal_id = b.journal_id and p.account_id = ? where b.provider_id = ?`,
    [source_account_id, provider_transfer_id],
  );
  const text = `Our operators established that the money had left after all: IDR ${booked?.taken} was debited from the ${namesOf[kind].source}.`;
  return [{ at, type: 'ledger', text }];
}

/** Explains failure codes that are not self-explanatory. */
function byOf(code: string): string {
  if (code === noReasonGiven) return ' The provider gave no reason.';
  return code === settledByOperator ? ' Our operators established this.' : '';
}

function endTexts(step: string, { kind, net_amount, fee, failure_code, bank_code }: Payout, name: string): string[] {
  const { source } = namesOf[kind];
  const code = failure_code ?? '';
  const by = byOf(code);
  if (step === 'spent') {
    return [
      `IDR ${net_amount} was sent to ${bank_code === null ? 'the wallet' : 'the bank'}; the fee was IDR ${fee}.`,
      `The ${name} succeeded.`,
    ];
  }
  if (step === 'returned') {
    return [`IDR ${addMoney(net_amount, fee)} was returned to the ${source}.`, `The ${name} failed: ${code}.${by}`];
  }
  return [
    `IDR ${net_amount} was returned to the ${source}; the fee is not.`,
    `The ${name} was reversed: the bank returned the money after success.`,
  ];
}
