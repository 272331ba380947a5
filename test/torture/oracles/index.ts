import type { Facts, Finding, Oracle } from '../facts.ts';
import {
  answersTellTheBooks,
  askingTells,
  clientsGetThrough,
  effectsWereAskedFor,
  endsAreKept,
  keyHasOneResource,
  providersRefusalIsKept,
  refusedHasNoEffect,
  replaysAreTheSame,
  successHasOneEffect,
} from './answers.ts';
import {
  checksAreEmpty,
  comesToRest,
  partsLive,
  rowsAndWorkflowsMatch,
  statusesMoveByTheirTables,
  timesAreTrue,
  webhooksArrive,
  workflowsDoNotFail,
} from './books.ts';
import { transfersGoWhereAsked } from './destinations.ts';
import { answersComeInTime, logsTellNothing, plansAreCarriedOut } from './efforts.ts';
import { batchesAreWhole, instrumentsSumUp } from './grouped.ts';
import {
  checksCanSee,
  doersAreTheAskers,
  donorsHaveReceipts,
  locksHaveAnOrder,
  payoutsStayWithin,
  periodsArePaidOnce,
  suspenseHasItsReason,
} from './guards.ts';
import { madeIsNotRefused, refusedKeysAreFree } from './keys.ts';
import { decisionsAreKept, feesAreAsAgreed, moneyLandsWhereAsked } from './landing.ts';
import { operatorsAreToldExactly } from './lists.ts';
import { disbursementsAreApproved, withdrawalsStayWithin } from './money-out.ts';
import { moneyIsConserved, ordersMatchInstruments, paymentsMatchReceipts, payoutsMatchTransfers } from './provider.ts';
import { donationsAreGivenBack, refundsStayWithin } from './refunds.ts';

/** All oracles, by the name that findings carry. */
export const oracles: Readonly<Record<string, Oracle>> = {
  'clients-get-through': clientsGetThrough,
  'plans-are-carried-out': plansAreCarriedOut,
  'refused-has-no-effect': refusedHasNoEffect,
  'made-is-not-refused': madeIsNotRefused,
  'refused-keys-are-free': refusedKeysAreFree,
  'doers-are-the-askers': doersAreTheAskers,
  'success-has-one-effect': successHasOneEffect,
  'key-has-one-resource': keyHasOneResource,
  'replays-are-the-same': replaysAreTheSame,
  'asking-tells': askingTells,
  'answers-come-in-time': answersComeInTime,
  'providers-refusal-is-kept': providersRefusalIsKept,
  'answers-tell-the-books': answersTellTheBooks,
  'effects-were-asked-for': effectsWereAskedFor,
  'ends-are-kept': endsAreKept,
  'suspense-has-its-reason': suspenseHasItsReason,
  'payments-match-receipts': paymentsMatchReceipts,
  'orders-match-instruments': ordersMatchInstruments,
  'payouts-match-transfers': payoutsMatchTransfers,
  'transfers-go-where-asked': transfersGoWhereAsked,
  'money-is-conserved': moneyIsConserved,
  'money-lands-where-asked': moneyLandsWhereAsked,
  'fees-are-as-agreed': feesAreAsAgreed,
  'decisions-are-kept': decisionsAreKept,
  'withdrawals-stay-within': withdrawalsStayWithin,
  'payouts-stay-within': payoutsStayWithin,
  'periods-are-paid-once': periodsArePaidOnce,
  'donors-have-receipts': donorsHaveReceipts,
  'disbursements-are-approved': disbursementsAreApproved,
  'refunds-stay-within': refundsStayWithin,
  'donations-are-given-back': donationsAreGivenBack,
  'batches-are-whole': batchesAreWhole,
  'instruments-sum-up': instrumentsSumUp,
  'checks-are-empty': checksAreEmpty,
  'checks-can-see': checksCanSee,
  'locks-have-an-order': locksHaveAnOrder,
  'statuses-move-by-their-tables': statusesMoveByTheirTables,
  'webhooks-arrive': webhooksArrive,
  'rows-and-workflows-match': rowsAndWorkflowsMatch,
  'workflows-do-not-fail': workflowsDoNotFail,
  'comes-to-rest': comesToRest,
  'operators-are-told-exactly': operatorsAreToldExactly,
  'times-are-true': timesAreTrue,
  'logs-tell-nothing': logsTellNothing,
  'parts-live': partsLive,
};

/** The findings of each oracle in these facts. */
export const judge = (facts: Facts): Finding[] => Object.values(oracles).flatMap((oracle) => oracle(facts));
