import { addMoney, isAboveZero, lesser, type Money, negateMoney, shareMoney, subtractMoney } from '../shared/money.ts';

/** What a member paid in and took out; IDR, scale 4. */
export interface MemberSums {
  member_id: string;
  account_id: string;
  paid: Money;
  guarantee: Money;
  /** The part of the guarantee that paid for missing contributions; zero if absent. */
  covered?: Money;
  received: Money;
  /** Paid into rounds held elsewhere before this circle, less the pot received there; zero if it started at turn 1. */
  elsewhere?: Money;
}

export interface Debt {
  debtor_member_id: string;
  creditor_member_id: string;
  /** IDR, scale 4, above zero. */
  amount: Money;
}

const positionOf = ({ paid, guarantee, received }: MemberSums): Money =>
  subtractMoney(addMoney(paid, guarantee), received);

/** Returns the amount due to a member; negative if the member owes. */
const claimOf = (member: MemberSums): Money => addMoney(positionOf(member), member.elsewhere ?? '0');

/**
 * Computes the positions of a circle's members: `net_position` is paid less received, negative if the member owes the
 * others; `held`, the sum of all, is the circle's balance. Until the circle `hasEnded`, the only debts are those that
 * guarantees have `covered`, because later turns settle the rest; after that, members below zero owe those above.
 */
export function settle(
  sums: readonly MemberSums[],
  { hasEnded, covered = [] }: { hasEnded: boolean; covered?: readonly Debt[] },
) {
  const members = sums.map((member) => {
    const { member_id, account_id, paid, guarantee, received } = member;
    return { member_id, account_id, paid, guarantee, received, net_position: positionOf(member) };
  });
  return {
    members,
    held: addMoney(...members.map(({ net_position }) => net_position)),
    debts: hasEnded ? findDebts(sums) : [...covered],
  };
}

/** Assigns debtors to creditors in member order, each debt as large as possible, to keep the debts few. */
function findDebts(sums: readonly MemberSums[]): Debt[] {
  const creditors = sums
    .map((member) => ({ member_id: member.member_id, due: claimOf(member) }))
    .filter(({ due }) => isAboveZero(due));
  const debts: Debt[] = [];
  let next = 0;
  for (const debtor of sums) {
    let owed = negateMoney(claimOf(debtor));
    while (isAboveZero(owed)) {
      const creditor = creditors[next];
      if (creditor === undefined) return debts;
      const amount = lesser(owed, creditor.due);
      debts.push({ debtor_member_id: debtor.member_id, creditor_member_id: creditor.member_id, amount });
      owed = subtractMoney(owed, amount);
      creditor.due = subtractMoney(creditor.due, amount);
      if (!isAboveZero(creditor.due)) next += 1;
    }
  }
  return debts;
}

/**
 * Distributes a circle's balance when it ends; nobody gets more than is due to them. After the last round each member
 * first gets back their unused guarantee, less their own debts. The rest, or all of it for a cancelled circle, is
 * distributed in proportion to the amounts due. IDR, scale 4, each above zero.
 */
export function shareOut(
  sums: readonly MemberSums[],
  { isCancelled }: { isCancelled: boolean },
): { member_id: string; amount: Money }[] {
  const held = addMoney('0', ...sums.map(positionOf));
  const due = sums.filter((member) => isAboveZero(claimOf(member)));
  const guarantees = due.map((member) => (isCancelled ? '0.0000' : lesser(claimOf(member), leftOf(member))));
  const first = share(lesser(held, addMoney('0', ...guarantees)), guarantees);
  const then = share(
    subtractMoney(held, addMoney('0', ...first)),
    due.map((member, index) => subtractMoney(claimOf(member), guarantees[index] ?? '0')),
  );
  return due
    .map(({ member_id }, index) => ({ member_id, amount: addMoney(first[index] ?? '0', then[index] ?? '0') }))
    .filter(({ amount }) => isAboveZero(amount));
}

/** Returns the unused part of a member's guarantee. */
const leftOf = ({ guarantee, covered = '0' }: MemberSums): Money => subtractMoney(guarantee, covered);

const share = (total: Money, weights: readonly Money[]): Money[] =>
  isAboveZero(total) ? shareMoney(total, weights) : [];
