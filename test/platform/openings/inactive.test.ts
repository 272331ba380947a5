import { startWorker } from '../../../dev/service-parts.ts';
import { openPartnerPayment } from '../../../src/money-in/collections/open-partner-payment.ts';
import { preparePartnerPayment } from '../../../src/money-in/collections/prepare-partner-payment.ts';
import { preparePayout } from '../../../src/money-out/payouts/prepare-payout.ts';
import { reservePayout } from '../../../src/money-out/payouts/reserve-payout.ts';
import { hashKey, stampOpening } from '../../../src/platform/openings/idempotency-keys.ts';
import { partnerPaymentIdFor, payoutIdFor, workflowIds } from '../../../src/shared/ids.ts';
import { buildPayer, payoutBody, readBalance, transfersOf } from '../../money-out/payouts/build-payouts.ts';
import { buildOrganization } from '../../support/build.ts';
import { itInFull } from '../../support/full.ts';
import { type BuiltPartner, freshKey, signature } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const paymentBody = { method: 'virtual_account' as const, channel: 'BNI', amount: '50000' };
const payoutRequest = { amount: '100000', bank_code: 'BRI', bank_account_number: '00100012111111' };
const requestId = 'test';

interface Kind {
  path: string;
  table: string;
  body: object;
  id: (partner: BuiltPartner, key: string) => string;
  workflowId: (id: string) => string;
  /** The first activity of an admitted request, to be run later and any number of times. */
  admitted: (partner: BuiltPartner, key: string) => Promise<() => Promise<unknown>>;
}
/** Returns the opening as if its request had just arrived. */
const stamped = async <Opening>(prepared: Promise<Opening>) => ({
  ...(await prepared),
  stamp: await stampOpening(stack.em()),
});
const claimOf = (key: string) => ({ keyHash: hashKey(key), fingerprint: 'f' });
const kinds: [string, Kind][] = [
  [
    'payout',
    {
      path: '/payouts',
      table: 'payouts',
      body: payoutBody(),
      id: (partner, key) => payoutIdFor(partner.id, key),
      workflowId: workflowIds.partnerPayout,
      admitted: async (partner, key) => {
        const payoutId = payoutIdFor(partner.id, key);
        const request = { partnerId: partner.id, body: payoutRequest, idempotency: claimOf(key), requestId };
        const opening = await stamped(preparePayout(stack.em(), stack.deps.sealer, { payoutId, ...request }));
        return () => reservePayout(stack.em(), stack.deps.sealer, { payoutId, opening });
      },
    },
  ],
  [
    'payment',
    {
      path: '/payments',
      table: 'partner_payments',
      body: paymentBody,
      id: (partner, key) => partnerPaymentIdFor(partner.id, key),
      workflowId: workflowIds.partnerPayment,
      admitted: async (partner, key) => {
        const paymentId = partnerPaymentIdFor(partner.id, key);
        const input = { paymentId, partnerId: partner.id, body: paymentBody, idempotency: claimOf(key), requestId };
        const opening = await stamped(preparePartnerPayment(stack.em(), stack.deps.sealer, input));
        const at = new Date().toISOString();
        return () => openPartnerPayment(stack.em(), stack.deps.sealer, { paymentId, opening, at });
      },
    },
  ],
];

describe("A partner's payment in the name of another organization", () => {
  it.each(['suspended', 'inactive'])(
    'A partner’s payment for an organization that became %s after the request is never created, even later',
    async (status) => {
      const partner = await buildPayer(stack);
      const organization_id = await buildOrganization(stack);
      await partner.administer('post', '/organizations', { organization_id });
      const paymentId = partnerPaymentIdFor(partner.id, freshKey());
      const body = { ...paymentBody, organization_id };
      const input = { paymentId, partnerId: partner.id, body, idempotency: claimOf(freshKey()), requestId };
      const opening = await stamped(preparePartnerPayment(stack.em(), stack.deps.sealer, input));
      const take = () =>
        openPartnerPayment(stack.em(), stack.deps.sealer, { paymentId, opening, at: new Date().toISOString() });
      const setTo = (to: string) =>
        stack.owner().execute('update organizations set status = ? where id = ?', [to, organization_id]);
      await setTo(status);
      await expect(take()).rejects.toMatchObject({ code: 'RESOURCE_NOT_LINKED' });
      await setTo('active');
      await expect(take()).rejects.toMatchObject({ code: 'RESOURCE_NOT_LINKED' });
      expect(await rowsOf('partner_payments', paymentId)).toEqual([]);
    },
  );

  it('A partner’s payment reports a suspended partner account, not a missing link to an organization', async () => {
    const partner = await buildPayer(stack);
    for (const organization_id of [undefined, partner.organizationId]) {
      const paymentId = partnerPaymentIdFor(partner.id, freshKey());
      const body = { ...paymentBody, ...(organization_id !== undefined && { organization_id }) };
      const input = { paymentId, partnerId: partner.id, body, idempotency: claimOf(freshKey()), requestId };
      await setOrganization(partner, 'suspended');
      const opening = await stamped(preparePartnerPayment(stack.em(), stack.deps.sealer, input));
      await expect(
        openPartnerPayment(stack.em(), stack.deps.sealer, { paymentId, opening, at: new Date().toISOString() }),
      ).rejects.toMatchObject({ code: 'AUTH_PARTNER_INACTIVE' });
      await setOrganization(partner, 'active');
    }
  });
});

const rowsOf = (table: string, id: string) => stack.em().execute<object[]>(`select 1 from ${table} where id = ?`, [id]);
const setStatus = async (partner: BuiltPartner, status: 'active' | 'suspended') =>
  expect(await partner.administer('patch', '', { status })).toMatchObject({ status: 200 });
const setOrganization = (partner: BuiltPartner, status: string) =>
  stack.owner().execute('update organizations set status = ? where id = ?', [status, partner.organizationId]);

describe.each(kinds)("A partner's %s", (name, kind) => {
  const itInTurn = name === 'payout' ? it : itInFull;
  itInTurn(
    'A partner’s request whose retry got a 403 is never executed, even if the partner is active again',
    async () => {
      const partner = await buildPayer(stack);
      const [suspended, denied] = [freshKey(), freshKey()];
      const ask = (key: string) => partner.post(kind.path, kind.body, key);
      const firsts = [ask(suspended), ask(denied)];
      const handles = [suspended, denied].map((key) =>
        stack.deps.workflows.client.workflow.getHandle(kind.workflowId(kind.id(partner, key))),
      );
      for (const handle of handles) {
        await eventually(
          () => handle.describe().catch(() => null),
          (found) => found !== null,
        );
      }
      await setStatus(partner, 'suspended');
      expect(await ask(suspended)).toMatchObject({ status: 403, body: { error: { code: 'AUTH_PARTNER_INACTIVE' } } });
      await setStatus(partner, 'active');
      const reader = (await partner.administer('post', '/keys', { permissions: ['read-gateway'] })).body.data;
      const raw = JSON.stringify(kind.body);
      const headers = {
        'content-type': 'application/json',
        'x-partner-signature': signature(reader.signing_secret, raw),
        'x-idempotency-key': denied,
      };
      const refused = await stack.post(`/v1/partners${kind.path}`, undefined, { token: reader.api_key, raw, headers });
      expect(refused).toMatchObject({ status: 403, body: { error: { code: 'AUTH_PERMISSION_DENIED' } } });

      const worker = await startWorker({ env: stack.env, logFile: 'ignore' });
      try {
        expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual(['REFUSED', 'REFUSED']);
        for (const [index, key] of [suspended, denied].entries()) {
          expect(await rowsOf(kind.table, kind.id(partner, key))).toEqual([]);
          // On a slow machine the worker starts after the request has timed out.
          expect([403, 503, 504]).toContain((await firsts[index])?.status);
          expect((await transfersOf(stack, kind.id(partner, key))) ?? []).toEqual([]);
        }
        expect(await readBalance(partner)).toMatchObject({ available: '1000000.0000' });
        // The refusal was for the earlier requests: the key is free for the next.
        expect(await ask(suspended)).toMatchObject({ status: 200 });
      } finally {
        await worker.stop();
      }
    },
    120_000,
  );

  it.each<[string, (partner: BuiltPartner) => Promise<unknown>, (partner: BuiltPartner) => Promise<unknown>]>([
    ['partner was suspended', (partner) => setStatus(partner, 'suspended'), (partner) => setStatus(partner, 'active')],
    ...(['suspended', 'inactive'] as const).map(
      (status): [string, (partner: BuiltPartner) => Promise<unknown>, (partner: BuiltPartner) => Promise<unknown>] => [
        `organization became ${status}`,
        (partner) => setOrganization(partner, status),
        (partner) => setOrganization(partner, 'active'),
      ],
    ),
  ])(
    'A partner’s request is never executed if its %s after the request, even once active again',
    async (_what, end, restore) => {
      const partner = await buildPayer(stack);
      const key = freshKey();
      const take = await kind.admitted(partner, key);
      await end(partner);
      await expect(take()).rejects.toMatchObject({ code: 'AUTH_PARTNER_INACTIVE' });
      await restore(partner);
      await expect(take()).rejects.toMatchObject({ code: 'AUTH_PARTNER_INACTIVE' });
      expect(await rowsOf(kind.table, kind.id(partner, key))).toEqual([]);
    },
  );
});
