import type { PartnerPermission } from '../../../src/partners/partner.ts';
import type { Http, HttpAnswer } from '../../support/http.ts';
import { type BuiltPartner, signatures } from '../../support/partner.ts';
import { eventually } from '../../support/stack.ts';
import type { PayoutPlace } from '../payouts/build-payouts.ts';
import { payoutBody } from '../payouts/build-payouts.ts';

let refs = 0;
/** An item of a batch with its own reference. */
export const itemBody = (changes: object = {}) => {
  refs += 1;
  return payoutBody({ amount: '20000', external_ref: `item-${refs}`, ...changes });
};
export const itemsOf = (count: number, changes: object = {}) => Array.from({ length: count }, () => itemBody(changes));

/** Calls the API with another key of a partner, without an idempotency key. */
export type SecondKey = (path: string) => Promise<HttpAnswer>;

const callBy =
  (stack: Http, { api_key: token, signing_secret: secret }: { api_key: string; signing_secret: string }): SecondKey =>
  (path) =>
    stack.post(`/v1/partners${path}`, undefined, {
      token,
      headers: signatures(secret, { method: 'post', path: `/v1/partners${path}` }),
    });

/** Issues another key of a partner. */
export async function buildSecondKey(
  stack: Http,
  partner: BuiltPartner,
  permissions: PartnerPermission[] = ['approve-payout', 'read-gateway'],
): Promise<SecondKey> {
  const { status, body } = await partner.administer('post', '/keys', { permissions });
  expect(status).toBe(201);
  return callBy(stack, body.data);
}

/** Rotates the partner's own key. */
export async function rotateOwnKey(stack: Http, partner: BuiltPartner): Promise<SecondKey> {
  const { status, body } = await partner.send('post', '/keys/rotate');
  expect(status).toBe(200);
  return callBy(stack, body.data);
}

export async function makeBatch(partner: BuiltPartner, items: object[], changes: object = {}, key?: string) {
  const { status, body } = await partner.post('/payout-batches', { items, ...changes }, key);
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { data: { status: 'needs_approval', is_final: false } },
  });
  return body.data;
}

export const readBatch = async (partner: BuiltPartner, id: string) =>
  (await partner.get(`/payout-batches/${id}`)).body.data;

export const itemsOfBatch = async (partner: BuiltPartner, id: string) =>
  (await partner.get(`/payout-batches/${id}/items?limit=100`)).body.data.items;

export const batchWhen = (partner: BuiltPartner, id: string, status: string, withinMs = 60_000) =>
  eventually(
    () => readBatch(partner, id).catch(() => undefined),
    (batch) => batch?.status === status,
    withinMs,
  );

/** Returns how many transfers the provider has under each of these references. */
export async function transfersOfItems(stack: PayoutPlace, ids: readonly string[]): Promise<number[]> {
  const answers = await Promise.all(ids.map((id) => stack.sandbox.get(`/sandbox/records?reference_id=${id}`)));
  return answers.map(({ body }) => body.transfers.length);
}
