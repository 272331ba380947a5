import { keysUrlBeside } from '../../../dev/postgres.ts';
import { applyRegister } from '../../../src/control/erasure/apply-register.ts';
import { continueErasure } from '../../../src/control/erasure/continue-erasure.ts';
import { newId } from '../../../src/shared/ids.ts';
import { opened } from '../../circles/begin-circle.ts';
import {
  type BuiltUser,
  buildIndividual,
  buildOrganization,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  fund,
} from '../../support/build.ts';
import { approve, buildOperators, type Operators } from '../../support/decide.ts';
import { buildTransaction, upload } from '../../support/documents.ts';
import { blocksOf } from '../../support/operators-documents.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withClient } from '../../support/with-client.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { erase as erasePerson } from './stranded-cause.ts';

const password = 'correct horse battery';
const bankAccount = { bank_code: 'BCA', account_number: '1234567890', account_holder: 'Siti Rahayu' };

let stack: Stack;
let operators: Operators;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  operators = await buildOperators(stack);
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());

/** Builds a person with everything that people can store. */
async function somebody(): Promise<BuiltUser> {
  const email = `${newId()}@example.org`;
  const { body } = await stack.post('/v1/auth/signup', { name: 'Siti Rahayu', email, password });
  const login = await stack.post('/v1/auth/login', { email, password });
  const token = login.body.data.access_token as string;
  const [account] = (await stack.get('/v1/accounts', { token })).body.data.items;
  const user = { id: body.data.id, token, email, accountId: account.id, organizationId: null };
  const address = { province: 'Bali', city: 'Denpasar', country: 'Indonesia', street: 'Jalan Siti' };
  const identity = { kind: 'passport', number: 'A1234567', name_on_document: 'Siti Rahayu' };
  for (const [path, content] of [
    ['/v1/addresses', address],
    ['/v1/official-documents', identity],
    ['/v1/bank-accounts', bankAccount],
    ['/v1/accounts', { name: 'Anak Siti' }],
    ['/v1/saving-goals', { name: 'Rumah Siti', target_amount: '1000' }],
  ] as const) {
    expect(await stack.post(path, content, { token })).toMatchObject({ status: 201 });
  }
  const transaction = await buildTransaction(stack, user);
  const stored = await upload(stack, user, transaction);
  expect(stored.status).toBe(201);
  // The money from the transaction would block an erasure.
  await fund(stack, user.accountId, '-1.0000');
  return user;
}

const erasureOf = async (id: string) =>
  (await stack.get(`/v1/users/${id}/erasure`, { token: operators.proposer.token })).body.data;
const propose = (id: string, token = operators.proposer.token) =>
  stack.post(`/v1/users/${id}/erasure`, { note: 'Asked for by letter 4711' }, { token });
const erase = async (id: string) => {
  await erasePerson(stack, operators, { id });
  return erasureOf(id);
};
const row = async (id: string) =>
  (await stack.em().execute<[Record<string, unknown>]>('select * from users where id = ?', [id]))[0];
const keyOf = async (id: string) =>
  (
    await stack.deps.keysOrm.em
      .fork()
      .execute<{ key_sealed: string | null }[]>('select key_sealed from personal_keys where id = ?', [id])
  )[0]?.key_sealed;
const objects = async (prefix: string) => {
  const keys: string[] = [];
  for await (const key of stack.deps.storage.list(prefix)) keys.push(key);
  return keys;
};
/** Restores a key, as a lagging keys server does. */
const restoreKey = (id: string, key: string | null | undefined) =>
  inKeys('update personal_keys set key_sealed = $2, erased_at = null where id = $1', [id, key]);
const inKeys = (sql: string, params: unknown[]) =>
  withClient(keysUrlBeside(stack.databaseUrls.owner), async (client) => {
    await client.query("set session_replication_role = 'replica'");
    await client.query(sql, params);
  });
/** Backdates the key's destruction by a number of days. */
const destroyedDaysAgo = async (id: string, days: number) => {
  const change = `erased_at = now() - interval '${days} days'`;
  await withoutTriggers(stack, `update erasures set ${change} where user_id = ?`, [id]);
  await inKeys(`update personal_keys set ${change} where id = $1 and erased_at is not null`, [id]);
};
const ports = (terms: object) => ({ ...stack.deps, config: { ERASURE_WAIT_HOURS: 0, KEYS_BACKUP_DAYS: 30, ...terms } });

describe('A person erased by two people', () => {
  it('An erased person’s name, address, key, files and password are gone, and the books are unchanged', async () => {
    const person = await somebody();
    const books = () => stack.em().execute('select * from transactions where user_id = ? order by id', [person.id]);
    const before = await books();
    expect((await objects(`documents/${person.id}`)).length).toBeGreaterThan(0);
    const proposed = await propose(person.id);
    expect(proposed).toMatchObject({
      status: 201,
      body: { data: { kind: 'erase_person', user_id: person.id, status: 'pending' } },
    });
    expect(await approve(stack, operators, proposed.body.data.id)).toMatchObject({
      status: 200,
      body: { data: { status: 'carried_out', approved_by: operators.approver.id } },
    });
    const waits = await erasureOf(person.id);
    expect(waits).toMatchObject({ status: 'waiting', held_because: null, erased_at: null });
    const looks = stack.deps.workflows.client.workflow.getHandle(`person-erasure/${waits.id}`);
    expect((await looks.describe()).status.name).toBe('RUNNING');
    expect(Date.parse(waits.due_at) - Date.parse(waits.begun_at)).toBe(72 * 3_600_000);
    expect(await continueErasure(stack.em(), ports({}), waits.id)).toMatchObject({ status: 'erased' });
    const erasure = await erasureOf(person.id);
    expect(erasure).toMatchObject({ decision_id: proposed.body.data.id, held_because: null, ended_at: null });
    expect(Date.parse(erasure.complete_at) - Date.parse(erasure.erased_at)).toBe(30 * 24 * 3_600_000);

    expect(await row(person.id)).toMatchObject({
      profile_sealed: null,
      email_digest: null,
      password_sealed: null,
      role_id: null,
      status: 'suspended',
    });
    expect(await keyOf(person.id)).toBeNull();
    const { token } = operators.proposer;
    expect((await stack.get(`/v1/users/${person.id}`, { token })).body.data).toMatchObject({
      id: person.id,
      name: 'Erased user',
      email: `${person.id}@erased.invalid`,
      profile_picture: null,
    });
    expect((await stack.get('/v1/auth/me', { token: person.token })).status).toBe(401);
    expect((await stack.post('/v1/auth/login', { email: person.email, password })).status).toBe(401);
    for (const table of ['addresses', 'official_documents']) {
      expect(await stack.em().execute(`select * from ${table} where user_id = ?`, [person.id])).toEqual([]);
    }
    const names = await stack.em().execute<{ name: string }[]>(
      `select distinct name from accounts where user_id = ? or id in (select account_id from saving_goals where user_id = ?)
       union select name from saving_goals where user_id = ?`,
      [person.id, person.id, person.id],
    );
    expect(names).toEqual([{ name: 'Erased' }]);
    expect(await objects(`documents/${person.id}`)).toEqual([]);
    expect(await objects(`erasures/${person.id}`)).toHaveLength(1);
    for (const path of ['/v1/users', '/v1/addresses', '/v1/official-documents']) {
      expect([path, (await stack.get(`${path}?limit=100`, { token })).status]).toEqual([path, 200]);
    }
    expect(await books()).toEqual(before);
    const events = (await stack.get(`/v1/events?resource_id=${person.id}&limit=100`, { token })).body.data.items;
    expect(events.map(({ event }: { event: string }) => event)).toEqual(
      expect.arrayContaining(['ERASURE_BEGUN', 'PERSON_EMPTIED', 'PERSON_ERASED']),
    );
    // The address is free for another person, or for the same one again.
    const anew = await stack.post('/v1/auth/signup', { name: 'Siti', email: person.email, password });
    expect(anew.status).toBe(201);
    expect(anew.body.data.id).not.toBe(person.id);
  }, 60_000);

  it('The saving goals of an erased individual are unnamed although the individual belongs to an organization', async () => {
    const user = await buildIndividual(stack, { organizationId: await buildOrganization(stack) });
    const goal = { name: 'Rumah Siti', target_amount: '1000' };
    expect((await stack.post('/v1/saving-goals', goal, { token: user.token })).status).toBe(201);
    await erase(user.id);
    const names = await stack.em().execute('select name from saving_goals where user_id = ?', [user.id]);
    expect(names).toEqual([{ name: 'Erased' }]);
  });

  it('An erasure that was carried out cannot be undone, repeated or stopped', async () => {
    const { id } = await buildIndividual(stack);
    await erase(id);
    const { token } = operators.approver;
    const back = await stack.patch(`/v1/users/${id}`, { status: 'active' }, { token });
    expect([back.status, back.body.message]).toEqual([400, 'status: the user has been erased']);
    expect((await propose(id)).body.message).toBe('user_id: the user has been erased');
    const stopped = await stack.delete(`/v1/users/${id}/erasure`, undefined, { token });
    expect([stopped.status, stopped.body.message]).toEqual([
      400,
      'user_id: the user has been erased; this cannot be undone',
    ]);
    for (const change of [
      'erased_at = null',
      "status = 'active', password_sealed = 'x'",
      "profile_sealed = 'x', email_digest = 'x'",
    ]) {
      await expect(stack.em().execute(`update users set ${change} where id = ?`, [id])).rejects.toThrow();
    }
  });

  it('An erasure is complete only once all backups of the key have expired', async () => {
    const { id } = await buildIndividual(stack);
    const { id: erasureId } = await erase(id);
    const look = (days: number) => continueErasure(stack.em(), ports({ KEYS_BACKUP_DAYS: days }), erasureId);
    const { status, waitMs } = await look(30);
    expect(status).toBe('erased');
    expect(waitMs).toBeGreaterThan(29 * 24 * 3_600_000);
    await destroyedDaysAgo(id, 31);
    expect(await look(30)).toEqual({ status: 'complete', waitMs: 0 });
    expect(await erasureOf(id)).toMatchObject({ status: 'complete', ended_at: expect.any(String) });
    expect(await look(30)).toEqual({ status: 'complete', waitMs: 0 });
  });
});

describe('A key restored before its erasure is complete', () => {
  it('An erased person’s restored key is destroyed again, and its new backups delay completion', async () => {
    const { id } = await buildIndividual(stack);
    const key = await keyOf(id);
    const { id: erasureId } = await erase(id);
    const look = () => continueErasure(stack.em(), ports({}), erasureId);
    await destroyedDaysAgo(id, 31);
    await restoreKey(id, key);
    const { status, waitMs } = await look();
    expect([status, await keyOf(id)]).toEqual(['erased', null]);
    expect(waitMs).toBeGreaterThan(29 * 24 * 3_600_000);
    expect(Date.parse((await erasureOf(id)).erased_at)).toBeGreaterThan(Date.now() - 24 * 3_600_000);
    await destroyedDaysAgo(id, 31);
    expect(await look()).toEqual({ status: 'complete', waitMs: 0 });
  });

  it.each(['applying the register', 'completing it'])(
    'A restored key’s erasure waits for new backups to expire even if %s fails after destroying the key',
    async (what) => {
      const { id } = await buildIndividual(stack);
      const key = await keyOf(id);
      const { id: erasureId } = await erase(id);
      await destroyedDaysAgo(id, 31);
      await restoreKey(id, key);
      const dying = {
        ...stack.deps.personalKeys,
        async destroy(ids: readonly string[]): Promise<string[]> {
          const destroyed = await stack.deps.personalKeys.destroy(ids);
          if (ids.includes(id)) throw new Error('killed');
          return destroyed;
        },
      };
      const work = (personalKeys: typeof dying) =>
        what === 'applying the register'
          ? applyRegister(stack.em(), { ...stack.deps, personalKeys })
          : continueErasure(stack.em(), { ...ports({}), personalKeys }, erasureId);
      await expect(work(dying)).rejects.toThrow('killed');
      expect(await keyOf(id)).toBeNull();
      await work(stack.deps.personalKeys);
      const erasure = await erasureOf(id);
      expect(erasure).toMatchObject({ status: 'erased', ended_at: null });
      expect(Date.parse(erasure.erased_at)).toBeGreaterThan(Date.now() - 24 * 3_600_000);
    },
  );
});

describe('People who cannot be erased', () => {
  /** A circle that no sweep touches. */
  const begunLater = (creator: BuiltUser) => opened(stack, creator, {}, '2126-01-01T00:00:00+07:00');
  const holds: [string, (user: BuiltUser) => Promise<unknown>][] = [
    ['there is money on their accounts', (user) => fund(stack, user.accountId, '1.0000')],
    [
      'a payment of theirs is open',
      (user) =>
        stack.post(
          '/v1/payments/gateway',
          { reference_type: 'account_top_up', reference_id: user.accountId, payment_id: 1, amount: 50_000 },
          { token: user.token },
        ),
    ],
    ['a saving circle of theirs has not ended', (user) => begunLater(user)],
    [
      'they are a member of a saving circle that has not ended',
      async (user) => {
        const id = await begunLater(await buildIndividual(stack));
        return stack.post('/v1/saving-circles/members', { saving_circle_id: id }, { token: user.token });
      },
    ],
    [
      'a charitable cause of theirs is open',
      (user) =>
        stack.post(
          '/v1/charitable-causes',
          {
            name: 'A well',
            description: 'For Sumba',
            target_amount: 1_000_000,
            regulations: 'None',
            benefit: 'Water',
            account_id: user.accountId,
          },
          { token: user.token },
        ),
    ],
  ];
  it.each(holds)('A person cannot be erased while %s, and the error names the reason', async (why, keep) => {
    const user = await buildIndividual(stack);
    await keep(user);
    const { status, body } = await propose(user.id);
    expect([status, body.message]).toEqual([400, `user_id: the user cannot be erased yet: ${why}`]);
    expect(await stack.em().execute('select 1 from decisions where user_id = ?', [user.id])).toEqual([]);
  });

  it('A user of an organization cannot be erased while there is money in their saving goal, which only they can release', async () => {
    const user = await buildOrganizationAdmin(stack, { balance: '1000' });
    await buildOrganizationAdmin(stack, { organizationId: user.organizationId });
    const { token } = user;
    const { id } = (await stack.post('/v1/saving-goals', { name: 'Hajj', target_amount: '1000' }, { token })).body.data;
    const paid = await stack.post(
      '/v1/payments/balance',
      {
        reference_type: 'saving_goal_contribution',
        reference_id: id,
        source_account_id: user.accountId,
        amount: 400,
      },
      { token },
    );
    expect(paid.status).toBe(201);
    expect((await propose(user.id)).body.message).toBe(
      'user_id: the user cannot be erased yet: there is money on their accounts',
    );
    await stack.post(`/v1/saving-goals/${id}/release`, { account_id: user.accountId }, { token });
    await erase(user.id);
  });

  it('An erasure needs two operators', async () => {
    const user = await buildIndividual(stack);
    const { id } = (await propose(user.id, operators.approver.token)).body.data;
    expect((await approve(stack, operators, id)).status).toBe(403);
    expect((await propose(user.id, user.token)).status).toBe(403);
    expect((await propose(newId())).status).toBe(404);
    expect((await stack.get(`/v1/users/${user.id}/erasure`, { token: operators.proposer.token })).status).toBe(404);
  });

  it('A person who was only invited, or is being erased, cannot be proposed for erasure', async () => {
    const { token } = await buildPlatformAdmin(stack);
    const invitation = { email: `${newId()}@example.org`, name: 'Budi', user_type: 'individual' };
    const invited = (await stack.post('/v1/users/invitations', invitation, { token })).body.data.id;
    expect((await propose(invited)).body.message).toBe(
      'user_id: the user has not accepted the invitation: take it back instead',
    );
    const user = await buildIndividual(stack);
    await stack.em().execute("insert into erasures (id, user_id, status) values (?, ?, 'waiting')", [newId(), user.id]);
    expect((await propose(user.id)).body.message).toBe('user_id: the user is being erased');
  });
});

describe('A pending erasure', () => {
  /** An erasure that began some time ago, without a workflow. */
  const waiting = async (ago = '0 hours') => {
    const user = await buildIndividual(stack);
    const id = newId();
    await stack
      .em()
      .execute("insert into erasures (id, user_id, status, begun_at) values (?, ?, 'waiting', now() - ?::interval)", [
        id,
        user.id,
        ago,
      ]);
    return { user, id };
  };

  it('A pending erasure waits for its date and for whatever blocks it, and shows the reason', async () => {
    const { user, id } = await waiting();
    const early = await continueErasure(stack.em(), ports({ ERASURE_WAIT_HOURS: 72 }), id);
    expect(early.status).toBe('waiting');
    expect(early.waitMs).toBeGreaterThan(71 * 3_600_000);
    await fund(stack, user.accountId, '1.0000');
    expect(await continueErasure(stack.em(), ports({}), id)).toEqual({ status: 'waiting', waitMs: 24 * 3_600_000 });
    expect(await erasureOf(user.id)).toMatchObject({ held_because: 'there is money on their accounts' });
    await fund(stack, user.accountId, '-1.0000');
    expect(await continueErasure(stack.em(), ports({}), id)).toMatchObject({ status: 'erased' });
    expect(await erasureOf(user.id)).toMatchObject({ held_because: null, status: 'erased' });
  });

  it('One operator can stop a pending erasure, and a new one can be proposed', async () => {
    const { user, id } = await waiting();
    const { token } = operators.proposer;
    const stopped = await stack.delete(`/v1/users/${user.id}/erasure`, undefined, { token });
    expect([stopped.status, stopped.body.data.status]).toEqual([200, 'stopped']);
    expect(await continueErasure(stack.em(), ports({}), id)).toEqual({ status: 'stopped', waitMs: 0 });
    expect((await stack.get('/v1/auth/me', { token: user.token })).status).toBe(200);
    expect((await stack.delete(`/v1/users/${user.id}/erasure`, undefined, { token })).status).toBe(404);
    expect((await propose(user.id)).status).toBe(201);
  });

  it('The sweep starts a workflow for a pending erasure that has none', async () => {
    const { user } = await waiting('73 hours');
    await stack.em().execute("delete from sweep_looks where kind = 'erasure'");
    await stack.deps.workflows.client.schedule.getHandle(`${stack.deps.workflows.taskQueue}/sweep`).trigger();
    await eventually(
      () => erasureOf(user.id),
      (erasure) => erasure?.status === 'erased',
    );
  });
});

describe('The runbook after a restore', () => {
  const restoredRow = async (id: string, before: Record<string, unknown>) => {
    const { profile_sealed, email_digest, password_sealed, role_id, token_generation } = before;
    await withoutTriggers(
      stack,
      `update users set profile_sealed = ?, email_digest = ?, password_sealed = ?, role_id = ?, token_generation = ?,
         status = 'active', erased_at = null where id = ?`,
      [profile_sealed, email_digest, password_sealed, role_id, token_generation, id],
    );
  };
  const restored = async (id: string, before: Record<string, unknown>) => {
    await restoredRow(id, before);
    for (const table of ['erasures', 'decisions']) {
      await withoutTriggers(stack, `delete from ${table} where user_id = ?`, [id]);
    }
  };
  const apply = () => applyRegister(stack.em(), stack.deps);
  /** The runbook's query for people whose repeated erasure is blocked. */
  const keptAlthoughErased = () => {
    const [query = '', ...others] = blocksOf('sql').filter((sql) => sql.includes('hold_of_person'));
    expect(others).toEqual([]);
    return stack.owner().execute<{ user_id: string; kept_by: string }[]>(query);
  };

  it.each([
    ['is in the backup, still pending', "update erasures set status = 'waiting', erased_at = null where user_id = ?"],
    ['is not in the backup', null],
  ])('The runbook’s query lists people whose repeated erasure is blocked if the first one %s', async (_, undo) => {
    const [person, other] = [await buildIndividual(stack), await buildIndividual(stack)];
    const [before, beforeOther] = [await row(person.id), await row(other.id)];
    for (const { id } of [person, other]) await erase(id);
    for (const [{ id }, was] of [
      [person, before],
      [other, beforeOther],
    ] as const) {
      if (undo === null) await restored(id, was);
      else {
        await restoredRow(id, was);
        await withoutTriggers(stack, undo, [id]);
      }
    }
    await fund(stack, person.accountId, '5000');
    expect(await apply()).toMatchObject({ people: 2 });
    const kept = await keptAlthoughErased();
    expect(kept).toContainEqual({ user_id: person.id, kept_by: expect.any(String) });
    expect(kept.map(({ user_id }) => user_id)).not.toContain(other.id);
  });

  it.each([
    ['of the main database, the keys database lists', true, false],
    ['of the keys database, the main database lists', false, true],
    ['of both, the file store lists', true, true],
  ])('After a restore %s the people to erase again', async (_, main, keys) => {
    const person = await buildIndividual(stack);
    const [before, key] = [await row(person.id), await keyOf(person.id)];
    const { erased_at } = await erase(person.id);
    if (main) await restored(person.id, before);
    if (keys) await restoreKey(person.id, key);
    if (main) expect((await stack.get('/v1/auth/me', { token: person.token })).status).toBe(200);
    expect(await apply()).toEqual({ people: Number(main), keys: Number(keys), isWhole: true });
    expect((await stack.get('/v1/auth/me', { token: person.token })).status).toBe(401);
    expect(await row(person.id)).toMatchObject({ profile_sealed: null, email_digest: null, status: 'suspended' });
    expect(await keyOf(person.id)).toBeNull();
    if (main) expect(await erasureOf(person.id)).toMatchObject({ decision_id: null, status: 'erasing' });
    // A restored key is in backups of the keys again.
    else expect(Date.parse((await erasureOf(person.id)).erased_at)).toBeGreaterThan(Date.parse(erased_at));
    expect(await apply()).toEqual({ people: 0, keys: 0, isWhole: true });
  });
});
