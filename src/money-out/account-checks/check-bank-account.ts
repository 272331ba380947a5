import type { EntityManager } from '@mikro-orm/postgresql';
import { complainOfAccountNumber, getPayoutBank } from '../../people/bank-accounts/payout-bank.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { type BankAccountState, type Gateways, isProviderUnknown } from '../../platform/gateway/gateway.ts';
import { must } from '../../shared/assert.ts';
import { refuse, refuseField } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import {
  type AccountCheckStatus,
  compareNames,
  mostChecksOfAccount,
  mostChecksOfDay,
  type NameMatch,
  resultKeptHours,
} from './account-check.ts';

export interface AccountCheckRequest {
  bank_code: string;
  bank_account_number: string;
  /** The claimed holder of the account. */
  name?: string | undefined;
}

export interface AccountCheck {
  id: string;
  status: AccountCheckStatus;
  /** The holder's name at the bank, only if the request had at least part of it. */
  accountHolder: string | null;
  nameMatch: NameMatch | null;
  checkedAt: Date;
}

interface Kept {
  id: string;
  exists_at_bank: boolean | null;
  holder_sealed: string | null;
  checked_at: Date | string | null;
}

const holderPlace = (id: string) => ({ table: 'bank_account_checks', column: 'holder_sealed', row: id });

/**
 * Asks the provider whether a bank account exists and who holds it. The answer is cached for a day per partner and
 * account. Without an answer the check is `unknown`, and the next check asks again. Cached answers count as checks too.
 * Throws REQUEST_INVALID_PAYLOAD for an account that the bank cannot have, REQUEST_RATE_LIMITED beyond the daily
 * limits, and KeysAway.
 */
export async function checkBankAccount(
  em: EntityManager,
  { sealer, gateways }: { sealer: Sealer; gateways: Gateways },
  { partnerId, body }: { partnerId: string; body: AccountCheckRequest },
): Promise<AccountCheck> {
  const { bank_code: bankCode, bank_account_number: accountNumber, name } = body;
  const bank = await getPayoutBank(em, bankCode);
  const complaint = complainOfAccountNumber(accountNumber, bankCode, bank);
  if (complaint !== null) refuseField('bank_account_number', complaint);
  const digest = await sealer.digest(`bank account ${bankCode} ${accountNumber}`);

  const kept = await countCheck(em, { partnerId, bankCode, digest });
  const known = await openKept(sealer, kept);
  // A provider that does not return the holder only confirms a name, so each name is a separate question.
  if (known !== null && (name === undefined || known.state.status === 'invalid' || known.state.holder !== null)) {
    return answerOf(kept.id, known, name);
  }
  const question = { bankCode, accountNumber, name };
  const state = await gateways
    .of(bank.provider)
    .checkBankAccount(question, { partnerId })
    .catch((error) => {
      if (isProviderUnknown(error)) return null;
      throw error;
    });
  if (state === null) return nothingKnown(kept.id);
  const [row] = await em.execute<{ checked_at: Date | string }[]>(
    `update bank_account_checks set exists_at_bank = ?, holder_sealed = ?, checked_at = clock_timestamp()
     where id = ? returning checked_at`,
    [
      state.status === 'valid',
      state.holder === null ? null : await sealer.seal(holderPlace(kept.id), state.holder),
      kept.id,
    ],
  );
  // If the row was deleted, it was a day old and this answer is new.
  const at = row === undefined ? new Date() : new Date(row.checked_at);
  return answerOf(kept.id, { state, at }, name);
}

/**
 * The bank of an account that the partner checked in the last day. Throws REQUEST_INVALID_PAYLOAD for any other check,
 * and for an account that does not exist.
 */
export async function getBankOfCheck(
  em: EntityManager,
  { partnerId, checkId }: { partnerId: string; checkId: string },
): Promise<string> {
  const [check] = await em.execute<{ bank_code: string; exists_at_bank: boolean | null }[]>(
    `select bank_code, exists_at_bank from bank_account_checks
     where id = ? and partner_id = ? and asked_at > clock_timestamp() - make_interval(hours => ?)`,
    [checkId, partnerId, resultKeptHours],
  );
  const field = 'bank_account_check_id';
  if (check === undefined)
    return refuseField(field, `is not one of your checks from the last ${resultKeptHours} hours`);
  if (check.exists_at_bank === false) refuseField(field, 'is for an account that the bank does not have');
  return check.bank_code;
}

const nothingKnown = (id: string): AccountCheck => ({
  id,
  status: 'unknown',
  accountHolder: null,
  nameMatch: null,
  checkedAt: new Date(),
});

function answerOf(id: string, { state, at }: Known, name: string | undefined): AccountCheck {
  const { status, holder } = state;
  const nameMatch = name === undefined || holder === null ? null : compareNames(name, holder);
  const isNamed = nameMatch === 'match' || nameMatch === 'partial';
  return { id, status, accountHolder: isNamed ? holder : null, nameMatch, checkedAt: at };
}

interface Known {
  state: BankAccountState;
  at: Date;
}

async function openKept(
  sealer: Sealer,
  { id, exists_at_bank, holder_sealed, checked_at }: Kept,
): Promise<Known | null> {
  if (exists_at_bank === null || checked_at === null) return null;
  const holder = holder_sealed === null ? null : await sealer.open(holderPlace(id), holder_sealed);
  return {
    state: exists_at_bank ? { status: 'valid', holder } : { status: 'invalid', holder: null },
    at: new Date(checked_at),
  };
}

/**
 * Counts one check under the partner's lock, and returns the cached answer about the account if it is less than a day
 * old.
 */
function countCheck(
  em: EntityManager,
  { partnerId, bankCode, digest }: { partnerId: string; bankCode: string; digest: string },
): Promise<Kept> {
  return em.transactional(async (tx) => {
    await tx.execute('select 1 from partners where id = ? for no key update', [partnerId]);
    const [asked] = await tx.execute<{ of_day: number; of_account: number }[]>(
      `select count(*)::integer as of_day, (count(*) filter (where account_digest = ?))::integer as of_account
       from bank_account_questions where partner_id = ? and asked_at > now() - interval '24 hours'`,
      [digest, partnerId],
    );
    const { of_day, of_account } = must(asked, 'a count returns a row');
    if (of_day >= mostChecksOfDay) limited(`At most ${mostChecksOfDay} bank account checks in 24 hours`);
    if (of_account >= mostChecksOfAccount) {
      limited(`At most ${mostChecksOfAccount} checks of the same bank account in 24 hours`);
    }
    await tx.execute('insert into bank_account_questions (partner_id, account_digest) values (?, ?)', [
      partnerId,
      digest,
    ]);
    // The cached result of this account has expired: ask the provider again.
    await tx.execute(
      `delete from bank_account_checks where partner_id = ? and account_digest = ?
         and asked_at <= clock_timestamp() - make_interval(hours => ?)`,
      [partnerId, digest, resultKeptHours],
    );
    const [kept] = await tx.execute<Kept[]>(
      `insert into bank_account_checks as c (id, partner_id, account_digest, bank_code) values (?, ?, ?, ?)
       on conflict (partner_id, account_digest) do update set checked_at = c.checked_at
       returning c.id, c.exists_at_bank, c.holder_sealed, c.checked_at`,
      [newId(), partnerId, digest, bankCode],
    );
    return must(kept, 'an upsert returns its row');
  });
}

function limited(complaint: string): never {
  refuse('REQUEST_RATE_LIMITED', complaint, { retryAfterSeconds: 3600 });
}
