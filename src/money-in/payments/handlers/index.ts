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

/** The handler of each kind of payment. A reference type without one does not compile. */
const handlers = {
  account_top_up: accountTopUp,
  charitable_cause_donate: charitableCauseDonate,
  charitable_cause_open_donate: charitableCauseOpenDonate,
  saving_goal_contribution: savingGoalContribution,
  investment,
  saving_circle_contribution: savingCircleContribution,
  commodity_financing_payment: commodityFinancingPayment,
  trusted_partner_investment: trustedPartnerInvestment,
  takaful_insurance: takafulInsurance,
  takaful_tabaru_contribution: takafulTabaruContribution,
} satisfies { [Type in ReferenceType]: PaymentHandler & { referenceType: Type } };

/** The handler of a reference type. */
export const handlerOf = (referenceType: ReferenceType): PaymentHandler => handlers[referenceType];
