import { newId } from '../../../src/shared/ids.ts';
import { buildActiveCircle, contribute } from '../../circles/build-circle.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  buildSuperAdmin,
} from '../../support/build.ts';
import { buildActiveCause, buildGoal, buildOrganizationCause, buildProduct } from '../../support/build-targets.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** A user who is suspended while paying from an unlocked balance pays nothing once the suspension is committed. */
let stack: Stack;
let superAdmin: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true });
  superAdmin = await buildSuperAdmin(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

type Answer = Awaited<ReturnType<Stack['post']>>;
type Table = 'users' | 'organizations';

/** Runs work during an uncommitted suspension, which commits when the work is done; returns the result. */
async function whileSuspending<T>(table: Table, id: string | null, work: () => Promise<T>): Promise<T> {
  return stack.owner().transactional(async (tx) => {
    await tx.execute(`select 1 from ${table} where id = ? for update`, [id]);
    await tx.execute(`update ${table} set status = 'suspended' where id = ?`, [id]);
    return work();
  });
}

/** Returns the answer to a request that meets a suspension in progress. */
async function meeting(table: Table, id: string | null, act: () => Promise<Answer>): Promise<Answer> {
  const [acting] = await whileSuspending(table, id, async () => {
    const acting = act();
    await untilLocked(stack);
    return [acting];
  });
  return acting as Promise<Answer>;
}

const pay = (payer: BuiltUser, body: object, key?: string) =>
  stack.post(
    '/v1/payments/balance',
    { source_account_id: payer.accountId, amount: 1_000, ...body },
    { token: payer.token, headers: key === undefined ? {} : { 'idempotency-key': key } },
  );
const donate = (payer: BuiltUser, causeId: string, key?: string) =>
  pay(payer, { reference_type: 'charitable_cause_donate', reference_id: causeId }, key);

type Rail = [string, (payer: BuiltUser) => Promise<() => Promise<Answer>>];
const rails: Rail[] = [
  [
    'a donation',
    async (payer) => {
      const { id } = await buildActiveCause(stack);
      return () => donate(payer, id);
    },
  ],
  [
    'a donation under an idempotency key',
    async (payer) => {
      const { id } = await buildActiveCause(stack);
      return () => donate(payer, id, newId());
    },
  ],
  [
    'an open donation',
    async (payer) => {
      const pool = await stack.get('/v1/donations/open-pool', { token: payer.token });
      return () =>
        pay(payer, { reference_type: 'charitable_cause_open_donate', reference_id: pool.body.data.account_id });
    },
  ],
  [
    'an investment',
    async (payer) => {
      const { id } = await buildProduct(stack, await buildPlatformAdmin(stack), { kind: 'investment' });
      return () => pay(payer, { reference_type: 'investment', reference_id: id });
    },
  ],
  [
    'a transfer between pockets',
    async (payer) => {
      const pocket = await stack.post('/v1/accounts', { name: 'Pocket' }, { token: payer.token });
      return () =>
        stack.post(
          `/v1/accounts/${payer.accountId}/transfers`,
          { destination_account_id: pocket.body.data.id, amount: '1000' },
          { token: payer.token },
        );
    },
  ],
];
const ofPeople: Rail[] = [
  ...rails,
  [
    'a contribution to a saving goal',
    async (payer) => {
      const { id } = await buildGoal(stack, payer);
      return () => pay(payer, { reference_type: 'saving_goal_contribution', reference_id: id });
    },
  ],
];

const inactive = { status: 403, body: { message: 'The user who requested this is no longer active' } };

describe('Requests of a person who is being suspended', () => {
  it.each(ofPeople)('A request of a person who is being suspended is refused: %s', async (_, prepare) => {
    const payer = await buildIndividual(stack, { balance: '10000' });
    const act = await prepare(payer);
    expect(await meeting('users', payer.id, act)).toMatchObject(inactive);
    expect(await balanceOf(stack, payer.accountId)).toBe('10000.0000');
  });

  it('A circle contribution by a person who is being suspended is refused', async () => {
    const { id, creator } = await buildActiveCircle(stack, 2);
    const fields = { source_account_id: creator.accountId };
    const answer = await meeting('users', creator.id, () => contribute(stack, creator, id, fields));
    expect(answer.status).toBe(403);
    expect(await balanceOf(stack, creator.accountId)).toBe('1000000.0000');
  });
});

describe('Requests of an admin whose organization is being suspended', () => {
  it.each(rails)('A request of an admin whose organization is being suspended is refused: %s', async (_, prepare) => {
    const payer = await buildOrganizationAdmin(stack, { balance: '10000' });
    const act = await prepare(payer);
    expect(await meeting('organizations', payer.organizationId, act)).toMatchObject(inactive);
    expect(await balanceOf(stack, payer.accountId)).toBe('10000.0000');
  });
});

describe('A payment during a suspension', () => {
  it('A payment that waits for its payer’s suspension delays no other payment', async () => {
    const [suspended, ...others] = await Promise.all(
      Array.from({ length: 8 }, () => buildIndividual(stack, { balance: '10000' })),
    );
    const payer = suspended as BuiltUser;
    const { id } = await buildActiveCause(stack);
    const [waiting] = await whileSuspending('users', payer.id, async () => {
      const waiting = donate(payer, id);
      const answers = await Promise.all(others.map((other) => donate(other, id)));
      expect(answers.map(({ status }) => status)).toEqual(others.map(() => 201));
      await untilLocked(stack);
      return [waiting];
    });
    expect(await waiting).toMatchObject(inactive);
  });

  it('A payment that waits for its payer’s row is made if no suspension is committed', async () => {
    const payer = await buildIndividual(stack, { balance: '10000' });
    const { id } = await buildActiveCause(stack);
    const [waiting] = await stack.owner().transactional(async (tx) => {
      await tx.execute('select 1 from users where id = ? for update', [payer.id]);
      const waiting = donate(payer, id, newId());
      await untilLocked(stack);
      return [waiting];
    });
    expect(await waiting).toMatchObject({ status: 201 });
    expect(await balanceOf(stack, payer.accountId)).toBe('9000.0000');
  });

  it('A payment is refused if its cause’s organization was suspended while it waited for its payer’s row', async () => {
    const payer = await buildIndividual(stack, { balance: '10000' });
    const owner = await buildOrganizationAdmin(stack);
    const { id } = await buildOrganizationCause(stack, owner);
    const [waiting] = await stack.owner().transactional(async (tx) => {
      await tx.execute('select 1 from users where id = ? for update', [payer.id]);
      const waiting = donate(payer, id);
      await untilLocked(stack);
      const suspension = { status: 'suspended' };
      const path = `/v1/organizations/${owner.organizationId}`;
      expect((await stack.patch(path, suspension, { token: superAdmin.token })).status).toBe(200);
      return [waiting];
    });
    expect(await waiting).toMatchObject({ status: 400 });
    expect(await balanceOf(stack, payer.accountId)).toBe('10000.0000');
  });
});
