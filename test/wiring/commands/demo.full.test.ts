import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Product, startProduct } from '../../support/product.ts';

let product: Product;
let directory: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'demo-'));
  product = startProduct(directory);
  await product.untilReady();
}, 240_000);
afterAll(async () => {
  await product.stop();
  rmSync(directory, { recursive: true, force: true });
}, 60_000);

interface Ended {
  code: number;
  output: string;
}

/** Runs `npm run demo` or `npm run verify` with these arguments, against the stack of the data directory. */
async function run(script: 'demo' | 'verify', ...args: string[]): Promise<Ended> {
  const file = join(import.meta.dirname, `../../../src/wiring/commands/${script}.ts`);
  const { DATABASE_URL: _, READER_DATABASE_URL: __, TEMPORAL_ADDRESS: ___, ...env } = process.env;
  return promisify(execFile)(process.execPath, [file, ...args], {
    env: { ...env, DATA_DIR: directory },
    timeout: 120_000,
  }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, output: `${stdout}${stderr}` }),
  );
}

describe('npm run demo', () => {
  it('npm run demo tops up a balance and shows the journal', async () => {
    const { code, output } = await run('demo', '--amount', '70000');
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('Settled: PAID') });
    expect(output).toContain('Balance before: IDR 10000000.0000');
    expect(output).toContain('Balance after: IDR 10070000.0000');
    expect(output).toContain('Journal payment-order.settled:');
  }, 150_000);

  it('npm run demo -- --story giving follows a donation to its cause, disbursement and annual statement', async () => {
    const { code, output } = await run('demo', '--story', 'giving', '--amount', '25000');
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/The donation \S+ is completed/) });
    expect(output).toMatch(/ donation +IDR 25000\.0000\n.* journal +IDR 25000\.0000\n.* cause +IDR 25000\.0000\n/);
    expect(output).toMatch(
      / disbursement +IDR 25000\.0000 {2}succeeded: "A solar pump and its pipes" \(WD-[0-9A-F]+\)\n/,
    );
    expect(output).toMatch(/Statement of \d{4}: 1 donations, IDR 25000\.0000 altogether/);
  }, 150_000);

  it('npm run demo -- --story circle runs three members through three rounds, and balances end unchanged', async () => {
    const { code, output } = await run('demo', '--story', 'circle');
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringContaining('The circle is completed and holds IDR 0.0000.'),
    });
    const pots = [...output.matchAll(/Round (\d): everybody has paid, and (\S+) has received the pot\./g)];
    expect(pots.map(([, round]) => round)).toEqual(['1', '2', '3']);
    expect(new Set(pots.map(([, , member]) => member)).size).toBe(3);
    expect(output.match(/: paid 300000\.0000, received 300000\.0000, stands at 0\.0000/g)).toHaveLength(3);
    const balances = [...output.matchAll(/^ {2}(\S+): IDR (\S+)$/gm)].map(
      ([, member, balance]) => `${member} ${balance}`,
    );
    expect(balances.slice(3)).toEqual(balances.slice(0, 3));
  }, 150_000);

  it('npm run demo leaves the books in order', async () => {
    const { code, output } = await run('verify');
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('The books are in order.') });
  }, 150_000);

  it.each([
    [['--story', 'heist'], '--story must be top-up, giving or circle'],
    [['--amount', '0'], '--amount must be whole rupiah'],
    [['--story', 'giving', '--amount', '9999'], '--amount of a donation must be at least 10000'],
    [['--story', 'circle', '--wait'], '--wait is only for a top-up'],
  ])('npm run demo refuses %j', async (args, sentence) => {
    const { code, output } = await run('demo', ...args);
    expect([code, output]).toEqual([2, expect.stringContaining(sentence)]);
  });
});
