import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { type Draw, makeEntropy, verifyDraw } from '../../sdk/index.ts';
import { commitTo, gatherEntropy, inTurnOrder } from '../../src/circles/turn-order.ts';
import { isFullRun } from '../support/run.ts';

const root = join(import.meta.dirname, '..', '..');
const seed = '5eed'.repeat(16);
const commitment = commitTo(seed);
const accounts = Array.from({ length: 5 }, (_, index) => `0197a000-0000-7000-8000-00000000000${index}`);

const drawOf = (accountIds: readonly string[], drawnBy: string) => {
  const members = accountIds.map((account_id) => ({ account_id }));
  const order = inTurnOrder('lottery', members, drawnBy).map((member, index) => ({
    ...member,
    turn_number: index + 1,
  }));
  return { commitment: commitTo(drawnBy), seed: drawnBy, order } satisfies Draw;
};
const honest = drawOf(accounts, seed);

/** The draw of a circle with terms: `accounts` in the order of joining, each with a value. */
const drawWith = (values: readonly (readonly [string, string])[]) => {
  const members = values.map(([account_id]) => ({ account_id }));
  const order = inTurnOrder('lottery', members, seed, gatherEntropy(values.map(([, value]) => value))).map(
    (member, index) => ({ ...member, turn_number: index + 1 }),
  );
  const entropy = values.map(([account_id, value]) => ({ account_id, value }));
  return { commitment, seed, order, entropy } satisfies Draw;
};
const given = accounts.map((account, index) => [account, `${index}`.repeat(16)] as const);
const inOrder = honest.order.map(({ account_id }) => account_id);
const swapped = honest.order.map(({ turn_number }, index) => ({
  account_id: inOrder[index < 2 ? 1 - index : index] ?? null,
  turn_number,
}));

describe('verifyDraw', () => {
  it('verifyDraw accepts every draw of the service, in any order of its rows', async () => {
    const members = fc.uniqueArray(fc.uuid(), { minLength: 2, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(members, fc.stringMatching(/^[0-9a-f]{64}$/), async (all, drawnBy) => {
        const draw = drawOf(all, drawnBy);
        const expected = draw.order.map(({ account_id }) => account_id);
        expect(await verifyDraw(draw, draw.commitment)).toEqual(expected);
        expect(await verifyDraw({ ...draw, order: draw.order.toReversed() }, draw.commitment)).toEqual(expected);
      }),
      { numRuns: isFullRun() ? 100 : 20 },
    );
  });

  it('verifyDraw accepts a draw with one value per member, and rejects missing or changed values', async () => {
    const draw = drawWith(given);
    const [first, second] = draw.entropy as [
      { account_id: string; value: string },
      { account_id: string; value: string },
    ];
    const expected = draw.order.map(({ account_id }) => account_id);
    expect(await verifyDraw(draw, commitment, second)).toEqual(expected);
    expect(await verifyDraw(draw, commitment)).toEqual(expected);
    const refuses = async (changed: Draw, reason: string) =>
      expect(verifyDraw(changed, commitment, second)).rejects.toMatchObject({
        name: 'DrawError',
        message: expect.stringContaining(reason),
      });
    await refuses(drawWith(given.toSpliced(1, 1, [second.account_id, makeEntropy()])), 'your own value');
    await refuses({ ...draw, entropy: null }, 'your own value');
    await refuses({ ...draw, entropy: draw.entropy.toSpliced(0, 1) }, 'one value for each member');
    await refuses({ ...draw, entropy: draw.entropy.with(0, { ...first, value: 'ff'.repeat(8) }) }, 'does not follow');
    await refuses({ ...draw, entropy: draw.entropy.toReversed() }, 'does not follow');
  });

  const other = drawOf(accounts, 'ab'.repeat(32));
  const refused: [string, Draw, string][] = [
    ['was made from another seed under a later commitment', other, 'not the one you noted'],
    ['was made from another seed', { ...other, commitment }, 'does not match the commitment'],
    ['swaps two members', { ...honest, order: swapped }, 'does not follow from the seed'],
    ['omits its first member', { ...honest, order: honest.order.slice(1) }, 'not numbered from 1'],
    ['gives one member two turns', { ...honest, order: twice() }, 'does not follow from the seed'],
    ['has not taken place', { ...honest, seed: null, order: null }, 'not been made yet'],
    ['hides accounts', { ...honest, order: honest.order.map(hide) }, 'hides its accounts'],
  ];
  it.each(refused)('verifyDraw rejects a draw that %s', async (_, draw, reason) => {
    const verifying = verifyDraw(draw, commitment);
    await expect(verifying).rejects.toMatchObject({ name: 'DrawError', message: expect.stringContaining(reason) });
  });

  it('The example page returns the same results and messages as verifyDraw, and generates values', async () => {
    const page = readFileSync(join(root, 'examples', 'draw.html'), 'utf8');
    const [, rules = ''] = /<script id="rules">(.*?)<\/script>/s.exec(page) ?? [];
    const itself: Pick<typeof import('../../sdk/index.ts'), 'makeEntropy' | 'verifyDraw'> = new Function(
      `${rules}; return { makeEntropy, verifyDraw };`,
    )();
    expect(itself.makeEntropy()).toMatch(/^[0-9a-f]{64}$/);
    const [own] = drawWith(given).entropy;
    const draws = [...refused.map(([, draw]) => draw), honest, drawWith(given), drawWith(given.toReversed())];
    const told = (verify: typeof verifyDraw, ...drawn: Parameters<typeof verifyDraw>) =>
      verify(...drawn).catch((error: Error) => error.message);
    for (const draw of draws) {
      for (const value of [undefined, own, own && { ...own, value: 'ff'.repeat(9) }]) {
        expect(await told(itself.verifyDraw, draw, commitment, value)).toEqual(
          await told(verifyDraw, draw, commitment, value),
        );
      }
    }
  });
});

function twice() {
  return [inOrder[0] ?? null, ...inOrder].map((account_id, index) => ({ account_id, turn_number: index + 1 }));
}
function hide<Row extends object>(row: Row) {
  return { ...row, account_id: null };
}

describe('examples/verify-draw.ts', () => {
  const directory = mkdtempSync(join(tmpdir(), 'verify-draw-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const run = (draw: Draw, ...noted: string[]) => {
    const file = join(directory, 'draw.json');
    writeFileSync(file, JSON.stringify({ message: 'Draw found', data: draw }));
    const example = join(root, 'examples/verify-draw.ts');
    const { status, stdout } = spawnSync(process.execPath, [example, file, ...noted], { encoding: 'utf8' });
    return { status, stdout };
  };

  it('examples/verify-draw.ts prints the turns of a valid draw from the API’s unmodified answer', () => {
    const { status, stdout } = run(honest, commitment);
    expect(status).toBe(0);
    expect(stdout.split('\n').slice(0, 5)).toEqual(inOrder.map((account, index) => `Turn ${index + 1}    ${account}`));
    expect(stdout).toContain('The draw matches its commitment.');
  });

  it('examples/verify-draw.ts exits with 1 for any other draw, and with 2 without a commitment', () => {
    expect(run({ ...honest, order: swapped }, commitment)).toEqual({
      status: 1,
      stdout: 'The draw cannot be trusted: the order does not follow from the seed.\n',
    });
    expect(run(honest).status).toBe(2);
  });
});
