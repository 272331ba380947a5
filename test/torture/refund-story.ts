import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './client.ts';
import {
  bankAccountOf,
  bankFields,
  collect,
  endOf,
  ofPartner,
  partnerOf,
  payFromBalance,
  personOf,
} from './pay-steps.ts';
import { refundChannels } from './plan-refunds.ts';
import type { Work } from './plan-work.ts';
import { proposeAndApprove } from './propose-and-approve.ts';
import { atProvider, codeOf, personal, untilFound, type Workplace } from './workplace.ts';

const waitMs = 25_000;
const pollMs = 300;
const looks = 4;

/** Collects a partner's payment and refunds it in the planned parts, one after another or all at once. */
export async function refundPayment(place: Workplace, work: Extract<Work, { do: 'refund' }>): Promise<void> {
  const { cast, client } = place;
  const partner = partnerOf(cast, work.partner);
  const made = await collect(place, work, { partner, amount: work.paid, ...refundChannels[work.channel] });
  if (made === null) return;
  const paymentId: string = made.data.id;
  const goesTo = bankAccountOf(work);
  const ask = (name: string, amount: number | null) => {
    const body = {
      ...(amount !== null && { amount: String(amount) }),
      reason: `Returned goods, ${work.id}`,
      ...bankFields(goesTo),
    };
    const otherBody = { ...body, amount: String((amount ?? 0) + 1_000) };
    const path = `/v1/partners/payments/${paymentId}/refunds`;
    const resourceOf = (answer: Answer) => answer.data?.id;
    const asked = { name, path, body, otherBody, about: paymentId, goesTo, resourceOf };
    return client.operate(ofPartner(place, work, 'refund', partner, asked), work);
  };
  const customer = { id: work.id, amount: work.paid, ending: 'pay', afterMs: work.afterMs } as const;
  await Promise.all([atProvider(place, codeOf(made.data), customer), ...(work.early ? [ask('early', null)] : [])]);
  if (!(await isReleased(place, paymentId))) return;
  const parts = work.parts.map((amount, index) => () => ask(`part${index}`, amount));
  if (work.together) await Promise.all(parts.map((part) => part()));
  else for (const part of parts) await part();
}

/** Waits until a payment's money is available to its partner; false if the work is over first. */
const isReleased = (place: Workplace, paymentId: string): Promise<boolean> =>
  untilFound(place, {
    sql: 'select 1 from partner_payments where id = ? and released_at is not null',
    params: [paymentId],
    withinMs: waitMs,
    everyMs: pollMs,
  });

/** Refunds a donation: at its donor's request, by a decision of two people of the platform, or both at once. */
export async function takeBack(place: Workplace, work: Extract<Work, { do: 'take-back' }>): Promise<void> {
  const { cast, client, refundDecisions } = place;
  const { user } = personOf(cast, work.user);
  const paid = work.gives ? await payFromBalance(place, work, work) : undefined;
  if (paid === null) return;
  const donationId = await findDonation(place, { userId: user.id, transactionId: paid?.data.transaction_id ?? null });
  if (donationId === null) return;
  await sleep(work.afterMs);
  const asked = { ...endOf(donationId), path: `/v1/donations/${donationId}/refund` };
  const byDonor = () =>
    client.operate(personal(place, { ...work, keyed: false }, 'refund-donation', user.token, asked), {
      ...work,
      otherBody: false,
    });
  const byPeople = () =>
    proposeAndApprove(place, work, {
      operators: cast.operators,
      proposal: { kind: 'refund_donation', donation_id: donationId },
      says: `the refund of the donation ${donationId}`,
      remember: (decided) => refundDecisions.push({ ...decided, donationId }),
    });
  await Promise.all([...(work.by === 'people' ? [] : [byDonor()]), ...(work.by === 'donor' ? [] : [byPeople()])]);
}

/** The donation that this transaction paid, or the donor's newest refundable one; null if there is none. */
async function findDonation(
  { topology }: Workplace,
  { userId, transactionId }: { userId: string; transactionId: string | null },
): Promise<string | null> {
  for (let look = 0; look < looks; look += 1) {
    const found = await topology
      .em()
      .execute<{ id: string }[]>(
        `select id from donations where user_id = ? and status = 'completed' and coalesce(transaction_id = ?::uuid, true)
         order by created_at desc, id desc limit 1`,
        [userId, transactionId],
      )
      .catch(() => null);
    if (found !== null) return found[0]?.id ?? null;
    await sleep(pollMs);
  }
  return null;
}
