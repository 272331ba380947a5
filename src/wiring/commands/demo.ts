import { parseArgs } from 'node:util';
import { tellCircle } from './demo/circle.ts';
import { tellGiving } from './demo/giving.ts';
import { topUp } from './demo/top-up.ts';
import { CommandError, runCommand } from './run-command.ts';

const usage = `Usage: npm run demo [-- --story top-up|giving|circle] [--amount 50000] [--wait]

Against a running "npm start", as the demo users.

  --story top-up  (the default) tops up by QRIS, pays in the sandbox, waits for the settlement, and prints the balance
                  before and after, the journal, and a link to the workflow
  --story giving  a cause is registered and approved, a donation is paid by QRIS and disbursed to a bank account, and its
                  trace is printed
  --story circle  an arisan of three members through three rounds, skipping the days between them
  --amount N      whole rupiah, of the top-up or the donation (default 50000; a donation at least 10000, the smallest bank
                  transfer)
  --wait          top-up only: print a link to the payment page and wait until somebody pays there (10 minutes)`;

await runCommand(usage, async () => {
  const { values } = parseArgs({
    options: {
      story: { type: 'string', default: 'top-up' },
      amount: { type: 'string', default: '50000' },
      wait: { type: 'boolean', default: false },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return usage;
  const { story, wait } = values;
  if (!/^[1-9]\d{0,6}$/.test(values.amount)) throw new CommandError('--amount must be whole rupiah, 1 to 9999999');
  if (wait && story !== 'top-up') throw new CommandError('--wait is only for a top-up');
  const amount = Number(values.amount);
  if (story === 'giving' && amount < 10_000) {
    throw new CommandError('--amount of a donation must be at least 10000, the smallest bank transfer');
  }
  switch (story) {
    case 'top-up':
      return topUp({ amount, wait });
    case 'giving':
      return tellGiving({ amount });
    case 'circle':
      return tellCircle();
    default:
      throw new CommandError('--story must be top-up, giving or circle');
  }
});
