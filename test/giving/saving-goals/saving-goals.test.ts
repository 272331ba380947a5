import {
  type BuiltUser,
  buildIndividual,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  fund,
} from '../../support/build.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let saver: BuiltUser;
beforeAll(async () => {
  stack = await startStack();
  saver = await buildIndividual(stack);
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const create = (body: object = {}, token = saver.token) =>
  stack.post('/v1/saving-goals', { name: 'Hajj', target_amount: '35000000', ...body }, { token });
const change = (id: string, body: object, token = saver.token) =>
  stack.patch(`/v1/saving-goals/${id}`, body, { token });

describe('A saving goal', () => {
  it('A goal is created active with an account of its own', async () => {
    const { status, body } = await create({ target_date: '2031-05-01' });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        message: expect.any(String),
        data: {
          name: 'Hajj',
          user_id: saver.id,
          target_amount: '35000000.0000',
          current_amount: '0.0000',
          target_date: '2031-05-01',
          status: 'active',
        },
      },
    });
    const { body: account } = await stack.get(`/v1/accounts/${body.data.account_id}`, { token: saver.token });
    expect(account.data).toMatchObject({ kind: 'saving_goal', owner_id: body.data.id });
    const events = await stack
      .em()
      .execute('select event, resource_type, actor_id from events where resource_id = ?', [body.data.account_id]);
    expect(events).toEqual([{ event: 'RESOURCE_CREATED', resource_type: 'account', actor_id: saver.id }]);
  });

  it.each([
    ['no target', { target_amount: undefined }, 'target_amount'],
    ['a number as target', { target_amount: 5 }, 'target_amount'],
    ['a target of zero', { target_amount: '0.0000' }, 'target_amount'],
    ['a target with five decimals', { target_amount: '1.00001' }, 'target_amount'],
    ['an empty name', { name: ' ' }, 'name'],
    ['an invalid date', { target_date: '2031-02-30' }, 'target_date'],
    ['a date of the year 0000', { target_date: '0000-01-01' }, 'target_date'],
    ['an unknown field', { status: 'completed' }, 'status'],
  ])('A goal with %s returns 400 and names the field', async (_, body, field) => {
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(String(answer.body.message)).toContain(field);
  });

  it('Goals are listed only to their owner and to platform users', async () => {
    const owner = await buildIndividual(stack);
    const other = await buildIndividual(stack);
    const { body } = await create({}, owner.token);
    const { body: mine } = await stack.get('/v1/saving-goals', { token: owner.token });
    expect(mine.data).toMatchObject({ page: 1, limit: 10, total: 1, items: [{ id: body.data.id }] });
    const { body: theirs } = await stack.get('/v1/saving-goals', { token: other.token });
    expect(theirs.data).toMatchObject({ total: 0, items: [] });
    const admin = await buildPlatformAdmin(stack);
    const { body: all } = await stack.get('/v1/saving-goals?limit=100&status=active', { token: admin.token });
    expect(all.data.items.map(({ id }: { id: string }) => id)).toContain(body.data.id);
  });

  it('Reading or changing someone else’s goal returns 403, and a missing one 404', async () => {
    const other = await buildIndividual(stack);
    const { body } = await create();
    expect((await stack.get(`/v1/saving-goals/${body.data.id}`, { token: other.token })).status).toBe(403);
    expect((await change(body.data.id, { name: 'Mine' }, other.token)).status).toBe(403);
    expect((await change('00000000-0000-4000-8000-00000000dead', { name: 'x' })).status).toBe(404);
    expect((await stack.get('/v1/saving-goals/none', { token: saver.token })).status).toBe(400);
  });

  it('A user of an organization can create a goal and read its account', async () => {
    const organization = await buildOrganizationAdmin(stack);
    const { body } = await create({}, organization.token);
    const { status } = await stack.get(`/v1/accounts/${body.data.account_id}`, { token: organization.token });
    expect(status).toBe(200);
  });

  it('A goal is completed by its balance and reactivated by a higher target', async () => {
    const { body } = await create();
    await fund(stack, body.data.account_id, '700.25');
    const { status, body: changed } = await change(body.data.id, { target_amount: '700.25', target_date: null });
    expect({ status, changed }).toMatchObject({
      status: 200,
      changed: { data: { status: 'completed', current_amount: '700.2500', target_date: null } },
    });
    expect((await change(body.data.id, { target_amount: '701', name: 'Umrah' })).body.data).toMatchObject({
      status: 'active',
      name: 'Umrah',
    });
  });
});
