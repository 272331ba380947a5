import fc from 'fast-check';
import { coversOf, nextOfRound, remedyOf } from '../../src/circles/remedy.ts';
import { type DefaultRule, defaultRules } from '../../src/circles/terms.ts';
import { compareMoney, shareMoney, unitsOf } from '../../src/shared/money.ts';
import { isFullRun } from '../support/run.ts';
import {
  type Circle,
  cancel,
  contribute,
  expectSound,
  inDefault,
  type Member,
  newCircle,
  payPot,
  sum,
} from './circle-model.ts';

/** A hundred cases of each, four thousand in the full run. */
const numRuns = isFullRun() ? 4_000 : 100;

const circles = fc.record({
  size: fc.integer({ min: 2, max: 7 }),
  amount: fc.integer({ min: 1, max: 100_000 }),
  percent: fc.integer({ min: 0, max: 100 }),
  rule: fc.constantFrom(...defaultRules),
  /** Per round, bit sets of the members who pay in time or can be debited, and whether a waiting round is cancelled. */
  habits: fc.array(fc.record({ pays: fc.nat(127), debited: fc.nat(127), cancels: fc.integer({ min: 0, max: 9 }) }), {
    minLength: 14,
    maxLength: 14,
  }),
});

describe('Circles with random terms and payments', () => {
  it(`Circles pay each funded pot once and close with zero balances (${numRuns} cases)`, () => {
    fc.assert(
      fc.property(circles, ({ size, amount, percent, rule, habits }) => {
        const circle = newCircle({ size, amount, percent });
        for (const habit of habits) {
          if (circle.status !== 'active') break;
          const places = circle.members.filter(({ excluded }) => !excluded);
          for (const [index, member] of places.entries()) {
            if (!member.hasPaid && (habit.pays >> index) & 1) contribute(circle, member);
          }
          expectSound(circle);
          if (places.every(({ hasPaid }) => hasPaid)) payPot(circle);
          else defaultOrCancel(circle, rule, habit);
          expectSound(circle);
        }
        // An operator cancels a circle that still waits, so that every circle becomes final.
        if (circle.status === 'active') cancel(circle);
        expectSound(circle);
      }),
      { numRuns },
    );
  }, 600_000);
});

function defaultOrCancel(
  circle: Circle,
  rule: DefaultRule,
  { debited, cancels }: { debited: number; cancels: number },
): void {
  const numberOf = (member: Member) => circle.members.indexOf(member);
  const remedy = inDefault(circle, rule, (member) => Boolean((debited >> numberOf(member)) & 1));
  if (remedy === 'wait' && cancels === 0) cancel(circle);
}

describe('The next action of a round', () => {
  const facts = fc.record({
    rule: fc.constantFrom(null, ...defaultRules),
    graceDays: fc.integer({ min: 0, max: 30 }),
    dueAt: fc.constant('2026-03-01T00:00:00.000Z'),
    isReminded: fc.boolean(),
    isOverdueReported: fc.boolean(),
    isDefaulted: fc.boolean(),
    remediedAt: fc.constantFrom(null, '2026-04-01T00:00:00.000Z'),
    remedy: fc.constantFrom('cover' as const, 'exclude' as const, 'debit' as const, 'wait' as const),
    hasOrders: fc.boolean(),
    hasStandingOrders: fc.constant(false),
  });

  it('A round reports no default during the grace period or while an order is open', () => {
    fc.assert(
      fc.property(facts, (round) => {
        const next = nextOfRound(round);
        if (next === null) return;
        const due = Date.parse(round.dueAt);
        if (next.step === 'settle default' || next.step === 'debit') {
          expect(round.rule).not.toBeNull();
          expect(round.hasOrders).toBe(false);
          expect(Date.parse(next.at)).toBeGreaterThanOrEqual(due + round.graceDays * 86_400_000);
        } else {
          expect(round.isOverdueReported).toBe(false);
        }
      }),
      { numRuns },
    );
  });
});

describe('Guarantees that cover a missing contribution', () => {
  const place = (index: number, has_paid: boolean, guarantee: string) => ({
    member_id: `m${index}`,
    has_paid,
    has_received: false,
    guarantee,
    covered: '0',
  });

  it('Covers use the defaulter’s guarantee first and divide the rest equally among the others', () => {
    const places = [
      place(0, false, '4'),
      place(1, true, '1'),
      place(2, true, '10'),
      place(3, true, '5'),
      place(4, true, '5'),
    ];
    expect(coversOf('10', places)).toEqual([
      { debtor: 'm0', guarantor: 'm0', amount: '4.0000' },
      { debtor: 'm0', guarantor: 'm1', amount: '1.0000' },
      { debtor: 'm0', guarantor: 'm3', amount: '1.6666' },
      { debtor: 'm0', guarantor: 'm4', amount: '1.6667' },
      { debtor: 'm0', guarantor: 'm2', amount: '1.6667' },
    ]);
  });

  it('Covers are computed and divided exactly in a circle of a thousand members', () => {
    const places = Array.from({ length: 1000 }, (_, index) => place(index, index >= 400, '50'));
    expect(remedyOf('cover', '100', places)).toBe('cover');
    const covers = coversOf('100', places);
    expect(covers.reduce((all, { amount }) => all + unitsOf(amount), 0n)).toBe(unitsOf('40000'));
    expect(remedyOf('cover', '100', places.with(0, place(0, false, '0')).slice(0, 800))).toBe('wait');
  }, 30_000);
});

describe('Shares', () => {
  it('Shares sum to the amount shared, and none exceeds its weight if the weights suffice', () => {
    const money = fc.integer({ min: 0, max: 1_000_000_000 }).map((units) => (units / 10_000).toFixed(4));
    fc.assert(
      fc.property(
        fc.array(money, { minLength: 1, maxLength: 9 }),
        fc.integer({ min: 0, max: 10_000 }),
        (weights, part) => {
          const all = sum(weights);
          fc.pre(compareMoney(all, '0') > 0);
          const total = shareMoney(all, [`${part}`, `${10_000 - part}`])[0] ?? '0';
          const shares = shareMoney(total, weights);
          expect(sum(shares)).toBe(total);
          shares.forEach((share, index) => {
            expect(compareMoney(share, weights[index] ?? '0')).not.toBe(1);
          });
        },
      ),
      { numRuns },
    );
  });
});
