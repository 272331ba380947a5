import { settleReceipt } from '../../../src/money-in/payments/settle-receipt.ts';
import { carryOut } from '../../../src/money-out/decisions/carry-out.ts';
import { newId } from '../../../src/shared/ids.ts';
import { type BuiltUser, buildIndividual, buildRole, buildSuperAdmin } from '../../support/build.ts';
import { buildOperators, type Operators, plantDecision } from '../../support/decide.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { type Change, meetChange, suspension } from '../../support/meet-change.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/**
 * An approval or proposal counts only if its operator is not suspended when it takes effect, however long that takes.
 */
let stack: Stack;
let superAdmin: BuiltUser;
let operators: Operators;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  superAdmin = await buildSuperAdmin(stack);
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());
beforeEach(async () => {
  operators = await buildOperators(stack);
});

const suspend = (user: BuiltUser) =>
  stack.patch(`/v1/users/${user.id}`, { status: 'suspended' }, { token: superAdmin.token });
const read = async (id: string) => (await stack.get(`/v1/decisions/${id}`, { token: superAdmin.token })).body.data;
const lapsed = { status: 'lapsed', reason: 'the approver may no longer decide' };
const planBooking = () =>
  plantDecision(stack, operators, { kind: 'book_external', amount: '1', reference: `r ${newId()}` });

const suspending = ({ id }: BuiltUser) => suspension('users', id);
const meeting = <T>(change: Change, begin: () => Promise<T>, statement = 'why_powerless') =>
  meetChange(stack, change, begin, statement);

describe('Executions while the approver is being suspended', () => {
  it('A booking is not posted while its approver is being suspended', async () => {
    const id = await planBooking();
    await meeting(suspending(operators.approver), () => carryOut(stack.em(), stack.deps, id));
    expect(await read(id)).toMatchObject(lapsed);
  });

  it('Money in suspense does not move while the decision’s approver is being suspended', async () => {
    const payer = await buildIndividual(stack);
    const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
    const order = (await stack.post('/v1/payments/gateway', body, { token: payer.token })).body.data;
    await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code, amount: 1_000 });
    const find = 'select id from receipts where reference = ?';
    const [receipt] = await eventually(
      () => stack.em().execute<{ id: string }[]>(find, [order.payment_order_id]),
      (rows) => rows.length === 1,
    );
    const receiptId = String(receipt?.id);
    const id = await plantDecision(stack, operators, {
      kind: 'settle_receipt',
      receipt_id: receiptId,
      action: 'credit',
      account_id: payer.accountId,
    });
    const settling = { receiptId, settlement: { decision_id: id } };
    const state = await meeting(suspending(operators.approver), () => settleReceipt(stack.em(), stack.deps, settling));
    expect([state, await read(id)]).toMatchObject(['suspended', lapsed]);
  });

  it('A legal hold is not lifted by an operator who is being suspended', async () => {
    const { id } = await buildIndividual(stack);
    const path = `/v1/users/${id}/legal-hold`;
    expect((await stack.post(path, { note: 'Letter 12' }, { token: operators.proposer.token })).status).toBe(201);
    const answer = await meeting(
      suspending(operators.approver),
      () => stack.delete(path, undefined, { token: operators.approver.token }),
      'hold_operator',
    );
    expect(answer).toMatchObject({ status: 403, body: { message: 'You may no longer decide' } });
    expect((await stack.get(path, { token: operators.proposer.token })).status).toBe(200);
  });
});

describe('Requests of an operator who is being suspended', () => {
  it('An erasure is not stopped by an operator who is being suspended', async () => {
    const { id } = await buildIndividual(stack);
    await stack.em().execute("insert into erasures (id, user_id, status) values (?, ?, 'waiting')", [newId(), id]);
    const path = `/v1/users/${id}/erasure`;
    const answer = await meeting(
      suspending(operators.proposer),
      () => stack.delete(path, undefined, { token: operators.proposer.token }),
      'hold_operator',
    );
    expect(answer).toMatchObject({ status: 403, body: { message: 'You may no longer decide' } });
    expect((await stack.get(path, { token: superAdmin.token })).body.data).toMatchObject({ status: 'waiting' });
  });
});

describe('Executions while the approver’s permission is being revoked', () => {
  it('A booking is not posted while its approver’s role is being unassigned', async () => {
    const id = await planBooking();
    const sql = 'update users set role_id = null where id = ?';
    await meeting({ ...suspending(operators.approver), sql }, () => carryOut(stack.em(), stack.deps, id));
    expect(await read(id)).toMatchObject(lapsed);
  });

  it('A booking is not posted while the permission is being removed from its approver’s role', async () => {
    const role = await buildRole(stack, { permissions: ['approve-decision'] });
    // Skip the trigger that would revoke the admission together with the role.
    await stack.owner().transactional(async (tx) => {
      await tx.execute("set local session_replication_role = 'replica'");
      await tx.execute('update users set role_id = ? where id = ?', [role.id, operators.approver.id]);
    });
    const id = await planBooking();
    const sql = 'delete from role_permissions where role_id = ?';
    await meeting({ table: 'roles', id: role.id, sql }, () => carryOut(stack.em(), stack.deps, id));
    expect(await read(id)).toMatchObject(lapsed);
  });
});

describe('Bookings that wait for balances', () => {
  it('A suspension waits for a booking of the same approver that is waiting for balances', async () => {
    const id = await planBooking();
    let booking: Promise<unknown> | undefined;
    let suspended: ReturnType<typeof suspend> | undefined;
    await stack.owner().transactional(async (tx) => {
      await tx.execute('lock table account_balances in share row exclusive mode');
      booking = carryOut(stack.em(), stack.deps, id);
      await untilLocked(stack, { text: 'book_external' });
      suspended = suspend(operators.approver);
      await untilLocked(stack, { text: '"users"' });
    });
    await booking;
    expect((await suspended)?.status).toBe(200);
    expect(await read(id)).toMatchObject({ status: 'carried_out' });
  });
});
