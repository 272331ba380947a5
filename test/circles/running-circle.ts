import type { DefaultRule } from '../../src/circles/terms.ts';
import { addMoney, compareMoney, negateMoney, subtractMoney } from '../../src/shared/money.ts';
import { type Circle, cancel, contribute, inDefault, type Member, payPot, placesOf } from './circle-model.ts';

/** A place of a running circle, with its current member. */
export interface RunningMember extends Member {
  /** The model's name for the account of the place's current member, not a ledger id. */
  account_id: string;
  /** The account whose owner has an unpaid virtual account order for this place. */
  orderedBy: string | null;
  hasStandingOrder: boolean;
}

/** The model with orders, standing orders, time and balances. */
export interface Running extends Circle {
  members: RunningMember[];
  rule: DefaultRule;
  isOpen: boolean;
  /** Whether the interval and the grace period of the open round are over and a default was reported. */
  isDefaulted: boolean;
  /** Whether the interval of the open round is over, so that the next round opens as soon as the pot is paid. */
  isLate: boolean;
  balances: Map<string, string>;
  /** The accounts to which contributions to the open round are refunded. */
  refundTo: Map<string, string>;
}

const balanceOfAccount = (circle: Running, account: string): string => circle.balances.get(account) ?? '0.0000';

const change = (circle: Running, account: string, by: string): void =>
  void circle.balances.set(account, addMoney(balanceOfAccount(circle, account), by));

/** Returns the amount that a member must pay now, including the guarantee with a first contribution. */
const dueOf = (circle: Running, member: Member): string =>
  compareMoney(member.guarantee, '0') === 0 ? addMoney(circle.amount, circle.guarantee) : circle.amount;

const canPay = (circle: Running, account: string, member: Member): boolean =>
  compareMoney(balanceOfAccount(circle, account), dueOf(circle, member)) >= 0;

/** Returns whether a contribution would be accepted; `onTrust` means by gateway order, which needs no balance. */
export function mayContribute(
  circle: Running,
  member: RunningMember,
  { account, onTrust }: { account: string; onTrust: boolean },
): boolean {
  if (!circle.isOpen || member.excluded || member.hasPaid) return false;
  const isOwn = account === member.account_id;
  if (member.orderedBy !== null && (!isOwn || member.orderedBy === account)) return false;
  if (onTrust && circle.isDefaulted && circle.rule !== 'wait') return false;
  return onTrust || canPay(circle, account, member);
}

/** Pays a contribution, from a balance or from outside, with its consequences. */
export function pay(
  circle: Running,
  member: RunningMember,
  { account, fromOutside }: { account: string; fromOutside: boolean },
): void {
  if (!fromOutside) change(circle, account, negateMoney(dueOf(circle, member)));
  contribute(circle, member);
  member.orderedBy = null;
  circle.refundTo.set(member.member_id, account);
  goOn(circle);
}

/** Does what the product does by itself as soon as possible: pays the pot or applies a remedy. */
function goOn(circle: Running): void {
  if (circle.status !== 'active' || !circle.isOpen) return;
  if (placesOf(circle).every(({ has_paid }) => has_paid)) withMoney(circle, () => payPot(circle));
  else if (circle.isDefaulted) {
    // Debits are retried only a day later.
    if (circle.rule === 'cover' || circle.rule === 'exclude') withMoney(circle, () => remedy(circle));
  }
}

const remedy = (circle: Running) =>
  inDefault(circle, circle.rule, (member) => {
    const mayBe = canPay(circle, member.account_id, member);
    if (mayBe) {
      change(circle, member.account_id, negateMoney(dueOf(circle, member)));
      circle.refundTo.set(member.member_id, member.account_id);
    }
    return mayBe;
  });

/** Runs a step that pays pots and shares, and credits the balances. */
function withMoney(circle: Running, does: () => unknown): void {
  const before = new Map(circle.members.map(({ member_id, received, pots }) => [member_id, { received, pots }]));
  does();
  for (const { member_id, account_id, received } of circle.members) {
    change(circle, account_id, subtractMoney(received, before.get(member_id)?.received ?? '0'));
  }
  const isPaid = circle.members.some(({ member_id, pots }) => pots !== before.get(member_id)?.pots);
  if (!isPaid && circle.status === 'active') return;
  circle.isOpen = false;
  circle.refundTo.clear();
  for (const member of circle.members) member.orderedBy = null;
  if (circle.status === 'active' && circle.isLate) open(circle);
}

/** Opens a round and pays standing orders as far as balances suffice. */
export function open(circle: Running): void {
  Object.assign(circle, { isOpen: true, isDefaulted: false, isLate: false });
  for (const member of circle.members) {
    if (member.hasStandingOrder && !member.excluded && canPay(circle, member.account_id, member)) {
      change(circle, member.account_id, negateMoney(dueOf(circle, member)));
      contribute(circle, member);
      circle.refundTo.set(member.member_id, member.account_id);
    }
  }
  goOn(circle);
}

/** Ends the interval, the grace period and every order of the round. */
export function passTime(circle: Running): void {
  Object.assign(circle, { isDefaulted: true, isLate: true });
  for (const member of circle.members) member.orderedBy = null;
  withMoney(circle, () => remedy(circle));
  goOn(circle);
}

/** Transfers a place to another member with this account. */
export function replace(member: RunningMember, account: string): void {
  member.account_id = account;
  member.orderedBy = null;
  member.hasStandingOrder = false;
}

/** Cancels the circle as an operator: refunds paid contributions of the open round to their payers. */
export function cancelRunning(circle: Running): void {
  for (const { member_id, hasPaid } of circle.members) {
    if (hasPaid) change(circle, circle.refundTo.get(member_id) ?? '', circle.amount);
  }
  withMoney(circle, () => cancel(circle));
}
