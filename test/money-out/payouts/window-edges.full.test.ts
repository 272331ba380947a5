import { asAClient } from '../../support/as-a-client.ts';
import { casesOf } from '../../support/full.ts';
import type { HttpAnswer } from '../../support/http.ts';
import { freshKey } from '../../support/partner.ts';
import { recountTallies } from '../../support/recount-tallies.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { addBankAccount, ask, buildOwner, someKey } from '../withdrawals/build-withdrawals.ts';
import { buildPayer, generous, payoutBody } from './build-payouts.ts';

/** Limits over the last hour or 24 hours, and requests that race at the end of such a window. */
const slots = isFullRun() ? 8 : 4;
const racers = isFullRun() ? 8 : 4;
/** IDR of each withdrawal: together they reach the daily limit. */
const each = 50_000_000 / slots;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

interface Limited {
  /** Requests another payout. */
  ask(): Promise<HttpAnswer>;
  /** Selects the rows that count. */
  where: string;
  whose: string;
}
type Build = () => Promise<Limited>;
const payouts = async (limits: object): Promise<Limited> => {
  const partner = await buildPayer(stack, { available: '100000000', limits: { ...generous, ...limits } });
  return {
    ask: () => asAClient(() => partner.post('/payouts', payoutBody({ amount: '10000' }), freshKey())),
    where: 'partner_id = ?',
    whose: partner.id,
  };
};
/** The first represents the others: one function counts them all, and `tallies` covers the boundaries. */
const windows: [string, string, Build][] = [
  [
    'the amount of withdrawals in 24 hours',
    '24 hours',
    async () => {
      const owner = await buildOwner(stack, String(4 * slots * each));
      const bank_account_id = await addBankAccount(stack, owner);
      return {
        ask: () => asAClient(() => ask(stack, owner, { bank_account_id, amount: String(each) }, someKey())),
        where: 'id in (select id from withdrawals where user_id = ?)',
        whose: owner.id,
      };
    },
  ],
  ['the count of payouts in an hour', '1 hour', () => payouts({ max_hourly_count: slots })],
  ['the amount of payouts in 24 hours', '24 hours', () => payouts({ max_daily_amount: String(slots * 10_000) })],
];
const isMade = ({ status }: HttpAnswer) => status === 200 || status === 201;

describe.each(casesOf(windows))('At the end of the window of %s', (_, window, build) => {
  it('Exactly as many payouts are accepted as leave a limit’s window, and none before they leave it', async () => {
    const limited = await build();
    const rows = () =>
      stack
        .em()
        .execute<{ id: string; status: string }[]>(`select id, status from payouts where ${limited.where}`, [
          limited.whose,
        ]);
    for (let made = 0; made < slots; made += 1) expect(isMade(await limited.ask())).toBe(true);
    const old = await eventually(rows, (found) => found.every(({ status }) => status !== 'pending'));
    expect(old).toHaveLength(slots);
    // They leave the window one after another, from three seconds on; the last two at the same moment.
    for (const [place, { id }] of old.entries()) {
      const after = `${3_000 + 700 * Math.min(place, slots - 2)} milliseconds`;
      for (const table of ['payouts', 'withdrawals']) {
        const at = "date_trunc('milliseconds', clock_timestamp())";
        const age = `update ${table} set created_at = ${at} - ?::interval + ?::interval where id = ?`;
        await withoutTriggers(stack, age, [window, after, id]);
      }
    }
    await recountTallies(stack);
    expect(isMade(await limited.ask())).toBe(false);
    let made = 0;
    const statuses = new Set<number>();
    const race = async () => {
      while (made < slots) {
        const answer = await limited.ask();
        statuses.add(answer.status);
        if (isMade(answer)) made += 1;
      }
    };
    await Promise.all(Array.from({ length: racers }, race));
    expect([...statuses].filter((status) => ![200, 201, 400, 422].includes(status))).toEqual([]);
    expect(made).toBe(slots);
    expect(isMade(await limited.ask())).toBe(false);
    // No window that ends with a payout contains more than its limit. Times have millisecond precision.
    const crowded = await stack.em().execute<object[]>(
      `select one.id, count(*)::int as within from payouts one
         join payouts other on other.created_at between one.created_at - ?::interval + interval '1 millisecond' and one.created_at
       where one.${limited.where} and other.${limited.where} group by one.id having count(*) > ?`,
      [window, limited.whose, limited.whose, slots],
    );
    expect(crowded).toEqual([]);
    await eventually(rows, (found) => found.length === 2 * slots && found.every(({ status }) => status !== 'pending'));
  }, 180_000);
});
