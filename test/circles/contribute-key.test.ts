import { hashKey } from '../../src/platform/openings/idempotency-keys.ts';
import { type BuiltUser, balanceOf } from '../support/build.ts';
import { casesOf } from '../support/full.ts';
import { freshKey } from '../support/partner.ts';
import { isFullRun } from '../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import {
  type BuiltCircle,
  buildActiveCircle,
  circleWhen,
  contribute,
  contributionsOf,
  createCircle,
} from './build-circle.ts';

const bca = 1;

let stack: Stack;
/** An active circle; each test uses a member who has not paid. */
let circle: BuiltCircle;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  circle = await buildActiveCircle(stack, 18);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const send = async (member: BuiltUser, circleId: string, key: string, fields: object = {}) => {
  const answer = await fetch(`${stack.url}/v1/saving-circles/contribute`, {
    method: 'POST',
    body: JSON.stringify({ saving_circle_id: circleId, contribution_amount: '100000', ...fields }),
    headers: {
      authorization: `Bearer ${member.token}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
  });
  return { status: answer.status, text: await answer.text(), replayed: answer.headers.get('idempotency-replayed') };
};
let taken = 0;
const takeMember = (): { id: string; first: BuiltUser } => {
  taken += 1;
  return { id: circle.id, first: circle.members[taken - 1] as BuiltUser };
};
const contributionsBy = async ({ id: user }: BuiltUser) =>
  (await contributionsOf(stack, circle.id)).filter(({ user_id }) => user_id === user);
const messageOf = ({ text }: { text: string }): string => JSON.parse(text).message;

async function openPocket({ token }: BuiltUser): Promise<string> {
  return (await stack.post('/v1/accounts', { name: 'Pocket' }, { token })).body.data.id;
}

const rails: [rail: 'balance' | 'gateway', fields: object][] = [
  ['balance', {}],
  ['gateway', { payment_id: bca }],
];

describe('The Idempotency-Key of a contribution', () => {
  it.each(casesOf(rails, ([rail]) => rail === 'gateway'))(
    'A %s contribution retried with its Idempotency-Key is made once and gets the first response',
    async (rail, fields) => {
      const { id, first } = takeMember();
      const key = freshKey();
      const made = await send(first, id, key, fields);
      expect([made.status, made.replayed]).toEqual([201, null]);
      expect(JSON.parse(made.text)).toMatchObject({ message: 'Contribution made', user_id: first.id, rail });
      expect(await send(first, id, key, fields)).toEqual({ ...made, replayed: 'true' });
      expect(await contributionsBy(first)).toHaveLength(1);
      expect(await balanceOf(stack, first.accountId)).toBe(rail === 'balance' ? '900000.0000' : '1000000.0000');
    },
  );

  it('A retried contribution gets the first response even after its round is over', async () => {
    const { id, creator, members } = await buildActiveCircle(stack, 2, { round_interval: 'daily' });
    const [first, second] = members as [BuiltUser, BuiltUser];
    const key = freshKey();
    const made = await send(first, id, key);
    expect((await contribute(stack, second, id)).status).toBe(201);
    await circleWhen(stack, creator, id, { current_turn: 2 });
    await stack
      .em()
      .execute('update saving_circle_contributions set updated_at = now() where saving_circle_id = ?', [id]);
    expect(await send(first, id, key)).toEqual({ ...made, replayed: 'true' });
    expect(await contributionsOf(stack, id)).toHaveLength(2);
  });

  it('A retry of a contribution with the same Idempotency-Key may write the amount differently', async () => {
    const { id, first } = takeMember();
    const key = freshKey();
    const made = await send(first, id, key);
    expect(await send(first, id, key, { contribution_amount: '100000.00' })).toEqual({ ...made, replayed: 'true' });
  });

  it.each(casesOf(rails))(
    'The Idempotency-Key of a %s contribution is rejected with another body and on the payment routes',
    async (rail, fields) => {
      const { id, first } = takeMember();
      const { id: other } = await createCircle(stack, first);
      const key = freshKey();
      expect((await send(first, id, key, fields)).status).toBe(201);
      const pocket = await openPocket(first);
      const bodies = [
        { ...fields, saving_circle_id: other },
        { ...fields, contribution_amount: '200000' },
        rail === 'balance' ? { payment_id: bca } : {},
        { source_account_id: pocket },
      ];
      for (const body of bodies) {
        const answer = await send(first, id, key, body);
        expect([answer.status, messageOf(answer)]).toEqual([400, expect.stringContaining('Idempotency-Key')]);
      }
      const payment = { reference_type: 'saving_circle_contribution', reference_id: id, amount: 100_000 };
      const options = { token: first.token, headers: { 'idempotency-key': key } };
      const rest = { balance: { source_account_id: first.accountId }, gateway: { payment_id: bca } };
      for (const path of ['balance', 'gateway'] as const) {
        const { status, body } = await stack.post(`/v1/payments/${path}`, { ...payment, ...rest[path] }, options);
        expect([status, body.message]).toEqual([400, expect.stringContaining('Idempotency-Key')]);
      }
      expect(await contributionsBy(first)).toHaveLength(1);
    },
  );

  it('A contribution with the Idempotency-Key of a concurrent top-up returns 400', async () => {
    const { id, first } = takeMember();
    const key = freshKey();
    const numbersTaken = async () => {
      const rows = await stack.owner().execute<[{ last: string }]>('select last_value as last from opening_numbers');
      return Number(rows[0].last);
    };
    const before = await numbersTaken();
    const untilBegun = (count: number) => eventually(numbersTaken, (last) => last >= before + count);
    // Blocks the inserts of payment orders until both requests have started.
    const holder = stack.owner();
    await holder.begin();
    await holder.execute('lock table payment_orders in exclusive mode');
    const topUp = { reference_type: 'account_top_up', reference_id: first.accountId, payment_id: bca, amount: 50_000 };
    const options = { token: first.token, headers: { 'idempotency-key': key } };
    const toppingUp = stack.post('/v1/payments/gateway', topUp, options);
    await untilBegun(1);
    const contributing = send(first, id, key, { payment_id: bca });
    await untilBegun(2);
    await holder.rollback();
    expect((await toppingUp).status).toBe(201);
    const contributed = await contributing;
    expect([contributed.status, messageOf(contributed)]).toEqual([400, expect.stringContaining('Idempotency-Key')]);
    expect(await contributionsBy(first)).toEqual([]);
  });

  it.each(rails)('The Idempotency-Key of a rejected %s contribution stays unused', async (_, fields) => {
    const { id, first } = takeMember();
    const key = freshKey();
    const refused = await send(first, id, key, { ...fields, contribution_amount: '5' });
    expect([refused.status, messageOf(refused)]).toEqual([400, expect.stringMatching(/^contribution_amount: /)]);
    const again = await send(first, id, key, { ...fields, contribution_amount: '5' });
    expect(again).toEqual(refused);
    expect(await send(first, id, key, fields)).toMatchObject({ status: 201, replayed: null });
  });

  it('The error for a contribution beyond the balance names contribution_amount, on a retry too', async () => {
    const { id, first } = takeMember();
    const pocket = await openPocket(first);
    const key = freshKey();
    for (const _ of [1, 2]) {
      const answer = await send(first, id, key, { source_account_id: pocket });
      expect([answer.status, messageOf(answer)]).toEqual([400, expect.stringMatching(/^contribution_amount: the bal/)]);
    }
  });

  it('An Idempotency-Key belongs to its user: another member can use the same one', async () => {
    const key = freshKey();
    for (const { id, first: member } of [takeMember(), takeMember()]) {
      expect(await send(member, id, key)).toMatchObject({ status: 201, replayed: null });
    }
  });

  it.each(['short', 'k'.repeat(129), ''])('A contribution with the Idempotency-Key %j returns 400', async (wrong) => {
    const { id, first } = takeMember();
    expect((await send(first, id, wrong)).status).toBe(400);
  });

  it.each(casesOf(rails))(
    'Concurrent %s contributions with one Idempotency-Key create one and get the same response',
    async (_, fields) => {
      const { id, first } = takeMember();
      const key = freshKey();
      const answers = await Promise.all(
        Array.from({ length: isFullRun() ? 20 : 6 }, () => send(first, id, key, fields)),
      );
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(answers[0]?.status).toBe(201);
      expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1);
      expect(await contributionsBy(first)).toHaveLength(1);
    },
  );

  it('Concurrent contributions with one Idempotency-Key on both rails succeed on one rail only', async () => {
    const { id, first } = takeMember();
    const key = freshKey();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => send(first, id, key, index % 2 ? { payment_id: bca } : {})),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(new Set(made.map(({ text }) => text)).size).toBe(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 400]));
    const contributions = await contributionsBy(first);
    expect(contributions.map(({ rail }) => rail)).toEqual([JSON.parse(made[0]?.text ?? '').rail]);
    const left = contributions[0]?.rail === 'balance' ? '900000.0000' : '1000000.0000';
    expect(await balanceOf(stack, first.accountId)).toBe(left);
  });

  it('The stored response of a contribution omits the transaction’s name and description', async () => {
    const { id, first } = takeMember();
    const key = freshKey();
    const made = await send(first, id, key, { payment_id: bca });
    expect(JSON.parse(made.text).payment.transaction_name).toBe('saving circle contribution');
    const [kept] = await stack
      .em()
      .execute<{ answer_body: string }[]>('select answer_body from requests where owner_id = ? and key_hash = ?', [
        first.id,
        hashKey(key),
      ]);
    expect(JSON.parse(kept?.answer_body ?? '').payment).toMatchObject({ transaction_name: '', transaction_desc: '' });
  });
});
