import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../../ledger/accounts/account.entity.ts';
import { openAccount } from '../../ledger/accounts/open-account.ts';
import { lockSource } from '../../ledger/lock-order.ts';
import { mayUseAccount } from '../../ledger/may-use-account.ts';
import { recordTransactions } from '../../ledger/post-journal.ts';
import { type BankAccountDetails, placeOfBankDetails } from '../../people/bank-accounts/bank-account.ts';
import { getOwnBankAccount } from '../../people/bank-accounts/get-own-bank-account.ts';
import { readPayer } from '../../people/identity/read-payer.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { openOnce } from '../../platform/openings/open-once.ts';
import type { Payer } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { newId, payoutReferenceOf } from '../../shared/ids.ts';
import { claimOfUser } from '../../shared/opening.ts';
import { Payout } from '../payouts/payout.entity.ts';
import { type PayoutStanding, type PayoutTexts, payoutTextsPlace } from '../payouts/payout.ts';
import { readProviderFee } from '../payouts/provider-fee.ts';
import { standingOf } from '../payouts/standing-of.ts';
import { readDecision } from '../payouts/undecided.ts';
import { reserveMoney, writePayout } from '../payouts/write-payout.ts';
import { beginDisbursement, openDisbursement } from './begin-disbursement.ts';
import { refuseOtherOwner } from './prepare-withdrawal.ts';
import { refuseUnusable } from './price-withdrawal.ts';
import { Withdrawal } from './withdrawal.entity.ts';
import type { CausePort, WithdrawalOpening, WithdrawalTerms } from './withdrawal.ts';
import { readWithdrawalHeadroom } from './withdrawal-headroom.ts';
import { transactionsOf } from './withdrawal-transactions.ts';

interface Ports {
  sealer: Sealer;
  config: WithdrawalTerms;
  causes: CausePort;
}

/**
 * The first step of a withdrawal: checks ownership, the daily limit and the balance and reserves the money, in one
 * transaction under the locks of account and user, so that concurrent withdrawals cannot exceed them. Returns an
 * existing withdrawal unchanged. Throws FORBIDDEN if the user is no longer active, and as `prepareWithdrawal` and
 * `openOnce` do. After a refusal no attempt at this opening reserves anything.
 */
export async function reserveWithdrawal(
  em: EntityManager,
  ports: Ports,
  { withdrawalId: id, opening }: { withdrawalId: string; opening: WithdrawalOpening | null },
): Promise<PayoutStanding> {
  await failpoint('reserve-withdrawal.before');
  const find = (tx: EntityManager) => tx.findOne(Payout, { id, kind: 'withdrawal' });
  const payout =
    opening === null
      ? await find(em)
      : await openOnce(
          em,
          { resourceId: id, kind: 'withdrawal', claim: claimOfUser(opening), stamp: opening.stamp },
          { find, make: (tx) => reserve(tx, ports, id, opening) },
        );
  if (payout === null) refuse('NOT_FOUND', 'The withdrawal was not found');
  await failpoint('reserve-withdrawal.after');
  const { isHeld } = await readDecision(em.fork(), payout);
  return { ...standingOf(payout), ...(isHeld && { isHeld }) };
}

async function reserve(tx: EntityManager, ports: Ports, id: string, opening: WithdrawalOpening): Promise<Payout> {
  const { userId, accountId } = opening;
  const payer = await readPayer(tx, userId);
  const account = (await tx.findOne(Account, { id: accountId })) ?? refuse('NOT_FOUND', 'The account was not found');
  if (!mayUseAccount(payer, account)) refuse('FORBIDDEN', 'the account is not yours', { field: 'account_id' });
  await lockSource(tx, { payer, sourceAccountId: accountId });
  // The daily limit is shared by all accounts of the user.
  await tx.execute('select 1 from users where id = ? for no key update', [userId]);
  const { bankCode, textsSealed } = await openDestination(tx, ports.sealer, { id, payer, account, opening });
  const headroom = await readWithdrawalHeadroom(tx, { userId, accountId });
  const disbursement = await openDisbursement(tx, ports, headroom, { id, account, opening });
  const payout = await writePayout(tx, {
    id,
    kind: 'withdrawal',
    sourceAccountId: accountId,
    reservedAccountId: await reservedAccountOf(tx, accountId),
    partnerId: null,
    reference: payoutReferenceOf(id, 'withdrawal'),
    externalRef: null,
    feeMode: 'DEDUCTED',
    amount: opening.amount,
    fee: opening.fee,
    net: opening.net,
    providerFee: await readProviderFee(tx, { partnerId: null, bankCode, net: opening.net }),
    bankCode,
    textsSealed,
    requestId: opening.requestId,
    at: headroom.at,
  });
  const withdrawal = tx.create(Withdrawal, {
    id,
    user_id: userId,
    organization_id: account.organization_id ?? null,
    bank_account_id: opening.bankAccountId,
    transaction_id: newId(),
    cause_id: disbursement?.causeId ?? null,
    purpose_note: disbursement?.note ?? null,
    created_at: headroom.at,
  });
  await tx.flush();
  const journalId = await reserveMoney(tx, payout, { actorId: userId, data: { amount: opening.amount } });
  await recordTransactions(tx, journalId, transactionsOf({ withdrawal, payout }, 'reserved'));
  if (disbursement !== null) await beginDisbursement(tx, ports.causes, { withdrawal, payout, disbursement });
  return payout;
}

/** The payee's bank account, read afresh and locked until the transaction ends. */
async function openDestination(
  tx: EntityManager,
  sealer: Sealer,
  { id, payer, account, opening }: { id: string; payer: Payer; account: Account; opening: WithdrawalOpening },
): Promise<{ bankCode: string; textsSealed: string }> {
  await tx.execute('select 1 from bank_accounts where id = ? for key share', [opening.bankAccountId]);
  const bankAccount = await getOwnBankAccount(tx, payer, opening.bankAccountId, { field: 'bank_account_id' });
  refuseOtherOwner(account, bankAccount);
  await refuseUnusable(tx, bankAccount);
  const { id: bankAccountId, details_sealed, bank_code: bankCode } = bankAccount;
  const details: BankAccountDetails = JSON.parse(await sealer.open(placeOfBankDetails(bankAccountId), details_sealed));
  const texts: PayoutTexts = {
    bank_account_number: details.account_number,
    beneficiary_name: details.account_holder,
    external_ref: null,
  };
  const person = bankAccount.organization_id == null ? { id: bankAccount.user_id } : null;
  return { bankCode, textsSealed: await sealer.seal({ ...payoutTextsPlace(id), person }, JSON.stringify(texts)) };
}

/** The account that holds this account's pending withdrawals; opened by the first withdrawal. */
async function reservedAccountOf(tx: EntityManager, accountId: string): Promise<string> {
  const [held] = await tx.execute<{ id: string }[]>(
    "select id from accounts where owner_id = ? and kind = 'withdrawal_reserved'",
    [accountId],
  );
  return (
    held?.id ?? openAccount(tx, { kind: 'withdrawal_reserved', name: 'Withdrawals under way', ownerId: accountId })
  );
}
