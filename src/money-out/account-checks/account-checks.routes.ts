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
    id: uuid().meta({ description: 'Names the result, as long as it is kept.' }),
    status: z.enum(accountCheckStatuses).meta({
      description:
        '`valid`: the account exists. `invalid`: the bank has no such account. `unknown`: nobody has said within a few ' +
        'seconds; ask again later.',
    }),
    account_holder: z.string().nullable().meta({
      description: 'The name as the bank has it, where `name_match` is `match` or `partial`; otherwise null.',
    }),
    name_match: z
      .enum(nameMatches)
      .nullable()
      .meta({
        description:
          "How `name` agrees with the bank's: `match` for the same words, in any order and however written, `partial` " +
          "when at least half of its words of four letters or more are the bank's. Null without `name`, and where no " +
          'holder is known.',
      }),
    checked_at: timestamp().meta({ description: 'When the provider was asked: a result is kept for a day.' }),
  })
  .meta({ id: 'BankAccountCheck' });

routes.post(
  '/',
  {
    summary: 'Check whose bank account it is',
    description:
      'Moves no money. The result is kept for a day; a check of the same account answers from it. At most ' +
      `${mostChecksOfDay.toLocaleString('en')} checks in 24 hours, ${mostChecksOfAccount} of them of one account: then ` +
      'REQUEST_RATE_LIMITED. The holder is told only to whoever knows the name, at least in part.',
    access: partner('request-payout'),
    body: z.strictObject({
      bank_code: text(32).meta({ description: 'A `bank_code` of `GET /v1/partners/channels`.', examples: ['BCA'] }),
      bank_account_number: text(34).meta({ description: 'The account to look up.', examples: ['1234567890'] }),
      name: nameAtBank(100)
        .optional()
        .meta({ description: 'Whose account it should be.', examples: ['Siti Rahayu'] }),
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
