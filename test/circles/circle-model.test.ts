import fc from 'fast-check';
import { nextOfRound } from '../../src/circles/default.ts';
import { closeUp, type PlaceInRound, remedyOf } from '../../src/circles/remedy.ts';
import { settle, shareOut } from '../../src/circles/settlement.ts';
import { defaultRules } from '../../src/circles/terms.ts';
import { addMoney, compareMoney, negateMoney, shareMoney, subtractMoney } from '../../src/shared/money.ts';
import { isFullRun } from '../support/run.ts';

/** A few hundred cases of each, ten thousand in the full run. */
const numRuns = isFullRun() ? 10_000 : 300;

interface Member {
  member_id: string;
  account_id: string;
  turn: number | null;
  excluded: boolean;
  paid: string;
  guarantee: string;
  covered: string;
  received: string;
  pots: number;
  hasPaid: boolean;
  elsewhere?: string;
}

interface Circle {
  amount: string;
  guarantee: string;
  members: Member[];
  turn: number;
  held: string;
  status: 'active' | 'completed' | 'cancelled';
}

const sum = (amounts: readonly string[]): string => addMoney('0', ...amounts);

/** What must hold whatever has happened: nothing is held that nobody brought in, and nobody receives two pots. */
function expectSound({ members, held, turn, status }: Circle): void {
  expect(sum(members.map(({ paid, guarantee, received }) => subtractMoney(addMoney(paid, guarantee), received)))).toBe(
    held,
  );
  expect(compareMoney(held, '0')).not.toBe(-1);
  for (const { covered, guarantee, pots } of members) {
    expect(compareMoney(covered, guarantee)).not.toBe(1);
    expect(pots).toBeLessThanOrEqual(1);
  }
  const turns = members.flatMap((member) => member.turn ?? []).toSorted((left, right) => left - right);
  expect(turns).toEqual(turns.map((_, index) => index + 1));
  if (status !== 'active') expect(held).toBe('0.0000');
  else expect(turns).toContain(turn);
}

function contribute(circle: Circle, member: Member): void {
  const guarantee = compareMoney(member.guarantee, '0') === 0 ? circle.guarantee : '0';
  member.paid = addMoney(member.paid, circle.amount);
  member.guarantee = addMoney(member.guarantee, guarantee);
  member.hasPaid = true;
  circle.held = addMoney(circle.held, circle.amount, guarantee);
}

function payPot(circle: Circle, covered: readonly string[] = []): void {
  const places = circle.members.filter(({ excluded }) => !excluded);
  const receiver = places.find(({ turn }) => turn === circle.turn);
  if (receiver === undefined) {
    end(circle, 'completed');
    return;
  }
  const pot = sum([...places.filter(({ hasPaid }) => hasPaid).map(() => circle.amount), ...covered]);
  // Funded: everybody with a place has paid, or is covered whole.
  expect(pot).toBe(sum(places.map(() => circle.amount)));
  receiver.received = addMoney(receiver.received, pot);
  receiver.pots += 1;
  circle.held = subtractMoney(circle.held, pot);
  for (const member of circle.members) member.hasPaid = false;
  if (circle.turn === circle.members.filter(({ turn }) => turn !== null).length) end(circle, 'completed');
  else circle.turn += 1;
}

function end(circle: Circle, status: 'completed' | 'cancelled'): void {
  circle.status = status;
  const due = new Map(
    circle.members.map(({ member_id, paid, guarantee, received }) => [
      member_id,
      subtractMoney(addMoney(paid, guarantee), received),
    ]),
  );
  const shares = shareOut(circle.members);
  expect(sum(shares.map(({ amount }) => amount))).toBe(circle.held);
  for (const { member_id, amount } of shares) {
    expect(compareMoney(amount, due.get(member_id) ?? '0')).not.toBe(1);
    const member = circle.members.find((found) => found.member_id === member_id) as Member;
    member.received = addMoney(member.received, amount);
  }
  circle.held = '0.0000';
  const { members, debts } = settle(circle.members, { hasEnded: true });
  for (const { member_id, net_position } of members) {
    const owed = debts.filter(({ debtor_member_id }) => debtor_member_id === member_id).map(({ amount }) => amount);
    const owing = debts.filter(({ creditor_member_id }) => creditor_member_id === member_id);
    expect(addMoney(net_position, ...owed, ...owing.map(({ amount }) => negateMoney(amount)))).toBe('0.0000');
  }
}

function cancel(circle: Circle): void {
  for (const member of circle.members.filter(({ hasPaid }) => hasPaid)) {
    member.paid = subtractMoney(member.paid, circle.amount);
    circle.held = subtractMoney(circle.held, circle.amount);
  }
  end(circle, 'cancelled');
}

const placesOf = ({ members, turn }: Circle): PlaceInRound[] =>
  members
    .filter(({ excluded }) => !excluded)
    .map(({ member_id, hasPaid, guarantee, covered, turn: own }) => ({
      memberId: member_id,
      hasPaid,
      hasReceived: (own ?? 0) < turn,
      guaranteeLeft: subtractMoney(guarantee, covered),
    }));

const circles = fc.record({
  size: fc.integer({ min: 2, max: 7 }),
  amount: fc.integer({ min: 1, max: 100_000 }),
  percent: fc.integer({ min: 0, max: 100 }),
  rule: fc.constantFrom(...defaultRules),
  /** For each round and member whether they pay in time; for a round that waits whether it is cancelled. */
  habits: fc.array(fc.record({ pays: fc.nat(127), debited: fc.nat(127), cancels: fc.integer({ min: 0, max: 9 }) }), {
    minLength: 14,
    maxLength: 14,
  }),
});

describe('Circles, whoever pays and whatever their terms', () => {
  it('pay each pot when it is funded and to nobody twice, hold what was brought in, and end even', () => {
    fc.assert(
      fc.property(circles, ({ size, amount, percent, rule, habits }) => {
        const circle: Circle = {
          amount: `${amount}.0000`,
          guarantee: shareMoney(`${amount}`, [`${percent}`, `${100 - percent}`])[0] ?? '0',
          members: Array.from({ length: size }, (_, index) => ({
            member_id: `m${index}`,
            account_id: `a${index}`,
            turn: index + 1,
            excluded: false,
            paid: '0.0000',
            guarantee: '0.0000',
            covered: '0.0000',
            received: '0.0000',
            pots: 0,
            hasPaid: false,
          })),
          turn: 1,
          held: '0.0000',
          status: 'active',
        };
        for (const habit of habits) {
          if (circle.status !== 'active') break;
          const places = circle.members.filter(({ excluded }) => !excluded);
          for (const [index, member] of places.entries()) {
            if (!member.hasPaid && (habit.pays >> index) & 1) contribute(circle, member);
          }
          expectSound(circle);
          if (places.every(({ hasPaid }) => hasPaid)) payPot(circle);
          else inDefault(circle, rule, habit);
          expectSound(circle);
        }
        // Whoever still waits is cancelled by an operator: every circle ends.
        if (circle.status === 'active') cancel(circle);
        expectSound(circle);
      }),
      { numRuns },
    );
  }, 600_000);
});

function inDefault(
  circle: Circle,
  rule: (typeof defaultRules)[number],
  { debited, cancels }: { debited: number; cancels: number },
): void {
  const places = placesOf(circle);
  const missing = places.filter(({ hasPaid }) => !hasPaid).map(({ memberId }) => memberId);
  const remedy = remedyOf(rule, circle.amount, places);
  const member = (id: string): Member => circle.members.find(({ member_id }) => member_id === id) as Member;
  if (remedy.kind === 'cover') {
    for (const { debtor, guarantor, amount } of remedy.covers) {
      expect(missing).toContain(debtor);
      member(guarantor).covered = addMoney(member(guarantor).covered, amount);
    }
    // The defaulter's own first: nothing of it is left while others pay for them.
    for (const { debtor, guarantor } of remedy.covers) {
      if (debtor !== guarantor) expect(member(debtor).covered).toBe(member(debtor).guarantee);
    }
    payPot(
      circle,
      remedy.covers.map(({ amount }) => amount),
    );
  } else if (remedy.kind === 'exclude') {
    expect(remedy.members).toEqual(missing);
    const turns = circle.members.flatMap(({ member_id, turn, excluded }) =>
      turn === null || excluded ? [] : [{ memberId: member_id, turn }],
    );
    for (const { memberId, turn } of closeUp(turns, { currentTurn: circle.turn, excluded: remedy.members })) {
      member(memberId).turn = turn;
    }
    for (const id of remedy.members) member(id).excluded = true;
    payPot(circle);
  } else if (remedy.kind === 'debit') {
    for (const [index, id] of remedy.members.entries()) {
      expect(member(id).pots).toBe(1);
      if ((debited >> index) & 1) contribute(circle, member(id));
    }
  } else if (cancels === 0) cancel(circle);
}

describe('What is due next in a round', () => {
  const facts = fc.record({
    rule: fc.constantFrom(null, ...defaultRules),
    graceDays: fc.integer({ min: 0, max: 30 }),
    dueAt: fc.constant('2026-03-01T00:00:00.000Z'),
    isReminded: fc.boolean(),
    isOverdueReported: fc.boolean(),
    isDefaulted: fc.boolean(),
    remediedAt: fc.constantFrom(null, '2026-04-01T00:00:00.000Z'),
    canRemedy: fc.boolean(),
  });

  it('is never a default within the days of grace, nor anything of circles without terms but reminders', () => {
    fc.assert(
      fc.property(facts, (round) => {
        const next = nextOfRound(round);
        if (next === null) return;
        const due = Date.parse(round.dueAt);
        if (next.step === 'settle default') {
          expect(round.rule).not.toBeNull();
          expect(Date.parse(next.at)).toBeGreaterThanOrEqual(due + round.graceDays * 86_400_000);
        } else {
          expect(round.isOverdueReported).toBe(false);
        }
      }),
      { numRuns },
    );
  });
});

describe('Shares', () => {
  it('sum to what is shared, and are no more than each weight where that suffices', () => {
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
