import { runCheckInTurn, runChecks } from '../../src/ledger/run-checks.ts';
import { newId } from '../../src/shared/ids.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { withoutTriggers } from '../support/without-triggers.ts';

const check = 'check_journals_balance';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ own: true });
});
afterAll(() => stack.stop());
beforeEach(async () => {
  await withoutTriggers(stack, "delete from journals where kind = 'planted'", []);
  await stack.owner().execute('delete from proved_checks');
});

/** Inserts an old journal without postings. */
const plant = (ago: string) =>
  withoutTriggers(
    stack,
    `insert into journals (id, business_key, kind, created_at)
     values (uuidv7(-interval '${ago}'), '${newId()}', 'planted', now() - interval '${ago}')`,
    [],
  );
const inTurn = async () => (await runCheckInTurn(stack.em(), check)).violations;
/** Returns when the view was last read in full without a violation; undefined if never. */
async function proof(): Promise<string | undefined> {
  const rows = await stack.em().execute<{ at: string }[]>('select proved_at::text as at from proved_checks');
  return rows[0]?.at;
}
/** Moves the last full read two days back, before the last night. */
const letANightPass = () => stack.owner().execute("update proved_checks set proved_at = proved_at - interval '2 days'");

describe('Incremental checks', () => {
  it('An incremental check is read in full once a night and otherwise reads only newer rows', async () => {
    expect(await inTurn()).toBe(0);
    const proved = await proof();
    expect(proved).toBeDefined();
    await plant('3 hours');
    expect(await inTurn()).toBe(0);
    expect(await proof()).toBe(proved);
    await letANightPass();
    expect(await inTurn()).toBe(1);
  });

  it('An incremental check finds new violations and is then read in full until it is empty', async () => {
    await inTurn();
    await plant('3 hours');
    await plant('1 minute');
    expect(await inTurn()).toBe(1);
    expect(await proof()).toBeUndefined();
    expect(await inTurn()).toBe(2);
    expect(await inTurn()).toBe(2);
    await withoutTriggers(stack, "delete from journals where kind = 'planted'", []);
    expect(await inTurn()).toBe(0);
    expect(await proof()).toBeDefined();
  });

  it('An incremental check sees rows inserted before the full read but committed afterwards', async () => {
    await inTurn();
    await plant('1 hour 59 minutes');
    expect(await inTurn()).toBe(1);
  });

  it('A future timestamp does not count as a full read of a check', async () => {
    await inTurn();
    await stack.owner().execute("update proved_checks set proved_at = now() + interval '1 day'");
    await plant('3 hours');
    expect(await inTurn()).toBe(1);
  });

  it('An incremental check is read in full on request', async () => {
    await inTurn();
    await plant('3 hours');
    const found = (await runChecks(stack.em())).filter(({ violations }) => violations > 0);
    expect(found.map((one) => one.check)).toContain(check);
  });

  it('An incremental check leaves no settings behind in the transaction it runs in', async () => {
    await inTurn();
    await plant('3 hours');
    await stack.em().transactional(async (tx) => {
      expect((await runCheckInTurn(tx, check)).violations).toBe(0);
      const found = (await runChecks(tx)).filter(({ violations }) => violations > 0);
      expect(found.map((one) => one.check)).toContain(check);
    });
  });
});
