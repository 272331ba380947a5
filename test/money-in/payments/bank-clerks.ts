import type { PayoutPlace } from '../../money-out/payouts/build-payouts.ts';
import { buildPayer, magicAccount, payoutBody } from '../../money-out/payouts/build-payouts.ts';
import { askRefund, buildPaid, toBank } from '../../money-out/refunds/build-refunds.ts';
import type { HttpAnswer } from '../../support/http.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { eventually } from '../../support/stack.ts';

/** A partner of the bank test, and the answers to its requests. */
export interface Clerk {
  partner: BuiltPartner;
  /** Payouts and refunds that were answered 200. */
  made: string[];
  /** Refusals by status and code. */
  refused: Map<string, number>;
}

/** A clerk's opening balance, IDR. */
const funded = 1_000_000;
const paid = 500_000;

/** Last digits of accounts whose transfers succeed, are refused, fail, are returned, and succeed without an answer. */
const digits = ['111111', '111111', '121212', '999999', '654321', '900003'];

const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T;

/**
 * Creates a partner with its own money and a refundable payment; `act` refunds, then pays out, then does either at
 * random.
 */
export async function buildClerk(place: PayoutPlace): Promise<Clerk & { paymentId: string; act: () => Promise<void> }> {
  const partner = await buildPayer(place, { available: String(funded) });
  const paymentId = await buildPaid(place, partner, { amount: String(paid) });
  const clerk: Clerk = { partner, made: [], refused: new Map() };
  const note = ({ status, body }: HttpAnswer) => {
    if (status === 200) clerk.made.push(body.data.id);
    else {
      const why = `${status} ${body.error.code}`;
      clerk.refused.set(why, (clerk.refused.get(why) ?? 0) + 1);
    }
  };
  const amount = () => String(10_000 + Math.floor(Math.random() * 90_000));
  /** The actions so far; the first two, a refund and a payout, succeed. */
  let acts = 0;
  const act = async () => {
    acts += 1;
    if (acts === 1) {
      note(await askRefund(partner, paymentId, { amount: amount() }));
    } else if (acts === 2) {
      note(
        await partner.post('/payouts', payoutBody({ amount: amount(), bank_account_number: magicAccount('111111') })),
      );
    } else if (Math.random() < 0.4) {
      note(await askRefund(partner, paymentId, { amount: amount(), ...(Math.random() < 0.3 && toBank()) }));
    } else {
      const body = payoutBody({ amount: amount(), bank_account_number: magicAccount(pick(digits)) });
      note(await partner.post('/payouts', body));
    }
  };
  return { ...clerk, paymentId, act };
}

interface Ended {
  id: string;
  kind: string;
  status: string;
  amount: string;
}

/** Waits until all payouts are final; checks that each answer matches its effect and that the balances add up. */
export async function expectClerksEven(place: PayoutPlace, clerks: readonly Clerk[]): Promise<Ended[]> {
  const all: Ended[] = [];
  for (const { partner, made, refused } of clerks) {
    const rows = await eventually(
      () =>
        place
          .em()
          .execute<Ended[]>('select id, kind, status, amount::text from payouts where partner_id = ?', [partner.id]),
      (found) => found.every(({ status }) => status !== 'pending'),
      180_000,
    );
    // A 503 or 504 is unknown: the request may have succeeded.
    const unanswered = [...refused].reduce((sum, [why, times]) => sum + (/^50[34]/.test(why) ? times : 0), 0);
    const ids = new Set(rows.map(({ id }) => id));
    expect(made.filter((id) => !ids.has(id))).toEqual([]);
    expect(rows.length - made.length).toBeLessThanOrEqual(unanswered);
    const left = rows
      .filter(({ status }) => status === 'succeeded')
      .reduce((sum, { amount }) => sum + Number(amount), 0);
    const refunded = rows
      .filter(({ kind, status }) => kind === 'payment_refund' && status === 'succeeded')
      .reduce((sum, { amount }) => sum + Number(amount), 0);
    expect(refunded).toBeLessThanOrEqual(paid);
    const { available, pending } = (await partner.get('/balance')).body.data;
    expect({ available: Number(available), pending: Number(pending) }).toEqual({
      available: funded + paid - left,
      pending: 0,
    });
    const { transfers, refunds } = (await place.sandbox.get('/sandbox/records')).body;
    const references: string[] = [...transfers, ...refunds].map(({ reference_id }) => reference_id);
    // The provider received each request at most once.
    const sent = references.filter((reference) => ids.has(reference));
    expect(sent).toHaveLength(new Set(sent).size);
    all.push(...rows);
  }
  return all;
}
