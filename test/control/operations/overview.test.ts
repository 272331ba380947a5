import { judgeClearing, measureClearing } from '../../../src/control/reconciliation/compare-clearing.ts';
import { newId } from '../../../src/shared/ids.ts';
import { sealAll } from '../../ledger/seals/build-seals.ts';
import { buildIndividual } from '../../support/build.ts';
import { buildOperators, type Operators, propose } from '../../support/decide.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let operators: Operators;
beforeAll(async () => {
  stack = await startStack({ own: true, sandbox: true });
  operators = await buildOperators(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(() => stack.sandbox.put('/sandbox/faults', {}));

interface Waiting {
  what: string;
  count: number;
  oldest_at: string | null;
  age_seconds: number | null;
}
const read = async () => {
  const { status, body } = await stack.get('/v1/operations/overview', { token: operators.proposer.token });
  expect(status).toBe(200);
  return body.data;
};
const caseOf = async (kind: string): Promise<Waiting | undefined> =>
  (await read()).cases.find(({ what }: Waiting) => what === kind);
const nothing = { count: 0, oldest_at: null, age_seconds: null };

describe('GET /v1/operations/overview', () => {
  it('The overview of a new platform shows nothing pending, both balances and the running versions', async () => {
    const overview = await read();
    for (const waiting of [...overview.cases, ...overview.backlog]) {
      expect(waiting).toEqual({ what: waiting.what, ...nothing });
    }
    expect(overview).toMatchObject({
      at: expect.stringMatching(/Z$/),
      reconciliation: null,
      clearing: { books: '0.0000', provider: expect.stringMatching(/^\d+\.\d{4}$/), last_comparison: null },
      last_seal: null,
      versions: {
        amanah: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        node: process.version,
        postgresql: expect.stringMatching(/^\d+/),
        temporal: expect.stringMatching(/^\d+\.\d+/),
      },
    });
  });

  it('The overview counts suspense money and pending decisions, with the age of the oldest', async () => {
    await stack
      .em()
      .execute("select suspend_receipt(?, ?, 'py-late', 'pm-late', ?, 1000, 0, 'late', 'xendit')", [
        newId(),
        newId(),
        newId(),
      ]);
    await stack.sandbox.post('/sandbox/balance', { amount: 1000 });
    expect(await caseOf('suspended_receipts')).toEqual({
      what: 'suspended_receipts',
      count: 1,
      oldest_at: expect.stringMatching(/Z$/),
      age_seconds: expect.any(Number),
    });
    expect((await read()).clearing.books).toBe('1000.0000');
    await propose(stack, operators, { kind: 'book_external', amount: '5000', reference: 'top-up 1' });
    expect(await caseOf('pending_decisions')).toMatchObject({ count: 1, age_seconds: expect.any(Number) });
  });

  it('The overview shows the last seal, the last reconciled day and the last comparison of both balances', async () => {
    await sealAll(stack);
    await stack.owner().execute(
      `insert into reconciled_days (day, state, started_at, finished_at)
       values ('2026-11-20', 'pending', now(), now()), ('2026-11-21', 'pending', now(), null)`,
    );
    const signal = AbortSignal.timeout(10_000);
    await judgeClearing(stack.em(), await measureClearing(stack.em(), stack.deps.gateways, { signal }));
    expect(await read()).toMatchObject({
      reconciliation: { day: '2026-11-20', finished_at: expect.stringMatching(/Z$/) },
      clearing: {
        last_comparison: { day: expect.any(String), difference: '0.0000', agreed: true },
      },
      last_seal: { number: '1', sealed_at: expect.stringMatching(/Z$/), covers_until: expect.stringMatching(/Z$/) },
    });
  });

  it('The overview loads even if the provider does not return its balance', async () => {
    await stack.sandbox.put('/sandbox/faults', { requests: { error_rate: 1 } });
    expect((await read()).clearing).toMatchObject({ books: '1000.0000', provider: null });
  });

  it('The overview returns 403 to individuals and 401 without a token', async () => {
    const { token } = await buildIndividual(stack);
    expect((await stack.get('/v1/operations/overview', { token })).status).toBe(403);
    expect((await stack.get('/v1/operations/overview')).status).toBe(401);
  });
});
