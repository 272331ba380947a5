import { streamDocument } from '../../src/platform/http/stream-document.ts';
import { subtractMoney } from '../../src/shared/money.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildPlatformAdmin,
} from '../support/build.ts';
import { isFullRun } from '../support/run.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let owner: BuiltUser;
let pocket: string;
const reader = (id: string) => ({ id, signedUp: true });
const form = { format: 'csv', envelope: {}, list: 'postings', columns: [] } as const;
beforeAll(async () => {
  stack = await startStack({ own: true, isImpatient: true });
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  owner = await buildIndividual(stack, { balance: '1000' });
  const { body } = await stack.post('/v1/accounts', { name: 'Pocket' }, { token: owner.token });
  pocket = body.data.id;
});

interface Line {
  created_at: string;
  amount: string;
  running_balance: string;
  journal_id: string;
  kind: string;
}

const transfer = (amount: string) =>
  stack.post(
    `/v1/accounts/${owner.accountId}/transfers`,
    { destination_account_id: pocket, amount },
    { token: owner.token },
  );
const statement = (query = '', accept = 'application/json', token = owner.token, account = owner.accountId) =>
  stack.get(`/v1/accounts/${account}/statement${query}`, { token, headers: { accept } });
const linesOf = (body: { data: { postings: Line[] } }) =>
  body.data.postings.map(({ amount, running_balance }) => [amount, running_balance]);

/** Moves an account's postings to another instant, with triggers disabled, as only a superuser can. */
async function backdate(account: string, instant: string): Promise<void> {
  await stack.owner().transactional(async (tx) => {
    await tx.execute("set local session_replication_role = 'replica'");
    await tx.execute('update postings set created_at = ? where account_id = ?', [instant, account]);
  });
}

describe('A statement', () => {
  it('A statement runs from the opening balance through each posting to the account’s balance', async () => {
    await transfer('100.5');
    await transfer('0.0001');
    const { status, body } = await statement();
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { message: expect.any(String), data: { opening_balance: '0.0000', closing_balance: '899.4999' } },
    });
    expect(linesOf(body)).toEqual([
      ['1000.0000', '1000.0000'],
      ['-100.5000', '899.5000'],
      ['-0.0001', '899.4999'],
    ]);
    expect(body.data.postings[1]).toEqual({
      created_at: expect.stringMatching(/Z$/),
      amount: '-100.5000',
      running_balance: '899.5000',
      journal_id: expect.any(String),
      kind: 'pocket-transfer',
    });
    expect(await balanceOf(stack, owner.accountId)).toBe('899.4999');
  });

  it('A statement in CSV has a header line, and the same postings and fields as in JSON', async () => {
    await transfer('1');
    const { body: json } = await statement();
    const { status, headers, body } = await statement('', 'text/csv');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(headers.get('content-disposition')).toBe(`attachment; filename="statement-${owner.accountId}.csv"`);
    expect(body.startsWith('created_at')).toBe(true);
    const columns = ['created_at', 'amount', 'running_balance', 'journal_id', 'kind'] as const;
    expect(body.trimEnd().split('\r\n')).toEqual([
      columns.join(','),
      ...json.data.postings.map((line: Line) => columns.map((column) => line[column]).join(',')),
    ]);
  });

  it('A statement starts with a byte order mark only on request, and JSON never does', async () => {
    const { url } = stack;
    const headers = { authorization: `Bearer ${owner.token}` };
    const firstBytes = async (query: string, accept: string) => {
      const path = `${url}/v1/accounts/${owner.accountId}/statement${query}`;
      const answer = await fetch(path, { headers: { ...headers, accept } });
      return Buffer.from(await answer.arrayBuffer()).subarray(0, 3);
    };
    expect(await firstBytes('?bom=true', 'text/csv')).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
    expect(String(await firstBytes('?bom=false', 'text/csv'))).toBe('cre');
    expect(String(await firstBytes('?bom=true', 'application/json'))).toBe('{"m');
    expect((await statement('?bom=1', 'text/csv')).status).toBe(400);
  });

  it('A statement from one date to another includes both days, in UTC+7', async () => {
    await backdate(owner.accountId, '2026-03-01T16:59:59.999Z');
    const { body: before } = await statement('?from=2026-03-01&to=2026-03-01');
    expect(before.data).toMatchObject({ opening_balance: '0.0000', closing_balance: '1000.0000' });
    await backdate(owner.accountId, '2026-03-01T17:00:00Z');
    const { body: after } = await statement('?from=2026-03-01&to=2026-03-01');
    expect(after.data).toMatchObject({ opening_balance: '0.0000', closing_balance: '0.0000', postings: [] });
    const { body: next } = await statement('?from=2026-03-02&to=2026-03-02');
    expect(linesOf(next)).toEqual([['1000.0000', '1000.0000']]);
    const { body: later } = await statement('?from=2026-03-03');
    expect(later.data).toMatchObject({ opening_balance: '1000.0000', closing_balance: '1000.0000', postings: [] });
  });

  it('A statement’s period may begin and end at date-times with an offset, and includes both instants', async () => {
    await backdate(owner.accountId, '2026-03-01T10:00:00.500Z');
    const at = encodeURIComponent('2026-03-01T17:00:00.500+07:00');
    expect(linesOf((await statement(`?from=${at}&to=${at}`)).body)).toHaveLength(1);
    const earlier = encodeURIComponent('2026-03-01T10:00:00.499Z');
    expect(linesOf((await statement(`?to=${earlier}`)).body)).toHaveLength(0);
  });

  it('A statement’s period may begin before the account’s history and end after it', async () => {
    for (const from of ['0000-01-01', '0000-01-01T00:00:00Z', '0001-01-01T00:00:00%2B07:00']) {
      const { status, body } = await statement(`?from=${from}&to=9999-12-31T23:59:59.999Z`);
      expect({ from, status, lines: linesOf(body) }).toEqual({
        from,
        status: 200,
        lines: [['1000.0000', '1000.0000']],
      });
    }
    expect((await statement('?to=0000-01-01')).body.data).toMatchObject({ closing_balance: '0.0000', postings: [] });
  });

  it('A statement that cannot be read fails before any output and frees its slot', async () => {
    for (let read = 0; read < 6; read += 1) {
      await expect(
        streamDocument(reader(owner.id), form, async function* () {
          yield await Promise.reject(new Error('cannot be read'));
        }),
      ).rejects.toThrow('cannot be read');
    }
    expect((await statement()).status).toBe(200);
  });

  it('While 18 statements of one user run or wait, the user’s next one returns 503, and other users are served', async () => {
    const { promise: until, resolve: release } = Promise.withResolvers<void>();
    const held = () =>
      streamDocument(reader(owner.id), form, async function* () {
        await until;
        yield { lines: [] };
      });
    const sent = Array.from({ length: 18 }, held);
    const refused = await statement();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
    const other = await buildIndividual(stack);
    const path = `/v1/accounts/${other.accountId}/statement`;
    expect((await stack.get(path, { token: other.token })).status).toBe(200);
    release();
    // Each request gets its slot when an earlier one has completed or disconnected.
    for (const one of sent) (await one).resume();
    expect((await statement()).status).toBe(200);
  });

  it('People who signed up cannot occupy every slot for statements: one stays free for partners and operators', async () => {
    const { promise: until, resolve: release } = Promise.withResolvers<void>();
    const people = Array.from({ length: 6 }, (_, n) =>
      streamDocument(reader(`person ${n}`), form, async function* () {
        await until;
        yield { lines: [] };
      }),
    );
    const admin = await buildPlatformAdmin(stack);
    const { status } = await statement('', 'application/json', admin.token);
    release();
    for (const one of people) (await one).resume();
    expect(status).toBe(200);
  });

  it.each([
    ['?from=yesterday', 'from'],
    ['?to=2026-02-30', 'to'],
    ['?from=2026-03-02&to=2026-03-01', 'from'],
    ['?from=2026-03-01T00:00:00', 'from'],
  ])('A statement with %s returns 400 and names the field', async (query, field) => {
    const answer = await statement(query);
    expect(answer.status).toBe(400);
    expect(String(answer.body.message)).toContain(field);
  });

  it("A statement returns 403 for someone else's account; platform users read any", async () => {
    const stranger = await buildIndividual(stack);
    const json = 'application/json';
    expect((await statement('', json, stranger.token)).status).toBe(403);
    expect((await statement('', 'text/csv', stranger.token)).status).toBe(403);
    const missing = '00000000-0000-4000-8000-00000000dead';
    expect((await statement('', json, owner.token, missing)).status).toBe(404);
    expect((await statement('', json, owner.token, 'none')).status).toBe(400);
    expect((await stack.get(`/v1/accounts/${owner.accountId}/statement`)).status).toBe(401);
    const organization = await buildOrganizationAdmin(stack, { balance: '5' });
    const own = await statement('', json, organization.token, organization.accountId);
    expect(own.body.data.closing_balance).toBe('5.0000');
    const admin = await buildPlatformAdmin(stack);
    expect((await statement('', json, admin.token)).body.data.closing_balance).toBe('1000.0000');
  });

  it('A long statement is complete, and frees its connection if the client stops reading', async () => {
    const lines = isFullRun() ? 2500 : 1100;
    const inOneStatement = 100;
    for (let first = 1; first <= lines; first += inOneStatement) {
      await stack.owner().execute(
        `select write_journal(gen_random_uuid(), 'statement/' || n || ?::text, 'test', array[?::uuid, ?::uuid],
           array[-0.0001, 0.0001]) from generate_series(${first}, ${first + inOneStatement - 1}) n`,
        [owner.id, owner.accountId, pocket],
      );
    }
    const { body } = await statement();
    expect(body.data.postings).toHaveLength(lines + 1);
    const left = subtractMoney('1000', `0.${String(lines).padStart(4, '0')}`);
    expect(body.data.postings.at(-1).running_balance).toBe(left);
    expect(body.data.closing_balance).toBe(left);
    const csv = await statement('', 'text/csv');
    expect(csv.body.trimEnd().split('\r\n')).toHaveLength(lines + 2);
    for (let read = 0; read < 20; read += 1) {
      const leaving = new AbortController();
      const answer = await fetch(`${stack.url}/v1/accounts/${owner.accountId}/statement`, {
        headers: { authorization: `Bearer ${owner.token}` },
        signal: leaving.signal,
      });
      expect(answer.status).toBe(200);
      leaving.abort();
    }
    expect((await statement()).body.data.postings).toHaveLength(lines + 1);
  });

  it('A statement is a snapshot whose lines agree with its balances while payments continue', async () => {
    let paying = true;
    const payments = (async () => {
      while (paying) await transfer('0.01');
    })();
    for (let read = 0; read < 10; read += 1) {
      const { body } = await statement();
      const lines: Line[] = body.data.postings;
      expect(lines.at(-1)?.running_balance).toBe(body.data.closing_balance);
    }
    paying = false;
    await payments;
  });
});
