import { newId } from '../../../src/shared/ids.ts';
import { type BuiltUser, buildIndividual, buildOrganizationAdmin, buildPlatformAdmin } from '../../support/build.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let owner: BuiltUser;
let stranger: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ env: { BANK_ACCOUNT_WAIT_HOURS: '24' } });
  [owner, stranger] = await Promise.all([buildIndividual(stack), buildIndividual(stack)]);
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const bca = { bank_code: 'BCA', account_number: '1234567890', account_holder: 'Siti Rahayu' };
const add = (by: BuiltUser, body: object = bca) => stack.post('/v1/bank-accounts', body, { token: by.token });
const idOf = async (by: BuiltUser) => (await add(by)).body.data.id as string;
const list = async (by: BuiltUser) => {
  const { body } = await stack.get('/v1/bank-accounts', { token: by.token });
  return body.data.items.map(({ id }: { id: string }) => id) as string[];
};
const remove = async (by: BuiltUser, id: string) =>
  (await stack.delete(`/v1/bank-accounts/${id}`, undefined, { token: by.token })).status;

describe('POST /v1/bank-accounts (withdraw-account)', () => {
  it('Adding a bank account returns 201 with the number masked, usable after 24 hours', async () => {
    const { status, body } = await add(owner);
    expect(status).toBe(201);
    expect(body).toEqual({
      message: expect.any(String),
      data: {
        id: expect.any(String),
        bank_code: 'BCA',
        account_number: '******7890',
        account_holder: 'Siti Rahayu',
        usable_at: expect.any(String),
        created_at: expect.any(String),
      },
    });
    const { usable_at, created_at } = body.data;
    expect(Date.parse(usable_at) - Date.parse(created_at)).toBe(24 * 60 * 60 * 1000);
  });

  it('A bank account’s number and holder are stored encrypted', async () => {
    const id = await idOf(owner);
    const [row] = await stack.em().execute('select b::text as row from bank_accounts b where id = ?', [id]);
    expect(row?.row).not.toMatch(/1234567890|Siti/);
  });

  it('Adding and deleting a bank account record events with the caller as actor', async () => {
    const id = await idOf(owner);
    await remove(owner, id);
    const events = await stack
      .em()
      .execute('select event, actor_id from events where resource_id = ? order by id', [id]);
    expect(events).toEqual([
      { event: 'RESOURCE_CREATED', actor_id: owner.id },
      { event: 'RESOURCE_DELETED', actor_id: owner.id },
    ]);
  });

  it.each([
    ['an unsupported bank', { bank_code: 'NOWHERE' }, 'bank_code'],
    ['a number invalid for the bank', { account_number: '123' }, 'account_number'],
    ['a number with letters', { account_number: '12345678AB' }, 'account_number'],
    ['no holder', { account_holder: undefined }, 'account_holder'],
    ['an unknown field', { usable_at: '2020-01-01T00:00:00Z' }, 'usable_at'],
  ])('Adding a bank account with %s returns 400 and names the field', async (_, fields, name) => {
    const { status, body } = await add(owner, { ...bca, ...fields });
    expect([status, body.message]).toEqual([400, expect.stringContaining(name)]);
  });

  it('Every active admin of an organization is told of its new bank account', async () => {
    const admin = await buildOrganizationAdmin(stack);
    const { organizationId } = admin;
    const [other, suspended] = [
      await buildOrganizationAdmin(stack, { organizationId }),
      await buildOrganizationAdmin(stack, { organizationId }),
    ];
    await stack.em().execute("update users set status = 'suspended' where id = ?", [suspended.id]);
    expect((await add(admin)).status).toBe(201);
    const told = await stack
      .em()
      .execute<{ user_id: string }[]>(
        "select user_id from mails where kind = 'bank_account_added' and user_id in (?, ?, ?)",
        [admin.id, other.id, suspended.id],
      );
    expect(told.map(({ user_id }) => user_id).toSorted()).toEqual([admin.id, other.id].toSorted());
  });

  it('Platform users cannot have bank accounts', async () => {
    expect((await add(await buildPlatformAdmin(stack))).status).toBe(403);
  });
});

describe('GET and DELETE /v1/bank-accounts', () => {
  it('Users list and delete their own bank accounts; a foreign one returns 403, a missing one 404', async () => {
    const id = await idOf(owner);
    expect(await list(owner)).toContain(id);
    expect(await list(stranger)).not.toContain(id);
    expect(await remove(stranger, id)).toBe(403);
    expect(await remove(owner, id)).toBe(200);
    expect(await remove(owner, id)).toBe(404);
    expect(await remove(stranger, id)).toBe(403);
    expect(await remove(owner, newId())).toBe(404);
    expect(await list(owner)).not.toContain(id);
  });

  it('An organization’s admins can list and delete all its bank accounts; its individuals cannot', async () => {
    const admin = await buildOrganizationAdmin(stack);
    const organizationId = admin.organizationId ?? '';
    const [other, member] = await Promise.all([
      buildOrganizationAdmin(stack, { organizationId }),
      buildIndividual(stack, { organizationId }),
    ]);
    const id = await idOf(admin);
    expect([await list(other), await list(member)]).toEqual([[id], []]);
    expect(await remove(member, id)).toBe(403);
    expect(await remove(other, id)).toBe(200);
  });
});
