import { newId } from '../../../src/shared/ids.ts';
import { giveUpStep } from '../../money-out/refunds/give-up-step.ts';
import { buildIndividual } from '../../support/build.ts';
import { buildOperators, type Operators } from '../../support/decide.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';

let stack: ProcessStack;
let operators: Operators;
beforeAll(async () => {
  stack = await startProcessStack();
  operators = await buildOperators(stack);
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());
afterEach(() => stack.restart());

const erasureOf = async (id: string) =>
  (await stack.get(`/v1/users/${id}/erasure`, { token: operators.proposer.token })).body.data;

/** Begins an erasure whose waiting time is over, and starts its workflow. */
async function beginOverdue(userId: string, id = newId()): Promise<void> {
  await stack
    .em()
    .execute(
      "insert into erasures (id, user_id, status, begun_at) values (?, ?, 'waiting', now() - interval '73 hours')",
      [id, userId],
    );
  await stack.deps.workflows.lookAfterErasure(id);
}

describe('An erasure whose worker is killed with SIGKILL', () => {
  it('Erasures whose worker is killed at any step are continued by the next worker and done once', async () => {
    const begun: [personId: string, erasureId: string][] = [];
    for (const step of [
      'erase.before-objects',
      'erase.before-documents',
      'erase.before-key',
      'erase.before-register',
    ]) {
      const { id } = await buildIndividual(stack);
      const erasureId = newId();
      begun.push([id, erasureId]);
      await stack.holdAt(step, () => beginOverdue(id, erasureId));
    }
    await stack.kill('worker');
    for (const [id] of begun) expect(await erasureOf(id)).toMatchObject({ status: 'erasing' });
    await stack.restart();
    for (const [id, erasureId] of begun) {
      if (!isFullRun()) await giveUpStep(stack, `person-erasure/${erasureId}`);
      await eventually(
        () => erasureOf(id),
        ({ status }) => status === 'erased',
        90_000,
      );
      const events = await stack
        .em()
        .execute('select event from events where resource_id = ? and event like ? order by id', [id, 'PERSON%']);
      expect(events).toEqual([{ event: 'PERSON_EMPTIED' }, { event: 'PERSON_ERASED' }]);
      const keys = await stack.deps.keysOrm.em
        .fork()
        .execute<{ key_sealed: string | null }[]>('select key_sealed from personal_keys where id = ?', [id]);
      expect(keys).toEqual([{ key_sealed: null }]);
    }
  }, 180_000);
});

describe('An API that starts on a restored database', () => {
  it('An API that starts on a restored database repeats all erasures before it serves requests', async () => {
    const person = await buildIndividual(stack);
    const [before] = await stack
      .em()
      .execute<Record<string, unknown>[]>('select * from users where id = ?', [person.id]);
    await beginOverdue(person.id);
    await eventually(
      () => erasureOf(person.id),
      ({ status }) => status === 'erased',
      90_000,
    );
    await stack.kill('api');
    await withoutTriggers(
      stack,
      `update users set profile_sealed = ?, email_digest = ?, password_sealed = ?, role_id = ?, token_generation = ?,
         status = 'active', erased_at = null where id = ?`,
      [
        before?.profile_sealed,
        before?.email_digest,
        before?.password_sealed,
        before?.role_id,
        before?.token_generation,
        person.id,
      ],
    );
    await stack.restart();
    expect((await stack.get('/v1/auth/me', { token: person.token })).status).toBe(401);
    const [after] = await stack
      .em()
      .execute<Record<string, unknown>[]>('select * from users where id = ?', [person.id]);
    expect(after).toMatchObject({ profile_sealed: null, status: 'suspended' });
  }, 180_000);
});
