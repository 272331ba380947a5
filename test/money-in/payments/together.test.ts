import { newId } from '../../../src/shared/ids.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildPlatformAdmin,
} from '../../support/build.ts';
import { type BuiltTarget, buildActiveCause, buildProduct } from '../../support/build-targets.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** Balance payments that arrive while others are being written. */
let stack: Stack;
let cause: BuiltTarget;
let payers: BuiltUser[];
const payerCount = 12;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  cause = await buildActiveCause(stack);
  payers = await Promise.all(Array.from({ length: payerCount }, () => buildIndividual(stack, { balance: '1000' })));
});

const payerAt = (index: number) => payers[index] as BuiltUser;
interface Asked {
  payer: BuiltUser;
  body?: object;
  key?: string;
}
const pay = ({ payer, body = {}, key }: Asked) =>
  stack.post(
    '/v1/payments/balance',
    {
      reference_type: 'charitable_cause_donate',
      reference_id: cause.id,
      source_account_id: payer.accountId,
      amount: 10,
      ...body,
    },
    { token: payer.token, headers: key === undefined ? {} : { 'idempotency-key': key } },
  );

/** Runs the work while a lock is held; returns its result. */
async function whileHeld<T>(lock: string, work: () => Promise<T>): Promise<T> {
  const em = stack.owner();
  return em.transactional(async (tx) => {
    await tx.execute(lock);
    return work();
  });
}

/** Blocks journals: two statements wait for the lock, and later payments queue behind them. */
const holdJournals = 'lock table journal_keys in share row exclusive mode';

/** Counts the database transactions that made these payments. */
const statementsOf = async (transactionIds: string[]): Promise<number> => {
  const [row] = await stack
    .em()
    .execute<{ count: string }[]>('select count(distinct xmin::text) from transactions where id = any (?::uuid[])', [
      `{${transactionIds.join(',')}}`,
    ]);
  return Number(row?.count);
};

/**
 * Sends two payments first, whose statements wait, then the others; then lets all continue. Returns the others'
 * answers.
 */
async function gathered(first: [Asked, Asked], others: Asked[]) {
  const sent: Promise<Awaited<ReturnType<typeof pay>>>[] = [];
  await whileHeld(holdJournals, async () => {
    for (const [index, asked] of first.entries()) {
      sent.push(pay(asked));
      await untilLocked(stack, { text: 'pay_from_balance', count: index + 1 });
    }
    for (const asked of others) sent.push(pay(asked));
    // Give the API time to look them up and queue them, which cannot be seen from outside the process.
    await stack.get('/v1/auth/me', { token: payerAt(0).token });
    await stack.get('/v1/transactions', { token: payerAt(0).token });
  });
  return Promise.all(sent);
}

describe('Balance payments that arrive together', () => {
  it('Balance payments that arrive together share statements, each with its own outcome', async () => {
    const answers = await gathered(
      [{ payer: payerAt(0) }, { payer: payerAt(1) }],
      [2, 3, 4, 5, 6, 7, 8].map((index) => ({ payer: payerAt(index), body: { amount: index } })),
    );
    expect(answers.map(({ status, body }) => [status, body.data?.amount, body.data?.new_balance])).toEqual(
      [10, 10, 2, 3, 4, 5, 6, 7, 8].map((amount) => [201, `${amount}.0000`, `${1000 - amount}.0000`]),
    );
    const ids = answers.map(({ body }) => body.data.transaction_id);
    expect(await statementsOf(ids)).toBeLessThan(answers.length);
    for (const [index, id] of ids.entries()) {
      const [row] = (await stack.get('/v1/transactions', { token: payerAt(index).token })).body.data.transactions;
      expect(row.id).toBe(id);
      expect((await stack.get('/v1/donations', { token: payerAt(index).token })).body.data.items).toMatchObject([
        { transaction_id: id, cause_id: cause.id, status: 'completed' },
      ]);
    }
    expect(await balanceOf(stack, cause.accountId)).toBe('55.0000');
  });

  it('In a batch of balance payments, each is refused individually, without effect on the others', async () => {
    const key = newId();
    const earlier = await pay({ payer: payerAt(9), key });
    const closed = await buildActiveCause(stack);
    await stack.owner().execute("update charitable_causes set status = 'pending' where id = ?", [closed.id]);
    const refused = newId();
    expect((await pay({ payer: payerAt(10), key: refused, body: { amount: 5000 } })).status).toBe(400);
    const answers = await gathered(
      [{ payer: payerAt(0) }, { payer: payerAt(1) }],
      [
        { payer: payerAt(2) },
        { payer: payerAt(3), body: { amount: 1000.0001 } },
        { payer: payerAt(4), body: { source_account_id: payerAt(5).accountId } },
        { payer: payerAt(5), body: { source_account_id: newId() } },
        { payer: payerAt(6), body: { reference_id: closed.id } },
        { payer: payerAt(7), body: { reference_id: newId() } },
        { payer: payerAt(8), body: { source_account_id: cause.accountId } },
        { payer: payerAt(9), key },
        { payer: payerAt(10), key: refused, body: { amount: 5000 } },
        { payer: payerAt(9), key, body: { amount: 11 } },
        { payer: payerAt(11), key: newId() },
      ],
    );
    expect(answers.map(({ status }) => status)).toEqual([
      201, 201, 201, 400, 403, 404, 400, 404, 403, 201, 400, 400, 201,
    ]);
    expect(answers[9]?.body).toEqual(earlier.body);
    expect(answers[3]?.body.message).toContain('the balance of the account does not cover it');
    expect(answers[11]?.body.message).toContain('Idempotency-Key');
    expect(await balanceOf(stack, payerAt(3).accountId)).toBe('1000.0000');
    expect(await balanceOf(stack, payerAt(9).accountId)).toBe('990.0000');
    expect(await balanceOf(stack, cause.accountId)).toBe('50.0000');
    // An unexecuted payment leaves its key free.
    const keys = await stack.em().execute('select 1 from requests where made is null and refusal is null');
    expect(keys).toEqual([]);
  });

  it('Balance payments from one account, or with one Idempotency-Key, are executed one after another', async () => {
    const [payer] = payers as [BuiltUser];
    const key = newId();
    const answers = await gathered(
      [{ payer }, { payer: payerAt(1) }],
      [
        { payer, body: { amount: 400 } },
        { payer, body: { amount: 500 } },
        { payer, body: { amount: 500 } },
        { payer: payerAt(2), key },
        { payer: payerAt(2), key },
      ],
    );
    // Their order of arrival is unknown: the balance covers two of 400, 500 and 500.
    expect(answers.map(({ status }) => status).filter((_, index) => index < 2 || index > 4)).toEqual([
      201, 201, 201, 201,
    ]);
    expect(
      answers
        .slice(2, 5)
        .map(({ status }) => status)
        .toSorted(),
    ).toEqual([201, 201, 400]);
    expect(answers[6]?.body).toEqual(answers[5]?.body);
    expect(await balanceOf(stack, payerAt(2).accountId)).toBe('990.0000');
  });

  it('A balance payment that waits for its locked account does not delay others', async () => {
    const [locked, other] = [payerAt(0), payerAt(1)];
    const waiting = await whileHeld(
      `select 1 from account_balances where account_id = '${locked.accountId}' and shard = 0 for update`,
      async () => {
        const sent = pay({ payer: locked });
        await untilLocked(stack, { text: 'lock_source' });
        expect((await pay({ payer: other })).status).toBe(201);
        return [sent];
      },
    );
    expect((await waiting[0])?.status).toBe(201);
  });

  it('Balance payments whose shared statement fails are retried singly, and only the faulty one fails', async () => {
    const [unlucky] = payers as [BuiltUser];
    await stack.owner().execute(
      `create function stumble() returns trigger language plpgsql as $$ begin
         if new.user_id = '${unlucky.id}' then raise exception 'stumbled'; end if; return new; end $$`,
    );
    await stack
      .owner()
      .execute('create trigger stumbles before insert on donations for each row execute function stumble()');
    try {
      const answers = await gathered(
        [{ payer: payerAt(1) }, { payer: payerAt(2) }],
        [3, 0, 4, 5].map((index) => ({ payer: payerAt(index) })),
      );
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 500, 201, 201]);
      expect(await balanceOf(stack, unlucky.accountId)).toBe('1000.0000');
      expect(await balanceOf(stack, cause.accountId)).toBe('50.0000');
    } finally {
      await stack.owner().execute('drop trigger stumbles on donations');
      await stack.owner().execute('drop function stumble()');
    }
  });

  it('Fifty concurrent balance payments for a product and a cause leave the right balances', async () => {
    const admin = await buildPlatformAdmin(stack);
    const product = await buildProduct(stack, admin, { kind: 'investment' });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        pay({
          payer: payerAt(index % payerCount),
          body: index % 2 === 0 ? { reference_type: 'investment', reference_id: product.id } : {},
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 201));
    expect(await balanceOf(stack, product.accountId)).toBe('250.0000');
    expect(await balanceOf(stack, cause.accountId)).toBe('250.0000');
  });
});

describe('The statement that makes payments in a batch', () => {
  const call = (payments: object[], targets: (string | null)[]) =>
    stack
      .em()
      .execute<{ outcome: string; refusal: { code: string } | null }[]>(
        'select outcome, refusal from pay_from_balances(?::jsonb, targets_at(?::text::uuid[])) order by place',
        [JSON.stringify(payments), `{${targets.map((target) => target ?? 'null').join(',')}}`],
      );
  const outcomesOf = async (payments: object[], targets: string[]) =>
    (await call(payments, targets)).map(({ outcome }) => ({ outcome }));
  const payment = (payer: BuiltUser, change: object = {}) => ({
    transaction_id: newId(),
    journal_id: newId(),
    kind: 'balance-payment.investment',
    user_id: payer.id,
    user_type: 'individual',
    source_account_id: payer.accountId,
    amount: '10',
    reference_type: 'investment',
    reference_id: newId(),
    purpose: 'product_transfer',
    ...change,
  });

  it('The batch statement returns each payment’s outcome, and the reason for a refusal', async () => {
    const [payer, other] = [payerAt(0), payerAt(1)];
    const kept = { key_hash: newId(), fingerprint: 'f', request_number: '1' };
    const refused = { key_hash: newId(), fingerprint: 'f', request_number: '1' };
    await stack.em().execute(
      `insert into requests (owner_id, key_hash, fingerprint, resource_id, refused_upto, refusal)
         values (?, ?, 'f', ?, nextval('opening_numbers'), ?::jsonb)`,
      [payer.id, refused.key_hash, newId(), JSON.stringify({ code: 'NOT_FOUND' })],
    );
    const suspended = await buildIndividual(stack, { balance: '1000' });
    await stack.owner().execute("update users set status = 'suspended' where id = ?", [suspended.id]);
    const admin = await buildOrganizationAdmin(stack, { balance: '1000' });
    const ofAdmin = {
      user_id: admin.id,
      user_type: 'organization',
      organization_id: admin.organizationId,
      source_account_id: admin.accountId,
    };
    await stack.owner().execute("update organizations set status = 'inactive' where id = ?", [admin.organizationId]);
    const again = payment(payer);
    const told: string[] = [];
    for (const [change, target] of [
      [again, cause.accountId],
      [{ ...again, journal_id: newId() }, cause.accountId],
      [{}, null],
      [{}, payer.accountId],
      [{ source_account_id: newId() }, cause.accountId],
      [{ source_account_id: other.accountId }, cause.accountId],
      [{ user_type: 'organization', user_id: newId() }, cause.accountId],
      [{ amount: '1000.0001' }, cause.accountId],
      [kept, cause.accountId],
      [kept, cause.accountId],
      [{ ...kept, fingerprint: 'other' }, cause.accountId],
      [refused, cause.accountId],
      [{ ...refused, fingerprint: 'other' }, cause.accountId],
      [{ ...refused, request_number: '999999999' }, cause.accountId],
      [{ user_id: suspended.id, source_account_id: suspended.accountId, key_hash: newId() }, cause.accountId],
      [ofAdmin, cause.accountId],
    ] as const) {
      const [row] = await call([payment(payer, change)], [target]);
      told.push(`${row?.outcome} ${row?.refusal?.code ?? ''}`.trim());
    }
    expect(told).toEqual([
      'paid',
      'replayed',
      'busy',
      'refused REQUEST_INVALID',
      'refused NOT_FOUND',
      'refused FORBIDDEN',
      'refused FORBIDDEN',
      'refused INSUFFICIENT_BALANCE',
      'paid',
      'replayed',
      'refused IDEMPOTENCY_KEY_REUSED',
      'refused NOT_FOUND',
      'busy',
      'paid',
      'refused FORBIDDEN',
      'refused FORBIDDEN',
    ]);
  });

  it('A batch skips a payment from an account that another payment in the batch credits', async () => {
    const [first, second] = [payerAt(0), payerAt(1)];
    const chain = [payment(first), payment(second)];
    expect(await outcomesOf(chain, [second.accountId, cause.accountId])).toEqual([
      { outcome: 'paid' },
      { outcome: 'busy' },
    ]);
  });

  it('A batch executes the first of two payments from one account or with one key, and skips the second', async () => {
    const targets = [cause.accountId, cause.accountId];
    const twice = [payment(payerAt(0)), payment(payerAt(0))];
    expect(await outcomesOf(twice, targets)).toEqual([{ outcome: 'paid' }, { outcome: 'busy' }]);
    const key = { user_id: payerAt(1).id, key_hash: newId(), fingerprint: 'same', request_number: '1' };
    const pocket = newId();
    await stack
      .owner()
      .execute("insert into accounts (id, name, kind, user_id) values (?, 'Pocket', 'user', ?)", [pocket, key.user_id]);
    const keyed = [payment(payerAt(1), key), payment(payerAt(1), { ...key, source_account_id: pocket })];
    expect(await outcomesOf(keyed, targets)).toEqual([{ outcome: 'paid' }, { outcome: 'busy' }]);
    const strangers = [payment(payerAt(3), { source_account_id: payerAt(2).accountId }), payment(payerAt(2))];
    expect(await outcomesOf(strangers, targets)).toEqual([{ outcome: 'refused' }, { outcome: 'paid' }]);
  });

  it('A batch locks no transaction counter while it waits for an account', async () => {
    await outcomesOf([payment(payerAt(0))], [cause.accountId]);
    await outcomesOf([payment(payerAt(0))], [cause.accountId]);
    const sent = await whileHeld('lock table account_balances in share row exclusive mode', async () => {
      const waiting = outcomesOf([payment(payerAt(1)), payment(payerAt(2))], [cause.accountId, cause.accountId]);
      await untilLocked(stack, { text: 'pay_from_balances' });
      const [free] = await stack.owner().execute<[{ all: string; free: string }]>(
        `select (select count(*) from transaction_counts) as all,
             (select count(*) from (select from transaction_counts for update skip locked) f) as free`,
      );
      expect(free.free).toBe(free.all);
      return [waiting];
    });
    expect(await sent[0]).toEqual([{ outcome: 'paid' }, { outcome: 'paid' }]);
  });

  it('A batch skips payments whose payer or organization is locked for a suspension', async () => {
    const admin = await buildOrganizationAdmin(stack, { balance: '1000' });
    const ofAdmin = { user_type: 'organization', organization_id: admin.organizationId };
    const asked = [payment(payerAt(0)), payment(payerAt(1)), payment(admin, ofAdmin)];
    const outcomes = await stack.owner().transactional(async (tx) => {
      await tx.execute('select 1 from users where id = ? for update', [payerAt(0).id]);
      await tx.execute('select 1 from organizations where id = ? for update', [admin.organizationId]);
      expect(await outcomesOf([payment(payerAt(0))], [cause.accountId])).toEqual([{ outcome: 'busy' }]);
      expect(await outcomesOf([payment(admin, ofAdmin)], [cause.accountId])).toEqual([{ outcome: 'busy' }]);
      return outcomesOf(
        asked,
        asked.map(() => cause.accountId),
      );
    });
    expect(outcomes).toEqual([{ outcome: 'busy' }, { outcome: 'paid' }, { outcome: 'busy' }]);
  });

  it('A batch refuses a payment whose transaction already exists, and stores no key for it', async () => {
    const first = payment(payerAt(0));
    const again = { ...first, journal_id: newId(), key_hash: 'again', fingerprint: 'again', request_number: '1' };
    expect(await outcomesOf([first], [cause.accountId])).toEqual([{ outcome: 'paid' }]);
    expect(await outcomesOf([payment(payerAt(1)), again], [cause.accountId, cause.accountId])).toEqual([
      { outcome: 'paid' },
      { outcome: 'refused' },
    ]);
    expect(await balanceOf(stack, payerAt(0).accountId)).toBe('990.0000');
    expect(await stack.em().execute("select 1 from requests where key_hash = 'again'")).toEqual([]);
  });
});
