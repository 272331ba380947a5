import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buildPartnerDocument } from '../../src/partners/partner-document.ts';
import type { Route } from '../../src/platform/http/route-group.ts';
import { type ErrorCode, errorStatuses } from '../../src/shared/errors.ts';
import { newId } from '../../src/shared/ids.ts';
import { routeGroups } from '../../src/wiring/app.ts';
import { webhookDocuments } from '../../src/wiring/webhook-documents.ts';
import { payoutBody } from '../money-out/payouts/build-payouts.ts';
import { itInFull } from '../support/full.ts';
import { type BuiltPartner, buildPartner, freshKey, signatures } from '../support/partner.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

interface Example {
  error: { code: ErrorCode; message: string; details?: unknown };
  request_id: string;
}
interface Operation {
  operationId: string;
  responses: Record<string, { description: string; content: { 'application/json': { example: Example } } }>;
}

const options = { version: '1.0.0', url: 'http://localhost', webhooks: webhookDocuments };
const { paths } = JSON.parse(JSON.stringify(buildPartnerDocument(routeGroups, options))) as {
  paths: Record<string, Record<string, Operation>>;
};
const operations = routeGroups
  .flatMap(({ routes }) => routes)
  .filter(({ access }) => access.kind === 'partner')
  .map(
    (route) =>
      ({ route, ...paths[route.path.replace(/:(\w+)/g, '{$1}')]?.[route.method] }) as { route: Route } & Operation,
  );
const refusalsOf = ({ responses }: Operation) =>
  Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .map(([status, { description, content }]) => ({
      status: Number(status),
      description,
      ...content['application/json'].example.error,
    }));
const written = (id: string, status: number) =>
  operations.find(({ operationId: name }) => name === id)?.responses[status]?.content['application/json'].example.error;

describe('Errors in the partners’ reference', () => {
  it('Each documented error has a code that matches its status, with the code’s details', () => {
    for (const operation of operations) {
      const { idempotent = false } = operation.route;
      for (const { status, code, details, description } of refusalsOf(operation)) {
        expect([operation.operationId, code, errorStatuses[code]]).toEqual([operation.operationId, code, status]);
        expect(description).toContain(`\`${code}\``);
        if (!idempotent) expect(description).not.toContain('IDEMPOTENCY');
        if (code === 'REQUEST_INVALID_PAYLOAD')
          expect(details).toContainEqual({ field: expect.any(String), message: expect.any(String) });
        const id = operation.route.path.includes('/instruments') ? 'instrument_id' : 'payment_id';
        if (code === 'PROVIDER_INDETERMINATE') expect(Object.keys(Object(details))).toEqual([id, 'status_url']);
        if (code === 'PROVIDER_REFUSED') expect(Object.keys(Object(details))).toEqual([id, 'failure_code']);
      }
    }
  });

  it('Every operation documents the errors 400, 408 and 413', () => {
    for (const { responses } of operations)
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '408', '413']));
  });
});

describe('Errors returned by the API', () => {
  let stack: Stack;
  let partner: BuiltPartner;
  let reader: BuiltPartner;
  let keeper: BuiltPartner;
  beforeAll(async () => {
    stack = await startStack({ worker: true, sandbox: true });
    const limits = { max_payout_amount: '25000000', max_daily_amount: '100000000', max_hourly_count: 1000 };
    partner = await buildPartner(stack, { limits });
    reader = await buildPartner(stack, { permissions: ['read-gateway'] });
    keeper = await buildPartner(stack, { permissions: ['manage-keys'] });
  }, 120_000);
  afterAll(() => stack.stop());

  /** The error that an operation returns for these bytes; an undefined partner sends no credentials. */
  async function errorOf({ route }: { route: Route }, by: BuiltPartner | undefined, raw = '', id?: string) {
    const path = route.path.replace(':day', id ?? '2026-01-15').replace(/:\w+/g, id ?? newId());
    const { method } = route;
    const key = route.idempotent ? freshKey() : '';
    const call = request(new URL(path, stack.url), {
      method: method.toUpperCase(),
      headers: {
        'content-length': Buffer.byteLength(raw),
        ...(raw !== '' && { 'content-type': 'application/json' }),
        ...(key !== '' && { 'x-idempotency-key': key }),
        ...(by && {
          authorization: `Bearer ${by.apiKey}`,
          ...signatures(by.signingSecret, { method, path, raw, key }),
        }),
      },
    });
    call.end(raw);
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    const chunks = await answer.toArray();
    return JSON.parse(Buffer.concat(chunks).toString()).error;
  }

  const strangerTo = ({ route: { access } }: { route: Route }) =>
    access.kind === 'partner' && access.permission === 'read-gateway' ? keeper : reader;

  it.each([
    [401, 'without credentials', (operation: { route: Route }) => errorOf(operation, undefined)],
    [403, 'without the permission', (operation: { route: Route }) => errorOf(operation, strangerTo(operation))],
    [404, 'with a malformed id', (operation: { route: Route }) => errorOf(operation, partner, '', 'abc')],
  ])('An error with status %i matches the reference: %s', async (status, _, ask) => {
    for (const operation of operations) {
      const shown = operation.responses[status]?.content['application/json'].example.error;
      if (shown !== undefined && (status !== 404 || operation.route.path.includes(':')))
        expect([operation.operationId, await ask(operation)]).toEqual([operation.operationId, shown]);
    }
  });

  it('An error about a missing or unknown field matches the reference', async () => {
    for (const operation of operations) {
      const shown = operation.responses[400]?.content['application/json'].example.error;
      const raw = operation.route.body && !/unknown field/.test(shown?.message ?? '') ? '{}' : '{"amount":"1"}';
      expect([operation.operationId, await errorOf(operation, partner, raw)]).toEqual([operation.operationId, shown]);
    }
  });

  itInFull(
    'Errors about the state or funds of payments, payouts and refunds match the reference',
    async () => {
      const body = { method: 'virtual_account', channel: 'BCA', amount: '500000' };
      const key = freshKey();
      const { data: open } = (await partner.post('/payments', body, key)).body;
      const other = await partner.post('/payments', { ...body, amount: '1' }, key);
      expect(other.body.error).toEqual(written('createPayment', 409));
      const refund = { amount: '100000', reason: 'Returned', bank_code: 'BCA', bank_account_number: '1234567890' };
      const unpaid = await partner.post(`/payments/${open.id}/refunds`, refund);
      expect(unpaid.body.error).toEqual(written('createPaymentRefund', 409));
      const large = await partner.post('/payouts', payoutBody({ amount: '25000001' }));
      expect(large.body.error).toEqual(written('createPayout', 422));
      await stack.sandbox.post('/sandbox/pay', { payment_code: open.payment_code });
      const cancelled = await partner.send('post', `/payments/${open.id}/cancel`);
      expect(cancelled.body.error).toEqual(written('cancelPayment', 409));
      expect((await partner.post(`/payments/${open.id}/refunds`, refund)).status).toBe(200);
      const beyond = await partner.post(`/payments/${open.id}/refunds`, { ...refund, amount: '400001' });
      expect(beyond.body.error).toEqual(written('createPaymentRefund', 422));
      await expectChecksEmpty(stack);
    },
    60_000,
  );
});
