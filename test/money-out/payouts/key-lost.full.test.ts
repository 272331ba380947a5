import { payoutIdFor } from '../../../src/shared/ids.ts';
import { workflowIds } from '../../../src/shared/workflow-ids.ts';
import { buildOperators, decide } from '../../support/decide.ts';
import { loseKey } from '../../support/lost-keys.ts';
import { type BuiltPartner, freshKey } from '../../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';
import { buildPayer, payoutBody, payoutWhen, readBalance, transfersOf } from './build-payouts.ts';

/** A payout's key is lost with the keys database, and the worker that continues has not cached it. */
let stack: ProcessStack;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startProcessStack();
  partner = await buildPayer(stack);
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());

it('A payout whose encryption key is lost after the reservation is stuck until two people settle it', async () => {
  const key = freshKey();
  const id = payoutIdFor(partner.id, key);
  stack.arm('reserve-payout.after=kill');
  const dying = stack.worker.exited;
  const asked = partner.post('/payouts', payoutBody(), key);
  await dying;
  await loseKey(stack, id);
  await stack.restart();
  expect(await asked).toMatchObject({ status: 200, body: { data: { id, status: 'pending' } } });
  const operators = await buildOperators(stack);
  const stuck = await eventually(
    async () => {
      const { items } = (await stack.get('/v1/payouts/stuck?minutes=0&limit=100', { token: operators.proposer.token }))
        .body.data;
      return items.filter(({ payout_id }: { payout_id: string }) => payout_id === id);
    },
    (items) => items.length > 0,
  );
  expect(stuck).toMatchObject([{ payout_id: id, reason: expect.stringContaining('nothing is sent') }]);
  const facts = { kind: 'settle_payout', payout_id: id, outcome: 'failed' };
  expect(await decide(stack, operators, facts)).toMatchObject({ status: 'carried_out' });
  expect(await payoutWhen(partner, id, 'failed')).toMatchObject({ failure_code: 'SETTLED_BY_OPERATOR' });
  expect(await readBalance(partner)).toMatchObject({ available: '1000000.0000', pending: '0.0000' });
  expect(await transfersOf(stack, id)).toEqual([]);
}, 120_000);

it('A payout whose encryption key is lost before the reservation is refused on every retry', async () => {
  const key = freshKey();
  const id = payoutIdFor(partner.id, key);
  await stack.kill('worker');
  const asked = partner.post('/payouts', payoutBody(), key);
  // The API has cached the key by then, and creates no other for the retry.
  const started = () => stack.deps.workflows.client.workflow.getHandle(workflowIds.partnerPayout(id)).describe();
  await eventually(
    () => started().catch(() => null),
    (workflow) => workflow !== null,
  );
  await loseKey(stack, id);
  await stack.restart();
  const refused = { status: 409, body: { error: { code: 'REQUEST_IDEMPOTENCY_KEY_REUSED' } } };
  // If the worker starts later than the request's time-out, there is no verdict.
  if ((await asked).status !== 503) expect(await asked).toMatchObject(refused);
  const again = await eventually(
    () => partner.post('/payouts', payoutBody(), key),
    ({ status }) => status !== 503,
  );
  expect(again).toMatchObject(refused);
  expect(await stack.em().execute('select 1 from payouts where id = ?', [id])).toEqual([]);
  expect(await readBalance(partner)).toMatchObject({ available: '1000000.0000', pending: '0.0000' });
}, 120_000);
