import { savingCircleContribution } from '../circles/saving-circle-contribution.ts';
import { charitableCauseDonate } from '../giving/donations/charitable-cause-donate.ts';
import { charitableCauseOpenDonate } from '../giving/donations/charitable-cause-open-donate.ts';
import { productPayments } from '../giving/products/product-payments.ts';
import { savingGoalContribution } from '../giving/saving-goals/saving-goal-contribution.ts';
import { accountTopUp } from '../money-in/payments/account-top-up.ts';
import type { PaymentKinds } from '../money-in/payments/handler.ts';

/** The handler of each kind of payment. A reference type without one does not compile. */
export const paymentKinds = {
  account_top_up: accountTopUp,
  charitable_cause_donate: charitableCauseDonate,
  charitable_cause_open_donate: charitableCauseOpenDonate,
  saving_goal_contribution: savingGoalContribution,
  saving_circle_contribution: savingCircleContribution,
  ...productPayments,
} satisfies PaymentKinds;
