import { createHmac } from 'node:crypto';
import { issueKey } from '../../src/partners/issue-key.ts';
import { partnerPermissions } from '../../src/partners/partner.ts';
import { must } from '../../src/shared/assert.ts';
import { westernIndonesiaDay } from '../../src/shared/clock.ts';
import { newId } from '../../src/shared/ids.ts';
import type { BenchStack } from '../stack.ts';
import { type GrownYear, id, ofYear, rare } from './grown.ts';
import type { Subjects } from './questions.ts';
import { sealShown } from './seal-shown.ts';

/** Creates the callers (the user and the partner with the most data, and the platform) and finds their resources. */
export async function findSubjects(stack: BenchStack, year: GrownYear, port: number): Promise<Subjects> {
  const em = stack.owner();
  const platformId = newId();
  await em.execute(
    `insert into users (id, user_type, role_id, status, password_sealed)
     select ?, 'platform', r.id, 'active', 'none'
     from roles r where r.name = 'platform_super_admin'`,
    [platformId],
  );
  const [ids] = await em.execute<
    Record<'user' | 'account' | 'partner' | 'cause' | 'circle' | 'batch' | 'early' | 'middle', string>[]
  >(
    ofYear(
      year,
      `select ${id('user', '1')} as user, ${id('account', '1')} as account, ${id('partner', '1')} as partner,
         ${id('cause', '1')} as cause, ${id('circle', '1')} as circle,
         ${id('payout batch', String(2 * rare))} as batch,
         to_char((timestamptz ':end' - interval '328 days') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as early,
         (timestamptz ':end' - interval '180 days')::text as middle`,
    ),
  );
  const { user, account, partner, cause, circle, batch, early, middle } = must(ids, 'a select has a row');
  const { tokens, sealer } = stack.deps;
  const day = westernIndonesiaDay(new Date(middle));
  const [payout] = await em.execute<{ id: string }[]>(
    `select id from payouts where partner_id = ? and kind = 'partner_payout' and created_at < ?
     order by created_at desc limit 1`,
    [partner, middle],
  );
  const payoutId = must(payout, 'the partner has payouts').id;
  const [refunded] = await em.execute<{ payment_id: string; id: string }[]>(
    `select r.payment_id, r.id from payment_refunds r join partner_payments p on p.id = r.payment_id
     where p.partner_id = ? and p.created_at < ? order by p.created_at desc limit 1`,
    [partner, middle],
  );
  const { payment_id: paymentId, id: refundId } = must(refunded, 'the partner has refunds');
  await sealShown(em, sealer, {
    userId: user,
    partnerId: partner,
    batchId: batch,
    early,
    payoutIds: [payoutId, refundId],
  });
  const { apiKey, signingSecret } = await issueKey(em, sealer, {
    caller: null,
    requestId: null,
    partnerId: partner,
    permissions: partnerPermissions,
  });
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'x-partner-signature': createHmac('sha256', signingSecret).update('').digest('hex'),
  };
  const sign = async (userId: string, userType: 'individual' | 'platform') =>
    (await tokens.sign({ userId, userType, organizationId: null })).token;
  return {
    platform: await sign(platformId, 'platform'),
    person: { token: await sign(user, 'individual'), accountId: account },
    partner: { id: partner, get: (path) => fetch(`http://127.0.0.1:${port}/v1/partners${path}`, { headers }) },
    causeId: cause,
    circleId: circle,
    batchId: batch,
    early,
    day,
    paymentId,
    payoutId,
    orders: await em.execute(
      `select id, provider_payment_method_id as "methodId" from payment_orders where status = 'WAITING_PAYMENT'`,
    ),
    records: await em.execute(
      `select * from (
         select provider_payment_id as "entryId", 'payment' as kind, provider_payment_id as "providerId", reference,
           amount::text as amount, 'succeeded' as status, received_at as at from receipts
         union all
         select provider_transfer_id, 'transfer', provider_transfer_id, p.id::text, net_amount::text,
           case p.status when 'reversed' then 'reversed' else 'succeeded' end, sent_at
         from payouts p join payout_attempts a on a.payout_id = p.id) records
       where (at at time zone interval '7 hours')::date = ?::date order by at`,
      [day],
    ),
  };
}
