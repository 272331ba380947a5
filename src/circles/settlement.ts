import { addMoney, compareMoney, formatMoney, type Money, negateMoney, subtractMoney } from '../shared/money.ts';

/** What a member brought in and took out; IDR, scale 4. */
export interface MemberAccounts {
  member_id: string;
  account_id: string;
  paid: Money;
  guarantee: Money;
  received: Money;
}

export interface Settlement {
  /** `net_position` is what the member brought in beyond what they received: negative for who owes the others. */
  members: (MemberAccounts & { net_position: Money })[];
  /** The sum of all net positions: what the circle still holds. */
  held: Money;
  debts: Debt[];
}

export interface Debt {
  debtor_member_id: string;
  creditor_member_id: string;
  /** IDR, scale 4, above zero. */
  amount: Money;
}

/** How the members of a circle stand. Who owes whom is said once the circle `isCancelled`: until then, turns make even. */
export function settle(accounts: readonly MemberAccounts[], { isCancelled }: { isCancelled: boolean }): Settlement {
  const members = accounts.map((member) => ({
    member_id: member.member_id,
    account_id: member.account_id,
    paid: formatMoney(member.paid),
    guarantee: formatMoney(member.guarantee),
    received: formatMoney(member.received),
    net_position: subtractMoney(addMoney(member.paid, member.guarantee), member.received),
  }));
  return {
    members,
    held: addMoney(...members.map(({ net_position }) => net_position)),
    debts: isCancelled ? findDebts(members) : [],
  };
}

/**
 * Who owes whom, so that everybody comes out even: debtors pay creditors in the order of `members`, each debt as large
 * as it can be. So there are fewer debts than members.
 */
function findDebts(members: Settlement['members']): Debt[] {
  const isAboveZero = (amount: Money): boolean => compareMoney(amount, '0') > 0;
  const creditors = members
    .filter(({ net_position }) => isAboveZero(net_position))
    .map(({ member_id, net_position }) => ({ member_id, due: net_position }));
  const debts: Debt[] = [];
  let next = 0;
  for (const debtor of members) {
    let owed = negateMoney(debtor.net_position);
    while (isAboveZero(owed)) {
      const creditor = creditors[next];
      if (creditor === undefined) break;
      const amount = compareMoney(owed, creditor.due) < 0 ? owed : creditor.due;
      debts.push({ debtor_member_id: debtor.member_id, creditor_member_id: creditor.member_id, amount });
      owed = subtractMoney(owed, amount);
      creditor.due = subtractMoney(creditor.due, amount);
      if (!isAboveZero(creditor.due)) next += 1;
    }
  }
  return debts;
}
