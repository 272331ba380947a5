import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpAnswer } from '../support/http.ts';
import { signatures } from '../support/partner.ts';
import type { Answer } from './client.ts';
import { bankAccountOf, bankFields, ofPartner, partnerOf } from './pay-steps.ts';
import type { Grouped } from './plan-grouped.ts';
import type { Work } from './plan-work.ts';
import type { Workplace } from './workplace.ts';

const mostTries = 12;
const pauseMs = 700;

/** Creates a batch of payouts, and approves or rejects it with the partner's second key. */
export async function runBatch(place: Workplace, work: Work & Extract<Grouped, { do: 'payout-batch' }>): Promise<void> {
  const partner = partnerOf(place.cast, work.partner);
  const itemsOf = (more: number) =>
    work.amounts.map((amount, index) => ({
      amount: String(amount + more),
      ...bankFields(bankAccountOf(work)),
      external_ref: `${work.id}-${index}`,
    }));
  const body = { items: itemsOf(0), external_ref: work.id };
  const otherBody = { items: itemsOf(1000), external_ref: work.id };
  const asked = {
    path: '/v1/partners/payout-batches',
    body,
    otherBody,
    resourceOf: (answer: Answer) => answer.data?.id,
  };
  const made = await place.client.operate(ofPartner(place, work, 'payout-batch', partner, asked), work);
  if (made === null || work.decides === 'nothing') return;
  const verbs = work.decides === 'both' ? (['approve', 'reject'] as const) : [work.decides];
  const second = place.cast.secondKeys[work.partner];
  if (second === undefined) throw new Error('each partner has a second key');
  await Promise.all(verbs.map((verb) => insist(place, second, `/v1/partners/payout-batches/${made.data.id}/${verb}`)));
}

/** Creates an instrument, pays it as planned, and closes it if the plan says so. */
export async function runInstrument(
  place: Workplace,
  work: Work & Extract<Grouped, { do: 'instrument' }>,
): Promise<void> {
  const partner = partnerOf(place.cast, work.partner);
  const body = {
    method: work.method,
    external_ref: work.id,
    ...(work.method === 'virtual_account' && { channel: 'BNI' }),
    ...(work.amount !== null && { amount: String(work.amount) }),
  };
  const otherBody = { ...body, customer_name: 'Somebody Else' };
  const asked = { path: '/v1/partners/instruments', body, otherBody, resourceOf: (answer: Answer) => answer.data?.id };
  const made = await place.client.operate(ofPartner(place, work, 'instrument', partner, asked), work);
  if (made === null) return;
  const { id, payment_code } = made.data;
  for (const [index, amount] of work.payments.entries()) {
    await sleep(work.afterMs);
    const pays = place.topology.sandbox.post('/sandbox/pay', { payment_code, amount }).catch(() => null);
    const isLast = index === work.payments.length - 1;
    const { apiKey, signingSecret } = partner;
    const closing =
      work.closes && isLast ? insist(place, { apiKey, signingSecret }, `/v1/partners/instruments/${id}/close`) : null;
    await Promise.all([pays, closing]);
  }
}

/** Sends a request with a partner's key until the answer is final. */
async function insist(
  { apis }: Workplace,
  { apiKey, signingSecret }: { apiKey: string; signingSecret: string },
  path: string,
): Promise<void> {
  for (let tried = 0; tried < mostTries; tried += 1) {
    const answer: HttpAnswer | null = await (apis[tried % 2] ?? apis[0])
      .post(path, undefined, { token: apiKey, headers: signatures(signingSecret, { method: 'post', path }) })
      .catch(() => null);
    if (answer !== null && answer.status < 500 && answer.status !== 429 && answer.status !== 401) return;
    await sleep(pauseMs);
  }
}
