import { keysUrlBeside } from '../../../dev/postgres.ts';
import { createPayoutBatch } from '../../../src/money-out/payout-batches/create-payout-batch.ts';
import { approvePayoutBatch } from '../../../src/money-out/payout-batches/decide-payout-batch.ts';
import { lookAtPayoutBatch } from '../../../src/money-out/payout-batches/look-at-payout-batch.ts';
import { mostOpenBatches } from '../../../src/money-out/payout-batches/payout-batch.ts';
import { NewItem } from '../../../src/money-out/payout-batches/payout-batches.routes.ts';
import { fingerprintOfRequest } from '../../../src/partners/keep-sealed-answer.ts';
import { hashKey, stampOpening } from '../../../src/platform/openings/idempotency-keys.ts';
import { canonicalJson } from '../../../src/shared/canonical-json.ts';
import { mostComplaints } from '../../../src/shared/errors.ts';
import { newId } from '../../../src/shared/ids.ts';
import { readBacklog } from '../../../src/wiring/measure-backlog.ts';
import { itInFull } from '../../support/full.ts';
import { loseWorkflow } from '../../support/lose-workflow.ts';
import { buildPartner, freshKey } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withClient } from '../../support/with-client.ts';
import { buildPayer, generous, magicAccount, readBalance } from '../payouts/build-payouts.ts';
import {
  batchWhen,
  buildSecondKey,
  itemBody,
  itemsOf,
  itemsOfBatch,
  makeBatch,
  readBatch,
  rotateOwnKey,
  transfersOfItems,
} from './build-batches.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const refusal = (status: number, code: string, details?: unknown) => ({
  status,
  body: { error: { code, ...(details === undefined ? {} : { details }) } },
});

it('A batch created with one API key and approved with another sends each item once', async () => {
  const fees = [{ method: 'payout', fixed: '2500', basis_points: 0 }];
  const partner = await buildPayer(stack, { available: '1000000', fees });
  const approve = await buildSecondKey(stack, partner);
  const webhooks = { url: `${stack.sandbox.url}/sandbox/webhooks`, events: ['payout_batch.completed'] };
  expect((await partner.send('post', '/webhook-endpoints', webhooks)).status).toBe(200);
  const items = [...itemsOf(11), itemBody({ bank_account_number: magicAccount('999999') })];
  const key = freshKey();
  const metadata = { month: '2026-01' };
  const made = await makeBatch(partner, items, { external_ref: 'payroll-1', metadata }, key);
  const { status_url: _, ...batch } = made;
  expect(batch).toEqual({
    id: expect.any(String),
    external_ref: 'payroll-1',
    status: 'needs_approval',
    is_final: false,
    count: 12,
    total_amount: '240000.0000',
    total_fee: '30000.0000',
    currency: 'IDR',
    metadata,
    lapses_at: expect.any(String),
    created_at: expect.any(String),
    decided_at: null,
    finalized_at: null,
  });
  expect(Date.parse(batch.lapses_at) - Date.parse(batch.created_at)).toBe(72 * 3_600_000);
  expect(await readBatch(partner, batch.id)).toEqual(batch);
  // The same request returns the same batch, and nothing is reserved or paid before it is approved.
  expect(
    (await partner.post('/payout-batches', { items, external_ref: 'payroll-1', metadata }, key)).body.data,
  ).toEqual(made);
  expect(await readBalance(partner)).toMatchObject({ available: '1000000.0000' });
  const waiting = await itemsOfBatch(partner, batch.id);
  expect(waiting.map((item: { external_ref: string }) => item.external_ref)).toEqual(
    items.map((item) => (item as unknown as { external_ref: string }).external_ref),
  );
  expect(waiting[0]).toMatchObject({ status: 'needs_approval', fee: '2500.0000', beneficiary_name: 'Budi Santoso' });
  expect((await partner.get('/payouts')).body.data.total).toBe(0);

  expect(await approve(`/payout-batches/${batch.id}/approve`)).toMatchObject({
    status: 200,
    body: { data: { status: 'processing', is_final: false, decided_at: expect.any(String) } },
  });
  const ended = await batchWhen(partner, batch.id, 'completed');
  expect(ended).toMatchObject({ is_final: true, finalized_at: expect.any(String) });
  const ids = waiting.map(({ id }: { id: string }) => id);
  // The failing payout was also requested once, and its money was released.
  expect(await transfersOfItems(stack, ids)).toEqual(ids.map(() => 1));
  expect(await readBalance(partner)).toMatchObject({ available: '780000.0000', pending: '0.0000' });
  const after = await itemsOfBatch(partner, batch.id);
  expect(after.map(({ status }: { status: string }) => status)).toEqual([...Array(11).fill('succeeded'), 'failed']);
  expect((await partner.get(`/payouts/${ids[0]}`)).body.data).toMatchObject({
    batch_id: batch.id,
    status: 'succeeded',
  });
  const told = await eventually(
    async () => (await partner.get(`/webhook-deliveries?resource_id=${batch.id}`)).body.data.items,
    (deliveries) => deliveries[0]?.status === 'delivered',
  );
  expect(told).toMatchObject([{ type: 'payout_batch.completed', version: 1 }]);
}, 120_000);

it('A batch is decided once, and not with the API key that created it or that key’s successor', async () => {
  const partner = await buildPayer(stack);
  const { id } = await makeBatch(partner, itemsOf(1));
  const denied = refusal(403, 'AUTH_PERMISSION_DENIED');
  const reader = await buildSecondKey(stack, partner, ['read-gateway', 'request-payout']);
  const other = await buildSecondKey(stack, partner);
  const stranger = await buildPartner(stack);
  for (const verb of ['approve', 'reject']) {
    expect(await partner.send('post', `/payout-batches/${id}/${verb}`)).toMatchObject(denied);
    expect(await reader(`/payout-batches/${id}/${verb}`)).toMatchObject(denied);
    expect(await other(`/payout-batches/${newId()}/${verb}`)).toMatchObject(refusal(404, 'RESOURCE_NOT_FOUND'));
    expect(await stranger.send('post', `/payout-batches/${id}/${verb}`)).toMatchObject(
      refusal(404, 'RESOURCE_NOT_FOUND'),
    );
  }
  const successor = await rotateOwnKey(stack, partner);
  expect(await successor(`/payout-batches/${id}/approve`)).toMatchObject(denied);
  expect(await other(`/payout-batches/${id}/reject`)).toMatchObject({
    status: 200,
    body: { data: { status: 'rejected', is_final: true, finalized_at: expect.any(String) } },
  });
  for (const verb of ['approve', 'reject']) {
    expect(await other(`/payout-batches/${id}/${verb}`)).toMatchObject(
      refusal(409, 'PAYOUT_BATCH_DECIDED', { status: 'rejected' }),
    );
  }
  expect(await itemsOfBatch(partner, id)).toMatchObject([{ status: 'rejected', is_final: true }]);
  expect(await readBalance(partner)).toMatchObject({ available: '1000000.0000' });
});

it('A batch is reserved whole or not at all, within every limit and the balance', async () => {
  const limits = { max_payout_amount: '30000', max_daily_amount: '100000', max_hourly_count: 4 };
  const partner = await buildPayer(stack, { available: '70000', limits });
  const approve = await buildSecondKey(stack, partner);
  const cases: [object[], string, object][] = [
    [[itemBody(), itemBody({ amount: '30001' })], 'FUNDS_LIMIT_EXCEEDED', { limit: 'max_payout_amount' }],
    [itemsOf(4, { amount: '26000' }), 'FUNDS_LIMIT_EXCEEDED', { limit: 'max_daily_amount', remaining: '100000.0000' }],
    [itemsOf(5, { amount: '10000' }), 'FUNDS_LIMIT_EXCEEDED', { limit: 'max_hourly_count', remaining: 4 }],
    [itemsOf(4), 'FUNDS_INSUFFICIENT_BALANCE', { available: '70000.0000', required: '80000.0000' }],
  ];
  const wrong: unknown[] = [];
  for (const [items, code, details] of cases) {
    const { id } = await makeBatch(partner, items);
    const answer = await approve(`/payout-batches/${id}/approve`);
    const { error } = answer.body;
    if (
      answer.status !== 422 ||
      error.code !== code ||
      !Object.entries(details).every(([k, v]) => error.details[k] === v)
    )
      wrong.push({ code, answer });
    if ((await readBatch(partner, id)).status !== 'needs_approval') wrong.push({ id });
  }
  expect(wrong).toEqual([]);
  expect((await partner.get('/payouts')).body.data.total).toBe(0);
  expect(await readBalance(partner)).toMatchObject({ available: '70000.0000', pending: '0.0000' });
  // A batch that was refused may be approved later.
  await partner.administer('patch', '', { payouts_enabled: false });
  const { id } = await makeBatch(partner, itemsOf(3));
  expect(await approve(`/payout-batches/${id}/approve`)).toMatchObject(refusal(422, 'FUNDS_PAYOUT_SUSPENDED'));
  await partner.administer('patch', '', { payouts_enabled: true });
  expect(await approve(`/payout-batches/${id}/approve`)).toMatchObject({ status: 200 });
  await batchWhen(partner, id, 'completed');
}, 60_000);

it('Creating an invalid batch returns every error of every item in one response', async () => {
  const partner = await buildPayer(stack);
  const good = itemBody({ external_ref: 'twice' });
  const items = [
    good,
    itemBody({ amount: '9999', bank_account_number: '1' }),
    { ...itemBody({ amount: 20000, bank_code: 'NOBANK' }), surplus: 1 },
    itemBody({ external_ref: 'twice', amount: 20000 }),
    itemBody({ external_ref: undefined, bank_code: 'NOBANK' }),
    itemBody({ bank_code: 'NOBANK' }),
    'no items',
    itemBody({ external_ref: undefined, bank_account_number: '1' }),
    itemBody({ amount: '50.000', bank_account_number: '1' }),
    itemBody({ beneficiary_name: 'x'.repeat(101), amount: '9999' }),
  ];
  const { status, body } = await partner.post('/payout-batches', { items });
  expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'REQUEST_INVALID_PAYLOAD' });
  expect(body.error.details.map(({ field }: { field: string }) => field)).toEqual([
    'items.1.bank_account_number',
    'items.1.amount',
    'items.2.amount',
    'items.2.surplus',
    'items.2.bank_code',
    'items.3.amount',
    'items.3.external_ref',
    'items.4.external_ref',
    'items.4.bank_code',
    'items.5.bank_code',
    'items.6',
    'items.7.external_ref',
    'items.7.bank_account_number',
    'items.8.amount',
    'items.8.bank_account_number',
    'items.9.beneficiary_name',
    'items.9.amount',
  ]);
  const many = itemsOf(40, { amount: '1' });
  expect((await partner.post('/payout-batches', { items: many })).body.error.details).toHaveLength(40);
  // The stored part of a refusal is bounded.
  const [stored] = await stack
    .em()
    .execute<{ most: number }[]>(
      "select max(jsonb_array_length(refusal -> 'details')) as most from requests where owner_id = ?",
      [partner.id],
    );
  expect(stored).toEqual({ most: mostComplaints });
  for (const refused of [[], itemsOf(1001)]) {
    const answer = await partner.post('/payout-batches', { items: refused });
    expect(answer).toMatchObject(refusal(400, 'REQUEST_INVALID_PAYLOAD'));
  }
  expect((await partner.get('/payout-batches')).body.data.total).toBe(0);
});

describe('A refused batch', () => {
  const path = '/v1/partners/payout-batches';

  it('A refused batch is never created by a delayed earlier request, and its key can be used again', async () => {
    const partner = await buildPayer(stack);
    const key = freshKey();
    const body = { items: itemsOf(1) };
    const earlier = {
      ...{ key, keyHash: hashKey(key), resourceId: null, stamp: await stampOpening(stack.em()) },
      fingerprint: fingerprintOfRequest('POST', path, canonicalJson(body)),
    };
    const setFee = (fixed: string) =>
      partner.administer('put', '/fees', { fees: [{ method: 'payout', basis_points: 0, fixed }] });
    await setFee('0.5');
    const first = await partner.post('/payout-batches', body, key);
    expect(first).toMatchObject(refusal(400, 'REQUEST_INVALID_PAYLOAD'));
    await setFee('0');
    const [{ id: keyId }] = await stack
      .em()
      .execute<[{ id: string }]>('select id from partner_keys where partner_id = ?', [partner.id]);
    const creation = { partnerId: partner.id, keyId, body, idempotency: earlier, requestId: newId() };
    await expect(createPayoutBatch(stack.em(), stack.deps, NewItem, creation)).rejects.toMatchObject({
      code: 'REQUEST_INVALID_PAYLOAD',
      details: first.body.error.details,
    });
    await makeBatch(partner, body.items, {}, key);
  });

  it('A batch with a field name that the database cannot store returns 400', async () => {
    const partner = await buildPayer(stack);
    const items = [itemBody({ 'nul\0': 1 }), itemBody({ 'half\ud800': 1 })];
    const { status, body } = await partner.post('/payout-batches', { items });
    expect({ status, fields: body.error?.details?.length }).toEqual({ status: 400, fields: 2 });
  });
});

it('A partner has at most ten open batches; a lapsed batch cannot be approved and does not count', async () => {
  const partner = await buildPayer(stack);
  const approve = await buildSecondKey(stack, partner);
  const made: { id: string }[] = await Promise.all(
    Array.from({ length: mostOpenBatches }, () => makeBatch(partner, itemsOf(1))),
  );
  const countKeys = () =>
    withClient(keysUrlBeside(stack.databaseUrls.owner), (keys) => keys.query('select count(*) from order_keys'));
  const { rows: before } = await countKeys();
  const tooMany = await partner.post('/payout-batches', { items: itemsOf(1) });
  expect(tooMany).toMatchObject(refusal(400, 'REQUEST_INVALID_PAYLOAD'));
  // A refusal leaves nothing behind; encryption keys would last forever.
  expect((await countKeys()).rows).toEqual(before);
  const [oldest] = made;
  await stack.owner().execute('update payout_batches set lapses_at = now() where id = ?', [oldest?.id]);
  expect(await approve(`/payout-batches/${oldest?.id}/approve`)).toMatchObject(
    refusal(409, 'PAYOUT_BATCH_DECIDED', { status: 'lapsed' }),
  );
  await lookAtPayoutBatch(stack.em(), stack.deps.sealer, { batchId: oldest?.id ?? '' });
  expect(await readBatch(partner, oldest?.id ?? '')).toMatchObject({
    status: 'lapsed',
    is_final: true,
    decided_at: null,
  });
  expect(await itemsOfBatch(partner, oldest?.id ?? '')).toMatchObject([{ status: 'lapsed', is_final: true }]);
  await makeBatch(partner, itemsOf(1), { external_ref: 'the-last' });
  const list = async (query: string) => (await partner.get(`/payout-batches?${query}`)).body.data;
  expect(await list('status=lapsed')).toMatchObject({ total: 1, items: [{ id: oldest?.id }] });
  expect(await list('external_ref=the-last')).toMatchObject({ total: 1 });
  expect((await list('limit=4')).items).toHaveLength(4);
  const other = await buildPartner(stack);
  expect(await other.get(`/payout-batches/${oldest?.id}`)).toMatchObject(refusal(404, 'RESOURCE_NOT_FOUND'));
  expect(await other.get(`/payout-batches/${oldest?.id}/items`)).toMatchObject(refusal(404, 'RESOURCE_NOT_FOUND'));
}, 60_000);

it('A batch is reserved once by concurrent approvals and sent once even if its workflow is lost', async () => {
  const partner = await buildPayer(stack, { available: '1000000' });
  const approve = await buildSecondKey(stack, partner);
  const { id } = await makeBatch(partner, itemsOf(15));
  const path = `/payout-batches/${id}/approve`;
  const answers = await Promise.all([approve(path), approve(path), approve(path)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  const ids = (await itemsOfBatch(partner, id)).map((item: { id: string }) => item.id);
  // A check still in progress would set `look_again_at` after the update below.
  await eventually(
    () => transfersOfItems(stack, ids),
    (made) => made.some((count) => count > 0),
  );
  await loseWorkflow(stack.deps.workflows.client, `partner-payout-batch/${id}`);
  await stack.owner().execute('update payout_batches set look_again_at = now() where id = ?', [id]);
  await stack.deps.workflows.client.workflow.execute('sweep', {
    workflowId: `test/${newId()}`,
    taskQueue: stack.deps.workflows.taskQueue,
    args: [],
  });
  await batchWhen(partner, id, 'completed');
  expect(await transfersOfItems(stack, ids)).toEqual(ids.map(() => 1));
}, 90_000);

it('A batch that its workflow has not checked in time counts as waiting', async () => {
  const { id } = await makeBatch(await buildPayer(stack), itemsOf(1));
  const oldest = new Date('2026-01-31T08:00:00.000Z');
  // In one transaction, because the workflow and the sweep go on.
  const backlog = await stack.owner().transactional(async (tx) => {
    await tx.execute('update payout_batches set look_again_at = ? where id = ?', [oldest, id]);
    return readBacklog(tx);
  });
  expect(backlog).toContainEqual(expect.objectContaining({ what: 'overdue_payout_batches', oldest }));
});

itInFull(
  'A batch of a thousand items is reserved within four seconds',
  async () => {
    const limits = { ...generous, max_daily_amount: '10000000000' };
    const partner = await buildPayer(stack, { available: '100000000', limits });
    const { body } = await partner.administer('post', '/keys', { permissions: ['approve-payout'] });
    const { id } = await makeBatch(partner, itemsOf(1000));
    // Run without the workflow, which would send them all: the test measures the transaction.
    const nobody = { wakePayoutBatch: async () => undefined };
    const begun = performance.now();
    await approvePayoutBatch(
      stack.em(),
      { workflows: nobody },
      {
        partnerId: partner.id,
        batchId: id,
        by: { keyId: body.data.id },
        requestId: newId(),
      },
    );
    expect(performance.now() - begun).toBeLessThan(4000);
    expect(await readBalance(partner)).toMatchObject({ available: '80000000.0000', pending: '20000000.0000' });
  },
  60_000,
);
