import type { Migration } from '@mikro-orm/migrations';
import { M0001Identity } from './m0001-identity.ts';
import { M0002Ledger } from './m0002-ledger.ts';
import { M0003Payments } from './m0003-payments.ts';
import { M0004Documents } from './m0004-documents.ts';
import { M0005Dispatcher } from './m0005-dispatcher.ts';
import { M0006Causes } from './m0006-causes.ts';
import { M0007Circles } from './m0007-circles.ts';
import { M0008Partners } from './m0008-partners.ts';
import { M0009Payouts } from './m0009-payouts.ts';
import { M0010TransactionLists } from './m0010-transaction-lists.ts';
import { M0011LeanPostings } from './m0011-lean-postings.ts';
import { M0012EffectsTell } from './m0012-effects-tell.ts';
import { M0013Openings } from './m0013-openings.ts';
import { M0015WhoseMoney } from './m0015-whose-money.ts';
import { M0016Resend } from './m0016-resend.ts';
import { M0017Sweeps } from './m0017-sweeps.ts';
import { M0018CallbacksAndCosts } from './m0018-callbacks-and-costs.ts';
import { M0019Accounts } from './m0019-accounts.ts';
import { M0020Records } from './m0020-records.ts';
import { M0021UploadsAndLists } from './m0021-uploads-and-lists.ts';
import { M0023BalanceVerdicts } from './m0023-balance-verdicts.ts';
import { M0024BudgetClock } from './m0024-budget-clock.ts';

/** Every migration in order, by name: one file per change, never edited after landing. */
export const migrations = [
  { name: 'm0001-identity', class: M0001Identity },
  { name: 'm0002-ledger', class: M0002Ledger },
  { name: 'm0003-payments', class: M0003Payments },
  { name: 'm0004-documents', class: M0004Documents },
  { name: 'm0005-dispatcher', class: M0005Dispatcher },
  { name: 'm0006-causes', class: M0006Causes },
  { name: 'm0007-circles', class: M0007Circles },
  { name: 'm0008-partners', class: M0008Partners },
  { name: 'm0009-payouts', class: M0009Payouts },
  { name: 'm0010-transaction-lists', class: M0010TransactionLists },
  { name: 'm0011-lean-postings', class: M0011LeanPostings },
  { name: 'm0012-effects-tell', class: M0012EffectsTell },
  { name: 'm0013-openings', class: M0013Openings },
  { name: 'm0015-whose-money', class: M0015WhoseMoney },
  { name: 'm0016-resend', class: M0016Resend },
  { name: 'm0017-sweeps', class: M0017Sweeps },
  { name: 'm0018-callbacks-and-costs', class: M0018CallbacksAndCosts },
  { name: 'm0019-accounts', class: M0019Accounts },
  { name: 'm0020-records', class: M0020Records },
  { name: 'm0021-uploads-and-lists', class: M0021UploadsAndLists },
  { name: 'm0023-balance-verdicts', class: M0023BalanceVerdicts },
  { name: 'm0024-budget-clock', class: M0024BudgetClock },
] satisfies { name: string; class: new (...args: ConstructorParameters<typeof Migration>) => Migration }[];
