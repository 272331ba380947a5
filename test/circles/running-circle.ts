import type { DefaultRule } from '../../src/circles/terms.ts';
import { addMoney, compareMoney, negateMoney, subtractMoney } from '../../src/shared/money.ts';
import { type Circle, cancel, contribute, inDefault, type Member, payPot, placesOf } from './circle-model.ts';

/** A place of a running circle: its member and balance. */
export interface RunningMember extends Member {
  /** The account of the place's current member, in the model, not in the ledger. */
  account_id: string;
  /** The account whose owner ordered by virtual account and has not paid yet. */
  orderedBy: string | null;
  hasStandingOrder: boolean;
}

/** What the product has beyond the rules: orders, standing orders, time, and balances. */
export interface Running extends Circle {
  members: RunningMember[];
  rule: DefaultRule;
  isOpen: boolean;
  /** The open round is past its interval and the grace period, and a default was reported. */
  isDefaulted: boolean;
  /** The interval of the open round is over: the next one opens as soon as the pot is paid. */
  isLate: boolean;
  balances: Map<string, string>;
  /** Where refunds of the open round go. */
  refundTo: Map<string, string>;
}

const balanceOfAccount = (circle: Running, account: string): string => circle.balances.get(account) ?? '0.0000';

const change = (circle: Running, account: string, by: string): void =>
  void circle.balances.set(account, addMoney(balanceOfAccount(circle, account), by));

/** What a member has to pay now, with the guarantee beside a first contribution. */
const dueOf = (circle: Running, member: Member): string =>
  compareMoney(member.guarantee, '0') === 0 ? addMoney(circle.amount, circle.guarantee) : circle.amount;

const canPay = (circle: Running, account: string, member: Member): boolean =>
  compareMoney(balanceOfAccount(circle, account), dueOf(circle, member)) >= 0;

/** Whether a contribution from this account would be accepted; `onTrust` is paid from outside. */
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

/** A paid contribution, from a balance or from outside, and its consequences. */
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

/** What the product does by itself as soon as possible: pay the pot, apply a remedy. */
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

/** Runs what pays pots and shares, and moves the money with it. */
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

/** A round opens and is paid by standing orders as far as balances suffice. */
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

/** The interval and the grace period are over, and with them every order of the round. */
export function passTime(circle: Running): void {
  Object.assign(circle, { isDefaulted: true, isLate: true });
  for (const member of circle.members) member.orderedBy = null;
  withMoney(circle, () => remedy(circle));
  goOn(circle);
}

/** Another member, with this account, takes over a place. */
export function replace(member: RunningMember, account: string): void {
  member.account_id = account;
  member.orderedBy = null;
  member.hasStandingOrder = false;
}

/** An operator cancels the circle: paid contributions of the open round are refunded to their payers. */
export function cancelRunning(circle: Running): void {
  for (const { member_id, hasPaid } of circle.members) {
    if (hasPaid) change(circle, circle.refundTo.get(member_id) ?? '', circle.amount);
  }
  withMoney(circle, () => cancel(circle));
}
