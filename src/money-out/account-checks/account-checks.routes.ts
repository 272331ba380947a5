import { z } from 'zod';
import { partnerAnswer } from '../../partners/partner-answer.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { Gateways } from '../../platform/gateway/gateway.ts';
import { partner } from '../../platform/http/access.ts';
import { nameAtBank, text, timestamp, uuid } from '../../platform/http/fields.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { accountCheckStatuses, mostChecksOfAccount, mostChecksOfDay, nameMatches } from './account-check.ts';
import { checkBankAccount } from './check-bank-account.ts';

interface Ports {
  sealer: Sealer;
  gateways: Gateways;
}

const routes = createRouteGroup<Ports>({ prefix: '/v1/partners/bank-account-checks', tag: 'Partner API' });

const AccountCheckShape = z
  .object({
    id: uuid().meta({ description: 'The id of the result, while it is stored.' }),
    status: z.enum(accountCheckStatuses).meta({
      description:
        '`valid`: the account exists. `invalid`: the bank has no such account. `unknown`: the bank did not ' +
        'respond within a few seconds; retry later.',
    }),
    account_holder: z.string().nullable().meta({
      description: 'The name on record at the bank if `name_match` is `match` or `partial`; otherwise null.',
    }),
    name_match: z
      .enum(nameMatches)
      .nullable()
      .meta({
        description:
          "How `name` compares with the bank's: `match` for the same words in any order, ignoring case and punctuation, " +
          "`partial` if at least half of its words of four or more letters appear in the bank's name. Null " +
          'without `name`, or if the holder is unknown.',
      }),
    checked_at: timestamp().meta({ description: 'When the provider was asked; results are cached for a day.' }),
  })
  .meta({ id: 'BankAccountCheck' });

routes.post(
  '/',
  {
    summary: 'Check who holds a bank account',
    description:
      'Moves no money. The result is cached for a day, and checks of the same account return it. At most ' +
      `${mostChecksOfDay.toLocaleString('en')} checks in 24 hours, ${mostChecksOfAccount} of them of the ` +
      "same account: beyond that REQUEST_RATE_LIMITED. The holder's name is returned only to callers who " +
      'know at least part of it.',
    access: partner('request-payout'),
    body: z.strictObject({
      bank_code: text(32).meta({ description: 'A `bank_code` of `GET /v1/partners/channels`.', examples: ['BCA'] }),
      bank_account_number: text(34).meta({ description: 'The account to look up.', examples: ['1234567890'] }),
      name: nameAtBank(100)
        .optional()
        .meta({ description: 'The expected holder.', examples: ['Siti Rahayu'] }),
    }),
    answers: { 200: partnerAnswer(AccountCheckShape) },
  },
  async ({ em, deps, caller, body }) => {
    const check = await checkBankAccount(em, deps, { partnerId: caller.partnerId, body });
    return {
      id: check.id,
      status: check.status,
      account_holder: check.accountHolder,
      name_match: check.nameMatch,
      checked_at: check.checkedAt.toISOString(),
    };
  },
);

export const accountChecksRoutes = routes;
