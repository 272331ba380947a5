import { createHash } from 'node:crypto';
import { type Draw, makeEntropy, verifyDraw } from '../../sdk/index.ts';
import { type BuiltUser, buildIndividual } from '../support/build.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { addMembers, createCircle, dayFromToday, eventsOf, readCircle, startNow } from './build-circle.ts';

let stack: Stack;
let creator: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true });
  creator = await buildIndividual(stack, { balance: '1000000' });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const post = (terms: unknown, fields: object = {}) =>
  stack.post(
    '/v1/saving-circles',
    { account_id: creator.accountId, name: 'Arisan', start_date: dayFromToday(1), amount: '100000', terms, ...fields },
    { token: creator.token },
  );
const patch = (id: string, body: object) => stack.patch(`/v1/saving-circles/${id}`, body, { token: creator.token });
const join = (as: BuiltUser, id: string, fields: object = {}) =>
  stack.post('/v1/saving-circles/members', { saving_circle_id: id, ...fields }, { token: as.token });

describe('The terms of a circle', () => {
  it('A circle stores the terms it was created with, including defaults, and shows them', async () => {
    const { body } = await post({ grace_days: 3 });
    const terms = { grace_days: 3, on_default: 'wait', guarantee_percent: 0 };
    expect(body.terms).toEqual(terms);
    expect((await readCircle(stack, creator, body.id)).terms).toEqual(terms);
    expect((await post({ grace_days: null })).body.terms).toEqual({ ...terms, grace_days: 0 });
    expect((await createCircle(stack, creator)).terms).toBeNull();
  });

  it.each<[unknown, string]>([
    [{ grace_days: 31 }, 'grace_days'],
    [{ grace_days: -1 }, 'grace_days'],
    [{ grace_days: 1.5 }, 'grace_days'],
    [{ on_default: 'forgive' }, 'on_default'],
    [{ guarantee_percent: 101 }, 'guarantee_percent'],
    [{ guarantee_percent: 0.5 }, 'guarantee_percent'],
    [{ guarantee_percent: '5' }, 'guarantee_percent'],
    [{ interest: 1 }, 'interest'],
    ['wait', 'terms'],
  ])('The terms %j are rejected with the field’s name', async (terms, field) => {
    const refused = await post(terms);
    expect(refused).toMatchObject({ status: 400 });
    expect(JSON.stringify(refused.body.message)).toContain(field);
  });

  it('A guarantee with more than four decimals is rejected, and the error names the changed field', async () => {
    const fraction = { amount: '1000.0001' };
    expect((await post({ guarantee_percent: 50 }, fraction)).body.message).toBe(
      'terms.guarantee_percent: the guarantee would need more than four decimals',
    );
    const { id } = await createCircle(stack, creator, { terms: { guarantee_percent: 50 } });
    expect((await patch(id, fraction)).body.message).toBe('amount: the guarantee would need more than four decimals');
    expect((await patch(id, { ...fraction, terms: { guarantee_percent: 0 } })).status).toBe(200);
    expect((await patch(id, { terms: { guarantee_percent: 50 } })).body.message).toBe(
      'terms.guarantee_percent: the guarantee would need more than four decimals',
    );
  });

  it('Terms can be changed until someone other than the creator has joined', async () => {
    const { id } = await createCircle(stack, creator);
    expect((await join(creator, id)).status).toBe(201);
    expect((await patch(id, { terms: { grace_days: 5 } })).body.data.terms).toMatchObject({ grace_days: 5 });
    expect(await eventsOf(stack, 'RESOURCE_UPDATED', id)).toContainEqual(
      expect.objectContaining({ data: { fields: ['terms'] } }),
    );
    expect((await patch(id, { terms: {} })).body.data.terms).toMatchObject({ grace_days: 5 });
    expect((await patch(id, { terms: null })).body.data.terms).toBeNull();
    expect((await patch(id, { terms: {} })).body.data.terms).toMatchObject({ grace_days: 0 });

    const member = await buildIndividual(stack);
    expect((await addMembers(stack, creator, id, [member])).status).toBe(201);
    const refused = await patch(id, { terms: { grace_days: 6 }, name: 'Changed' });
    expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining('terms') } });
    expect(await patch(id, { terms: { grace_days: 0 } })).toMatchObject({ status: 200 });
    expect(await readCircle(stack, creator, id)).toMatchObject({ name: 'Arisan Melati', terms: { grace_days: 0 } });
  });
});

describe('A lottery with terms', () => {
  const lottery = { turn_order: 'lottery', visibility: 'public', terms: {} };
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

  it('Each member joins a lottery with terms in person, with entropy hidden until the draw', async () => {
    const { id } = await createCircle(stack, creator, lottery);
    const friend = await buildIndividual(stack);
    const others = await addMembers(stack, creator, id, [creator, friend]);
    expect(others).toMatchObject({ status: 400, body: { message: expect.stringContaining('account_ids') } });
    const without = await join(friend, id);
    expect(without).toMatchObject({ status: 400, body: { message: expect.stringContaining('entropy') } });
    for (const entropy of ['0'.repeat(15), '0'.repeat(65), 'g'.repeat(16), 5]) {
      expect((await join(friend, id, { entropy })).status).toBe(400);
    }
    expect((await readCircle(stack, creator, id)).members).toEqual([]);

    const values = new Map<string, string>();
    const members = [friend, creator, await buildIndividual(stack), await buildIndividual(stack)];
    for (const member of members) {
      const value = values.size === 0 ? 'ABCDEF0123456789' : makeEntropy();
      values.set(member.accountId, value);
      const named = member === creator ? { account_ids: [creator.accountId] } : {};
      const joined = await join(member, id, { entropy: value, ...named });
      expect(joined.status).toBe(201);
      expect(JSON.stringify(joined.body)).not.toContain(value);
    }
    const read = async (as: BuiltUser) =>
      (await stack.get(`/v1/saving-circles/${id}/draw`, { token: as.token })).body.data as Draw;
    const { commitment } = await read(friend);
    expect(await read(friend)).toEqual({ commitment, seed: null, order: null, entropy: null });

    await startNow(stack, creator, id);
    const draw = await read(friend);
    expect(draw.entropy).toEqual([...values].map(([account_id, value]) => ({ account_id, value })));
    const entropy = sha256([...values.values()].join('\n'));
    const expected = [...values.keys()].toSorted((left, right) =>
      sha256(`${draw.seed}:${entropy}:${left}`) < sha256(`${draw.seed}:${entropy}:${right}`) ? -1 : 1,
    );
    const own = { account_id: friend.accountId, value: values.get(friend.accountId) ?? '' };
    expect(await verifyDraw(draw, commitment, own)).toEqual(expected);

    // The draw does not change when places are taken over later.
    const shown = await readCircle(stack, creator, id);
    const place = shown.members.find(({ user_id }: { user_id: string }) => user_id === friend.id).id;
    const heir = await buildIndividual(stack);
    const path = `/v1/saving-circles/${id}`;
    const proposed = await stack.post(
      `${path}/members/${place}/replacements`,
      { account_id: heir.accountId },
      { token: friend.token },
    );
    const { id: replacement } = proposed.body.data;
    const accepted = await stack.post(`${path}/replacements/${replacement}/accept`, {}, { token: heir.token });
    expect(accepted.body.data).toMatchObject({ status: 'completed' });
    expect(await verifyDraw(await read(creator), commitment)).toEqual(expected);
    const hidden = await read(await buildIndividual(stack));
    expect(hidden.entropy?.map(({ account_id }) => account_id)).toEqual([null, null, null, null]);
  });

  it('A lottery cannot get terms while its creator is a member without entropy', async () => {
    const { id } = await createCircle(stack, creator, { ...lottery, terms: undefined });
    expect((await join(creator, id)).status).toBe(201);
    expect(await patch(id, { terms: {} })).toMatchObject({ status: 400 });
    const [{ id: memberId }] = (await readCircle(stack, creator, id)).members;
    await stack.delete(`/v1/saving-circles/${id}/members/${memberId}`, undefined, { token: creator.token });
    expect(await patch(id, { terms: {} })).toMatchObject({ status: 200 });
    expect((await join(creator, id)).status).toBe(400);
  });
});
