import { coversOf, type PlaceInRound, type Remedy, remedyOf } from '../../src/circles/remedy.ts';
import { settle, shareOut } from '../../src/circles/settlement.ts';
import type { DefaultRule } from '../../src/circles/terms.ts';
import { addMoney, compareMoney, negateMoney, shareMoney, subtractMoney } from '../../src/shared/money.ts';

/** A model of a circle in memory, with the product's remedies and settlements; its steps assert their own results. */

export interface Member {
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

export interface Circle {
  amount: string;
  guarantee: string;
  members: Member[];
  turn: number;
  held: string;
  status: 'active' | 'completed' | 'cancelled';
}

export const sum = (amounts: readonly string[]): string => addMoney('0', ...amounts);

/** Expects the invariants: the circle holds only money that was paid in, and nobody receives two pots. */
export function expectSound({ members, held, turn, status }: Circle): void {
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

export function contribute(circle: Circle, member: Member): void {
  const guarantee = compareMoney(member.guarantee, '0') === 0 ? circle.guarantee : '0';
  member.paid = addMoney(member.paid, circle.amount);
  member.guarantee = addMoney(member.guarantee, guarantee);
  member.hasPaid = true;
  circle.held = addMoney(circle.held, circle.amount, guarantee);
}

export function payPot(circle: Circle, covered: readonly string[] = []): void {
  const places = circle.members.filter(({ excluded }) => !excluded);
  const receiver = places.find(({ turn }) => turn === circle.turn);
  if (receiver === undefined) {
    end(circle, 'completed');
    return;
  }
  const pot = sum([...places.filter(({ hasPaid }) => hasPaid).map(() => circle.amount), ...covered]);
  // The pot is funded: every place has paid or is covered completely.
  expect(pot).toBe(sum(places.map(() => circle.amount)));
  receiver.received = addMoney(receiver.received, pot);
  receiver.pots += 1;
  circle.held = subtractMoney(circle.held, pot);
  for (const member of circle.members) member.hasPaid = false;
  if (circle.turn === circle.members.filter(({ turn }) => turn !== null).length) end(circle, 'completed');
  else circle.turn += 1;
}

/** Sorts members by turn, excluded members last, as the product does: of equal shares, the first gets the remainder. */
const inTurnOrder = (members: readonly Member[]): Member[] =>
  members.toSorted((left, right) => (left.turn ?? members.length + 1) - (right.turn ?? members.length + 1));

export function end(circle: Circle, status: 'completed' | 'cancelled'): void {
  circle.status = status;
  const due = new Map(
    circle.members.map(({ member_id, paid, guarantee, received }) => [
      member_id,
      subtractMoney(addMoney(paid, guarantee), received),
    ]),
  );
  const shares = shareOut(inTurnOrder(circle.members), { isCancelled: status === 'cancelled' });
  expect(sum(shares.map(({ amount }) => amount))).toBe(circle.held);
  for (const { member_id, amount } of shares) {
    expect(compareMoney(amount, due.get(member_id) ?? '0')).not.toBe(1);
    const member = circle.members.find((found) => found.member_id === member_id) as Member;
    member.received = addMoney(member.received, amount);
  }
  circle.held = '0.0000';
  // After the last round, members get back the uncovered part of their guarantee, or all that is due to them if less.
  for (const { member_id, guarantee, covered } of status === 'completed' ? circle.members : []) {
    const left = subtractMoney(guarantee, covered);
    const owedAtMost = compareMoney(due.get(member_id) ?? '0', left) < 0 ? (due.get(member_id) ?? '0') : left;
    const got = shares.find((share) => share.member_id === member_id)?.amount ?? '0';
    expect(compareMoney(got, owedAtMost)).not.toBe(-1);
  }
  const { members, debts } = settle(inTurnOrder(circle.members), { hasEnded: true });
  for (const { member_id, net_position } of members) {
    const owed = debts.filter(({ debtor_member_id }) => debtor_member_id === member_id).map(({ amount }) => amount);
    const owing = debts.filter(({ creditor_member_id }) => creditor_member_id === member_id);
    expect(addMoney(net_position, ...owed, ...owing.map(({ amount }) => negateMoney(amount)))).toBe('0.0000');
  }
}

export function cancel(circle: Circle): void {
  for (const member of circle.members.filter(({ hasPaid }) => hasPaid)) {
    member.paid = subtractMoney(member.paid, circle.amount);
    circle.held = subtractMoney(circle.held, circle.amount);
  }
  end(circle, 'cancelled');
}

/** Creates a circle of this many members in its first round; `amount` is in whole rupiah. */
export function newCircle({ size, amount, percent }: { size: number; amount: number; percent: number }): Circle {
  return {
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
}

export const placesOf = ({ members, turn }: Circle): PlaceInRound[] =>
  members
    .filter(({ excluded }) => !excluded)
    .map(({ member_id, hasPaid, guarantee, covered, turn: own }) => ({
      member_id,
      has_paid: hasPaid,
      has_received: (own ?? 0) < turn,
      guarantee,
      covered,
    }));

/** Applies the terms to a round with missing contributions; `debit` returns whether a member's balance suffices. */
export function inDefault(circle: Circle, rule: DefaultRule, debit: (member: Member) => boolean): Remedy {
  const places = placesOf(circle);
  const missing = places.filter(({ has_paid }) => !has_paid).map(({ member_id }) => member_id);
  const remedy = remedyOf(rule, circle.amount, places);
  const member = (id: string): Member => circle.members.find(({ member_id }) => member_id === id) as Member;
  if (remedy === 'cover') {
    const covers = coversOf(circle.amount, places);
    for (const { debtor, guarantor, amount } of covers) {
      expect(missing).toContain(debtor);
      member(guarantor).covered = addMoney(member(guarantor).covered, amount);
    }
    // The defaulter's own guarantee is used up before others pay.
    for (const { debtor, guarantor } of covers) {
      if (debtor !== guarantor) expect(member(debtor).covered).toBe(member(debtor).guarantee);
    }
    payPot(
      circle,
      covers.map(({ amount }) => amount),
    );
  } else if (remedy === 'exclude') {
    for (const id of missing) member(id).excluded = true;
    const later = inTurnOrder(circle.members).filter(({ turn }) => turn !== null && turn >= circle.turn);
    for (const gone of later) gone.turn = null;
    for (const [index, moved] of later.filter(({ excluded }) => !excluded).entries()) moved.turn = circle.turn + index;
    payPot(circle);
  } else if (remedy === 'debit') {
    for (const { member_id } of places.filter(({ has_paid, has_received }) => has_received && !has_paid)) {
      expect(member(member_id).pots).toBe(1);
      if (debit(member(member_id))) contribute(circle, member(member_id));
    }
  }
  return remedy;
}
