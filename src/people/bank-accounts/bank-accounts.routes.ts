import { z } from 'zod';
import type { Config } from '../../platform/config/config.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { allow } from '../../platform/http/access.ts';
import { created } from '../../platform/http/answer.ts';
import { nameAtBank, text, timestamp, uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { maskNumber } from '../official-documents/official-document.ts';
import { addBankAccount } from './add-bank-account.ts';
import { deleteBankAccount } from './delete-bank-account.ts';
import { listBankAccounts, type OpenedBankAccount } from './find-bank-accounts.ts';

const BankAccountShape = z
  .object({
    id: z.guid(),
    bank_code: z.string(),
    account_number: z.string().meta({ description: 'Masked: its last four digits, if they are less than half of it.' }),
    account_holder: z.string(),
    usable_at: timestamp(),
    created_at: timestamp(),
  })
  .meta({ id: 'BankAccount' });

/** Returns a bank account as the API shows it, always with a masked number. */
const presentBankAccount = ({ account, details }: OpenedBankAccount) => ({
  id: account.id,
  bank_code: account.bank_code,
  account_number: maskNumber(details.account_number),
  account_holder: details.account_holder,
  usable_at: account.usable_at.toISOString(),
  created_at: account.created_at.toISOString(),
});

interface Ports {
  config: Pick<Config, 'BANK_ACCOUNT_WAIT_HOURS'>;
  sealer: Sealer;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/bank-accounts',
  tag: 'Bank accounts',
  description: 'Bank accounts of people and organizations. Encrypted at rest, shown masked.',
});

const access = allow('withdraw-account', {
  userTypes: ['individual', 'organization'],
  scope: "own; the organization's for its admins",
});
const message = z.string();

routes.post(
  '/',
  {
    summary: 'Add a bank account',
    description:
      'The account belongs to the caller, or to the organization of a caller of type `organization`. It can be used from ' +
      '`usable_at`, some time after it was added, so that an intruder cannot withdraw money at once.',
    access,
    body: z.strictObject({
      bank_code: text(32),
      account_number: text(34).meta({ description: 'Digits only, of a length that the bank uses.' }),
      account_holder: nameAtBank(100),
    }),
    answers: { 201: z.object({ message, data: BankAccountShape }) },
  },
  async ({ em, deps, caller, body: { bank_code: bankCode, ...details }, requestId }) => {
    const waitHours = deps.config.BANK_ACCOUNT_WAIT_HOURS;
    const added = await addBankAccount(em, deps.sealer, { caller, requestId, bankCode, details, waitHours });
    return created({ message: 'Bank account added', data: presentBankAccount(added) });
  },
);

routes.get(
  '/',
  {
    summary: 'List bank accounts',
    access,
    query: listQuery(),
    answers: { 200: z.object({ message, data: z.object({ items: z.array(BankAccountShape), ...pageFields }) }) },
  },
  async ({ em, deps, caller, query }) => {
    const { accounts, ...listed } = await listBankAccounts(em, deps.sealer, { caller, ...query });
    return {
      message: 'Bank accounts found',
      data: { items: accounts.map(presentBankAccount), ...presentPage(query, listed) },
    };
  },
);

routes.delete(
  '/:id',
  {
    summary: 'Delete a bank account',
    description: 'It can no longer receive withdrawals.',
    access,
    params: z.object({ id: uuid() }),
    answers: { 200: z.object({ message }) },
    refusals: [404],
  },
  async ({ em, caller, params: { id }, requestId }) => {
    await deleteBankAccount(em, { caller, requestId, id });
    return { message: 'Bank account deleted' };
  },
);

export const bankAccountsRoutes = routes;
