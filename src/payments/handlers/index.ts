import type { PaymentHandler } from '../handler.ts';
import type { ReferenceType } from '../payment-order.ts';
import { accountTopUp } from './account-top-up.ts';
import { charitableCauseDonate } from './charitable-cause-donate.ts';
import { charitableCauseOpenDonate } from './charitable-cause-open-donate.ts';
import { commodityFinancingPayment } from './commodity-financing-payment.ts';
import { investment } from './investment.ts';
import { savingCircleContribution } from './saving-circle-contribution.ts';
import { savingGoalContribution } from './saving-goal-contribution.ts';
import { takafulInsurance } from './takaful-insurance.ts';
import { takafulTabaruContribution } from './takaful-tabaru-contribution.ts';
import { trustedPartnerInvestment } from './trusted-partner-investment.ts';

/** The handler table: one line for each kind of payment. */
export const handlers: readonly PaymentHandler[] = [
  accountTopUp,
  charitableCauseDonate,
  charitableCauseOpenDonate,
  savingCircleContribution,
  savingGoalContribution,
  investment,
  commodityFinancingPayment,
  trustedPartnerInvestment,
  takafulInsurance,
  takafulTabaruContribution,
];

const byReferenceType = new Map(handlers.map((handler) => [handler.referenceType, handler]));

/** The handler of a reference type, or undefined when nothing handles it. */
export const handlerOf = (referenceType: ReferenceType): PaymentHandler | undefined =>
  byReferenceType.get(referenceType);
