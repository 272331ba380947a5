import type { EntityManager } from '@mikro-orm/postgresql';
import { unlessMissing } from '../../platform/encryption/personal-keys.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { recordMail } from '../mail/record-mail.ts';
import { BankAccount } from './bank-account.entity.ts';
import { type BankAccountDetails, ownerOf, placeOfBankDetails } from './bank-account.ts';
import type { OpenedBankAccount } from './find-bank-accounts.ts';
import { complainOfAccountNumber, complainOfUnknownBanks, findPayoutBank } from './payout-bank.ts';

/**
 * Adds a bank account of the caller, or of its organization for users of type `organization`, whose other admins are
 * told, too. It becomes usable `waitHours` hours later, by the database's clock. Throws REQUEST_INVALID for an
 * unsupported bank and for an account number that the bank does not use.
 */
export async function addBankAccount(
  em: EntityManager,
  sealer: Sealer,
  input: { caller: Caller; requestId: string; bankCode: string; details: BankAccountDetails; waitHours: number },
): Promise<OpenedBankAccount> {
  const { caller, requestId, bankCode, details, waitHours } = input;
  await refuseImpossible(em, bankCode, details.account_number);
  const id = newId();
  const organizationId = ownerOf(caller).organization_id;
  const person = organizationId === null ? { id: caller.userId } : null;
  const sealed = await sealer.seal({ ...placeOfBankDetails(id), person }, JSON.stringify(details));
  const account = await em.transactional(async (tx) => {
    await tx.execute(
      `insert into bank_accounts (id, user_id, organization_id, bank_code, details_sealed, usable_at)
       values (?, ?, ?, ?, ?, now() + make_interval(hours => ?))`,
      [id, caller.userId, organizationId, bankCode, sealed, waitHours],
    );
    await recordAction(tx, { caller, requestId }, 'RESOURCE_CREATED', ['bank_account', id]);
    const facts = { bank: bankCode, ending: details.account_number.slice(-4) };
    const tell = (userId: string) => recordMail(tx, sealer, { userId, kind: 'bank_account_added', facts });
    await tell(caller.userId);
    for (const userId of await findOtherAdmins(tx, caller.userId, organizationId)) await unlessMissing(tell(userId));
    return tx.findOneOrFail(BankAccount, { id });
  });
  return { account, details };
}

/** The most of an organization's admins who are told of a bank account besides the one who added it. */
const mostToldAdmins = 20;

/** Returns the admins who have been in the organization longest: a newcomer cannot displace them. */
async function findOtherAdmins(tx: EntityManager, userId: string, organizationId: string | null): Promise<string[]> {
  if (organizationId === null) return [];
  const rows = await tx.execute<{ id: string }[]>(
    `select id from users where organization_id = ? and user_type = 'organization' and status = 'active' and id <> ?
     order by created_at, id limit ?`,
    [organizationId, userId, mostToldAdmins],
  );
  return rows.map(({ id }) => id);
}

async function refuseImpossible(em: EntityManager, bankCode: string, accountNumber: string): Promise<void> {
  const bank = await findPayoutBank(em, bankCode);
  if (bank === null) {
    const complain = await complainOfUnknownBanks(em, [bankCode]);
    refuse('REQUEST_INVALID', complain(bankCode), { field: 'bank_code' });
  }
  const complaint = complainOfAccountNumber(accountNumber, bankCode, bank);
  if (complaint !== null) refuse('REQUEST_INVALID', complaint, { field: 'account_number' });
}
